"""Scene files: what they say, and what they may not say."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import trimesh
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from plenodepth.camera import preset
from plenodepth.errors import InputError
from plenodepth.io import parse_yaml, write_image, yaml_text
from plenodepth.sim.render import scene_depths
from plenodepth.sim.scenes.scene import Box, Checkerboard, ImageTexture, Mesh, Rectangle, Scene, SolidTexture, Sphere
from plenodepth.sim.scenes.scene_file import SCENE_VERSION_KEY, SIDE_LIMIT, load_scene, scene_from_content

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "scenes").glob("*.yaml"))

FULL: dict[str, Any] = {
    SCENE_VERSION_KEY: 1,
    "ambient": 0.3,
    "background": [0.1, 0.2, 0.3],
    "lights": [{"direction": [0, -1, 0], "intensity": 0.5}, {"position": [0, -100, 50]}],
    "objects": [
        {
            "kind": "rectangle",
            "name": "wall",
            "size": [80, 60],
            "position": [0, 0, 900],
            "rotation": [0, 20, 0],
            "texture": {"kind": "noise", "cell": 10, "octaves": 3, "seed": 1},
            "color": 0.5,
            "emits": True,
        },
        {"kind": "checkerboard", "columns": 4, "rows": 3, "square": 5, "margin": 2, "position": [1, 2, 600]},
        {"kind": "sphere", "radius": 20, "position": [0, 0, 800], "texture": {"kind": "solid", "period": 12}},
        {"kind": "box", "size": [10, 20, 30], "position": [9, 9, 700], "color": [1, 0, 0]},
        {"kind": "figurine", "shape": "vase", "height": 50, "detail": 1000, "position": [0, 0, 650]},
    ],
}


IDENTITY = np.eye(3).tolist()


def scene(content: dict[str, Any], folder: Path | str = ".") -> Scene:
    return scene_from_content(content, "s.yaml", folder)


def only(thing: dict[str, Any], folder: Path | str = ".") -> Any:
    (loaded,) = scene({SCENE_VERSION_KEY: 1, "objects": [thing]}, folder).objects
    return loaded


def changed(path: str, value: Any) -> dict[str, Any]:
    """`FULL` with another value at a dotted path; `...` removes it."""
    content = copy.deepcopy(FULL)
    *keys, last = (int(key) if key.isdigit() else key for key in path.split("."))
    at: Any = content
    for key in keys:
        at = at[key]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return content


def refusal(content: dict[str, Any], folder: Path | str = ".") -> InputError:
    with pytest.raises(InputError) as caught:
        scene(content, folder)
    assert caught.value.file == "s.yaml"
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


# --- what they say ----------------------------------------------------------------------------------------------


def test_every_kind_of_object_is_what_the_file_says() -> None:
    loaded = scene(FULL)
    wall, board, ball, box, vase = loaded.objects
    assert isinstance(wall, Rectangle)
    assert (wall.name, wall.width, wall.height) == ("wall", 80, 60)
    assert (wall.material.color, wall.material.emits) == ((0.5, 0.5, 0.5), True)
    assert isinstance(wall.material.texture, ImageTexture)
    assert isinstance(board, Checkerboard)
    assert (board.columns, board.rows, board.square, board.margin, board.emits) == (4, 3, 5, 2, True)
    assert isinstance(ball, Sphere)
    assert ball.radius == 20
    assert isinstance(ball.material.texture, SolidTexture)
    assert ball.material.texture.period == 12
    assert isinstance(box, Box)
    assert box.size.tolist() == [10, 20, 30]
    assert isinstance(vase, Mesh)
    assert vase.name == "vase"
    assert np.ptp(vase.vertices[:, 1]) == pytest.approx(50)
    assert (loaded.ambient, loaded.background) == (0.3, (0.1, 0.2, 0.3))
    assert [light.intensity for light in loaded.lights] == [0.5, 1]


def test_defaults_are_those_of_the_python_objects() -> None:
    plain = scene({SCENE_VERSION_KEY: 1, "objects": [{"kind": "sphere", "radius": 2, "position": [0, 0, 9]}]})
    same = Scene(plain.objects)
    assert (plain.ambient, plain.background, plain.lights) == (same.ambient, same.background, same.lights)


@given(angles=st.tuples(*[st.floats(-180, 180)] * 3))
@settings(max_examples=40, deadline=None)
def test_angles_are_degrees_about_x_then_the_new_y_then_the_new_z(angles: tuple[float, float, float]) -> None:
    thing = {"kind": "box", "size": [1, 2, 3], "position": [0, 0, 500]}
    matrix = Rotation.from_euler("XYZ", angles, degrees=True).as_matrix()
    by_angles, by_rows = only({**thing, "rotation": list(angles)}), only({**thing, "rotation_matrix": matrix.tolist()})
    np.testing.assert_allclose(by_angles.cam_from_object.rotation, matrix, atol=1e-12)
    np.testing.assert_allclose(by_rows.cam_from_object.rotation, matrix, atol=1e-12)


def test_a_board_is_placed_by_its_first_corner_or_by_its_middle() -> None:
    board = {"kind": "checkerboard", "columns": 9, "rows": 5, "square": 20, "rotation": [10, -16, 3]}
    by_corner, by_middle = only({**board, "position": [5, 6, 700]}), only({**board, "center": [5, 6, 700]})
    assert by_corner.cam_from_object(by_corner.corners())[0] == pytest.approx([5, 6, 700])
    assert by_middle.cam_from_object(by_middle.corners()).mean(axis=0) == pytest.approx([5, 6, 700])


def test_noise_is_fine_enough_for_its_finest_octave() -> None:
    wall = only({**FULL["objects"][0], "texture": {"kind": "noise", "cell": 10, "octaves": 3}})
    assert wall.material.texture.pixels.shape == (48, 64, 3)  # 2 texels for every 2.5 mm


def test_noise_on_a_huge_surface_is_bounded() -> None:
    wall = only({"kind": "rectangle", "size": [60_000, 30], "position": [0, 0, 900], "texture": {"kind": "noise"}})
    assert wall.material.texture.pixels.shape == (3, SIDE_LIMIT, 3)


def test_pictures_and_meshes_are_found_beside_the_file(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "wall.png"), np.full((4, 6, 3), 255, np.uint8))
    trimesh.creation.box((1, 1, 1)).export(str(tmp_path / "cube.ply"))
    content = copy.deepcopy(FULL)
    content["objects"][0]["texture"] = {"kind": "image", "file": "wall.png"}
    content["objects"].append({"kind": "mesh", "file": "cube.ply", "scale": 10, "position": [0, 0, 700]})
    (tmp_path / "scene.yaml").write_text(yaml_text(content))
    wall, *_, cube = load_scene(tmp_path / "scene.yaml").objects
    assert isinstance(wall, Rectangle)
    assert isinstance(wall.material.texture, ImageTexture)
    assert wall.material.texture.pixels.shape == (4, 6, 3)
    assert isinstance(cube, Mesh)
    assert np.ptp(cube.vertices, axis=0) == pytest.approx([10, 10, 10])


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(FULL))
    (tmp_path / "s.yaml").write_text(yaml_text(FULL))
    one, two = load_scene(tmp_path / "s.json"), load_scene(tmp_path / "s.yaml")
    assert one.depth_range() == two.depth_range()
    assert [thing.name for thing in one.objects] == [thing.name for thing in two.objects]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_load_and_suit_the_camera(path: Path) -> None:
    content = parse_yaml(path.read_text(encoding="utf-8"), path)
    for thing in content["objects"]:
        if thing["kind"] == "figurine":
            assert thing["detail"] >= 100_000
            thing["detail"] = 1000
    loaded = scene_from_content(content, path, path.parent)
    camera = preset("r12-e")
    scene_depths(loaded, camera.main_lens.focal_length)
    low, high = loaded.depth_range()
    assert low >= 500
    assert high <= 1600


def test_there_are_examples() -> None:
    assert {path.stem for path in EXAMPLES} >= {"plane", "boards", "shapes", "figurines"}


# --- what they may not say --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value", "field", "message"),
    [
        (SCENE_VERSION_KEY, ..., SCENE_VERSION_KEY, "is missing"),
        (SCENE_VERSION_KEY, 2, SCENE_VERSION_KEY, "is 2, this version"),
        ("colour", 1, "colour", "unknown key"),
        ("ambient", "dim", "ambient", "valid number"),
        ("ambient", True, "ambient", "is a boolean"),
        ("ambient", -1, "ambient", "greater than or equal to 0"),
        ("background", [0, 0], "background.2", "is missing"),
        ("lights.0.direction", [0, 0, 0], "lights.0", "is zero"),
        ("lights.0.direction", ..., "lights.0", "either a direction or a position"),
        ("lights.1.intensity", 0, "lights.1.intensity", "greater than 0"),
        ("objects", ..., "objects", "is missing"),
        ("objects", [], "objects", "holds no object"),
        ("objects", {}, "objects", "valid list"),
        ("objects.2", 5, "objects.2", "valid dictionary"),
        ("objects.2.kind", ..., "objects.2.kind", "is missing"),
        ("objects.2.kind", "cone", "objects.2.kind", "is 'cone', needs 'rectangle', 'sphere'"),
        ("objects.2.radius", ..., "objects.2.radius", "is missing"),
        ("objects.2.radius", -3, "objects.2.radius", "greater than 0"),
        ("objects.2.radius", float("inf"), "objects.2.radius", "finite"),
        ("objects.2.sphere", 1, "objects.2.sphere", "unknown key"),
        ("objects.2.position", [0, 0], "objects.2.position.2", "is missing"),
        ("objects.2.position", [0, 0, float("nan")], "objects.2.position.2", "finite"),
        ("objects.2.position", [0, 0, -800], "objects.2", "'sphere' is behind the camera"),
        ("objects.4.position", [0, 0, -800], "objects.4", "'vase' is behind the camera"),
        ("objects.2.emits", 1, "objects.2.emits", "valid boolean"),
        ("objects.2.texture.period", 0, "objects.2.texture.period", "greater than 0"),
        ("objects.2.texture.kind", "wood", "objects.2.texture.kind", "is 'wood', needs 'noise', 'image', 'solid'"),
        ("objects.2.texture.solid", 1, "objects.2.texture.solid", "unknown key"),
        ("objects.0.texture.octaves", 99, "objects.0.texture.octaves", "less than or equal to 16"),
        ("objects.0.texture.octaves", 2.5, "objects.0.texture.octaves", "valid integer"),
        ("objects.0.texture.dark", 0.1, "objects.0.texture.dark", "give both or neither"),
        ("objects.0.texture.cell", 1e-6, "objects.0.texture.cell", "at least 0.0133333 mm"),
        ("objects.0.texture", {"kind": "image", "file": "no.png"}, "objects.0.texture.file", "no.png: does not exist"),
        ("objects.0.texture", {"kind": "image", "file": "a\0b"}, "objects.0.texture.file", "not the name of a file"),
        ("objects.0.rotation_matrix", IDENTITY, "objects.0.rotation_matrix", "beside rotation"),
        ("objects.2.rotation_matrix", [[1, 0, 0], [0, 1, 0], [0, 0, 2]], "objects.2.rotation_matrix", "not a rotation"),
        ("objects.1.center", [0, 0, 1], "objects.1.position", "either position"),
        ("objects.1.position", ..., "objects.1.position", "either position"),
        ("objects.1.columns", 0, "objects.1.columns", "greater than or equal to 1"),
        ("objects.4.shape", "dog", "objects.4.shape", "is 'dog', needs one of cat"),
        ("objects.4.detail", 3, "objects.4.detail", "is 3, needs 500"),
        ("objects.4.texture", {"kind": "noise"}, "objects.4.texture.kind", "use kind: solid"),
        ("objects.4.texture", {"kind": "image", "file": "a.png"}, "objects.4.texture.kind", "use kind: solid"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_field(path: str, value: Any, field: str, message: str) -> None:
    error = refusal(changed(path, value))
    assert error.field == field
    assert message in str(error)


def test_a_misspelt_key_is_named_beside_the_missing_one() -> None:
    content = changed("objects.2.radius", ...)
    content["objects"][2]["radios"] = 20
    assert "objects.2.radius: is missing; objects.2.radios: unknown key" in str(refusal(content))


def test_a_missing_mesh_and_one_without_triangles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.obj").write_text("")
    for file, message in {"none.obj": "does not exist", "empty.obj": "holds no triangle", "a.doc": "suffix"}.items():
        thing = {"kind": "mesh", "file": file, "position": [0, 0, 500]}
        error = refusal({SCENE_VERSION_KEY: 1, "objects": [thing]}, tmp_path)
        assert error.field == "objects.0.file"
        assert f"{file}: " in error.message
        assert message in error.message


def test_a_mesh_without_texture_coordinates_takes_no_picture(tmp_path: Path) -> None:
    trimesh.creation.box((1, 1, 1)).export(str(tmp_path / "cube.stl"))
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((4, 4, 3), np.uint8))
    thing = {"kind": "mesh", "file": "cube.stl", "position": [0, 0, 500], "texture": {"kind": "image", "file": "a.png"}}
    assert "no texture coordinates" in str(refusal({SCENE_VERSION_KEY: 1, "objects": [thing]}, tmp_path))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.yaml", "plenodepth_scene: 1\nplenodepth_scene: 1\n", "is there twice"),
        ("s.yaml", "a: [", "is not valid YAML"),
        ("s.yaml", "- 1", "does not hold a mapping"),
        ("s.yaml", "", "does not hold a mapping"),
        ("s.json", '{"plenodepth_scene": 1, "plenodepth_scene": 1}', "is there twice"),
        ("s.json", "{", "is not valid JSON"),
        ("s.json", "[1]", "does not hold a mapping"),
        ("s.json", "[" * 100_000, "within each other"),
    ],
)
def test_a_text_that_is_no_scene_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_scene(tmp_path / name)
    assert caught.value.file == str(tmp_path / name)


def test_a_missing_scene_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        load_scene(tmp_path / "none.yaml")


SMALL = {**FULL, "objects": [*FULL["objects"][1:2], {**FULL["objects"][3], "rotation": [1, 2, 3]}]}


@given(data=damaged(yaml_text(SMALL).encode()))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(data)
    try:
        assert load_scene(path).objects
        return
    except InputError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1


def test_the_scene_in_the_documentation_loads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "simulator.md").read_text(encoding="utf-8")
    text = page.split("```yaml\n")[1].split("```")[0].replace("detail: 100000", "detail: 1000")
    (tmp_path / "scene.yaml").write_text(text, encoding="utf-8")
    write_image(np.full((8, 8, 3), 128, np.uint8), tmp_path / "label.png")
    trimesh.creation.box((10, 10, 10)).export(tmp_path / "part.stl")
    scene = load_scene(tmp_path / "scene.yaml")
    assert [type(thing).__name__ for thing in scene.objects] == [
        "Rectangle",
        "Checkerboard",
        "Sphere",
        "Box",
        "Mesh",
        "Mesh",
    ]
