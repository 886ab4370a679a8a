"""Meshes from files: what is kept, and what is refused."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
import trimesh
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io.srgb import srgb_decoded
from plenodepth.sim.packed_scene import pack_scene
from plenodepth.sim.scenes.meshes import SUFFIXES, load_mesh
from plenodepth.sim.scenes.scene import ImageTexture, Material, Mesh, Scene
from plenodepth.sim.scenes.textures import noise_image, solid_noise

FORMATS = [suffix[1:] for suffix in SUFFIXES]
AHEAD = Pose(np.eye(3), np.array([0, 0, 500.0]))
RED, BLUE = (255, 0, 0), (0, 0, 255)


def written(mesh: trimesh.Trimesh | trimesh.Scene, path: Path) -> Path:
    mesh.export(str(path))
    return path


def textured_box(color: tuple[int, int, int], size: float = 10.0) -> trimesh.Trimesh:
    box = trimesh.creation.box((size, size, size))
    image = Image.new("RGB", (8, 8), color)
    uv = np.random.default_rng(0).random((len(box.vertices), 2))
    box.visual = trimesh.visual.TextureVisuals(uv=uv, material=trimesh.visual.material.SimpleMaterial(image=image))
    return box


def corner_colors(mesh: Mesh) -> NDArray[np.float32]:
    """Colour of every triangle corner as the renderer would look it up, (f, 3, 3)."""
    assert mesh.texture_coordinates is not None
    assert isinstance(mesh.material.texture, ImageTexture)
    pixels = mesh.material.texture.pixels
    height, width = pixels.shape[:2]
    x = mesh.texture_coordinates[..., 0] * width - 0.5
    y = (1 - mesh.texture_coordinates[..., 1]) * height - 0.5
    colors = pixels[np.clip(np.rint(y), 0, height - 1).astype(int), np.clip(np.rint(x), 0, width - 1).astype(int)]
    return np.asarray(colors, np.float32)


# --- what is kept -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_mesh_comes_back_from_every_format(tmp_path: Path, suffix: str) -> None:
    ball = trimesh.creation.icosphere(2, 20)
    mesh = load_mesh(written(ball, tmp_path / f"a.{suffix}"), AHEAD, name="ball")
    assert len(mesh.faces) == len(ball.faces)
    assert mesh.name == "ball"
    np.testing.assert_allclose(
        np.sort(mesh.vertices[mesh.faces].mean(axis=1), axis=0), np.sort(ball.triangles_center, axis=0), atol=1e-4
    )


@pytest.mark.parametrize("suffix", FORMATS)
def test_scale_gives_millimetres(tmp_path: Path, suffix: str) -> None:
    path = written(trimesh.creation.box((1, 2, 3)), tmp_path / f"a.{suffix}")
    assert np.ptp(load_mesh(path, AHEAD, scale=25.4).vertices, axis=0) == pytest.approx([25.4, 50.8, 76.2])


def test_all_bodies_of_a_file_stand_where_the_file_puts_them(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    box = trimesh.creation.box((2, 2, 2))
    for shift in (0.0, 10.0):
        scene.add_geometry(box, transform=trimesh.transformations.translation_matrix([shift, 0, 0]))
    mesh = load_mesh(written(scene, tmp_path / "two.glb"), AHEAD)
    assert len(mesh.faces) == 24
    assert (mesh.vertices[:, 0].min(), mesh.vertices[:, 0].max()) == pytest.approx((-1, 11))


@pytest.mark.parametrize("suffix", ["ply", "glb", "obj"])
def test_colors_of_vertices_are_kept(tmp_path: Path, suffix: str) -> None:
    ball = trimesh.creation.icosphere(1)
    levels = np.random.default_rng(1).integers(0, 255, (len(ball.vertices), 4), np.uint8)
    levels[:, 3] = 255
    ball.visual = trimesh.visual.ColorVisuals(ball, vertex_colors=levels)
    mesh = load_mesh(written(ball, tmp_path / f"a.{suffix}"), AHEAD)
    assert mesh.vertex_colors is not None
    np.testing.assert_allclose(mesh.vertex_colors, srgb_decoded(levels[:, :3]), atol=0.01)


def test_colors_of_faces_are_kept(tmp_path: Path) -> None:
    box = trimesh.creation.box((2, 2, 2))
    levels = np.random.default_rng(1).integers(0, 255, (12, 4), np.uint8)
    box.visual = trimesh.visual.ColorVisuals(box, face_colors=levels)
    mesh = load_mesh(written(box, tmp_path / "a.ply"), AHEAD)
    assert mesh.vertex_colors is not None
    expected = np.repeat(srgb_decoded(levels[:, None, :3]), 3, axis=1)
    np.testing.assert_allclose(mesh.vertex_colors[mesh.faces], expected, atol=1e-6)


@pytest.mark.parametrize("suffix", ["obj", "glb"])
def test_the_picture_of_a_file_becomes_its_texture(tmp_path: Path, suffix: str) -> None:
    box = textured_box(RED)
    levels = np.random.default_rng(2).integers(0, 255, (32, 32, 3), np.uint8)
    box.visual.material.image = Image.fromarray(levels)
    mesh = load_mesh(written(box, tmp_path / f"a.{suffix}"), AHEAD)
    uv = box.visual.uv[box.faces]
    rows, columns = np.rint((1 - uv[..., 1]) * 32 - 0.5).astype(int), np.rint(uv[..., 0] * 32 - 0.5).astype(int)
    expected = srgb_decoded(levels)[np.clip(rows, 0, 31), np.clip(columns, 0, 31)]
    np.testing.assert_allclose(corner_colors(mesh), expected, atol=1e-6)


def test_each_body_keeps_its_own_picture(tmp_path: Path) -> None:
    scene = trimesh.Scene([textured_box(RED), textured_box(BLUE, 20), trimesh.creation.box((30, 30, 30))])
    mesh = load_mesh(written(scene, tmp_path / "three.glb"), AHEAD)
    for half_size, color in {5: (1, 0, 0), 10: (0, 0, 1), 15: (1, 1, 1)}.items():
        body = np.isclose(np.abs(mesh.vertices[mesh.faces]).max(axis=(1, 2)), half_size)
        colors = corner_colors(mesh)[body]
        assert colors.shape == (12, 3, 3)
        np.testing.assert_allclose(colors, np.broadcast_to(color, colors.shape))


def test_a_picture_that_repeats_is_looked_up_within(tmp_path: Path) -> None:
    box = textured_box(BLUE)
    box.visual.uv = box.visual.uv + 7
    mesh = load_mesh(written(box, tmp_path / "a.glb"), AHEAD)
    assert mesh.texture_coordinates is not None
    assert mesh.texture_coordinates.min() >= 0
    assert mesh.texture_coordinates.max() <= 1


def test_a_texture_of_the_material_takes_the_pictures_place(tmp_path: Path) -> None:
    path = written(textured_box(RED), tmp_path / "a.glb")
    for texture in (solid_noise(10, size=8), noise_image(8, 8, cell=4)):
        assert load_mesh(path, AHEAD, Material(texture=texture)).material.texture is texture


# --- what is refused --------------------------------------------------------------------------------------------


def refusal(path: Path, **options: float) -> InputError:
    with pytest.raises(InputError) as caught:
        load_mesh(path, AHEAD, **options)  # type: ignore[arg-type]
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("content", ["", "hello", "v 0 0 0\nf 1 2 3\n", "v 0 0 0\nv 1 0 0\n"])
def test_a_file_that_holds_no_mesh_is_refused(tmp_path: Path, suffix: str, content: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_text(content)
    assert refusal(path).file == str(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.obj").message == "does not exist"


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    assert "suffix" in refusal(tmp_path / "a.blend").message


def test_points_without_triangles_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ply"
    trimesh.PointCloud(np.zeros((4, 3))).export(str(path))
    assert refusal(path).message == "holds no triangle"


@pytest.mark.parametrize("word", ["nan", "inf"])
def test_a_vertex_that_is_not_finite_is_refused_by_its_number(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a.obj"
    path.write_text(f"v 0 0 0\nv 1 {word} 0\nv 0 1 0\nf 1 2 3\n")
    assert refusal(path).message == "vertex 2 has a coordinate that is not finite"


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_a_scale_must_be_positive(tmp_path: Path, scale: float) -> None:
    path = written(trimesh.creation.box((1, 2, 3)), tmp_path / "a.stl")
    assert refusal(path, scale=scale).field == "mesh.scale"


def test_a_picture_needs_texture_coordinates(tmp_path: Path) -> None:
    path = written(trimesh.creation.box((1, 2, 3)), tmp_path / "a.stl")
    with pytest.raises(InputError, match="no texture coordinates"):
        load_mesh(path, AHEAD, Material(texture=noise_image(8, 8, cell=4)))


def test_degenerate_triangles_are_left_out_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 9 0 0\nv 0 9 0\nv 4 0 0\nf 1 2 3\nf 1 4 2\nf 1 1 2\n")
    scene = Scene((load_mesh(path, AHEAD, name="sheet"),))
    with caplog.at_level(logging.WARNING):
        flat = pack_scene(scene)
    assert len(flat.triangles.owner) == 1
    assert "sheet: 2 degenerate triangles" in caplog.text


WHOLE = {
    suffix: trimesh.creation.box((1, 2, 3)).export(file_type=suffix if suffix != "stl" else "stl_ascii")
    for suffix in FORMATS
}


@pytest.mark.parametrize("suffix", FORMATS)
@given(data=st.data())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_damaged_mesh_is_read_or_refused_in_one_line(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    whole = WHOLE[suffix]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data.draw(damaged(whole.encode() if isinstance(whole, str) else whole)))
    try:
        mesh = load_mesh(path, AHEAD)
    except InputError as error:
        message = str(error)
    else:
        assert np.isfinite(mesh.vertices).all()
        assert mesh.faces.max() < len(mesh.vertices)
        return
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
