"""The vendor's grid as a camera: where its micro-images are, and which lens type stands behind each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vendor_grid import TYPES, grid_xml

from plenodepth.camera import GridCamera, load_camera
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement

SIZE = (640, 480)
ROTATIONS = {
    "rows across": (0.0, Arrangement.HEXAGONAL_ROWS),
    "rows across, turned": (2e-3, Arrangement.HEXAGONAL_ROWS),
    "rows at 60°": (np.pi / 3 - 1e-3, Arrangement.HEXAGONAL_ROWS),
    "rows upside down": (np.pi, Arrangement.HEXAGONAL_ROWS),
    "rows upright": (np.pi / 2, Arrangement.HEXAGONAL_COLUMNS),
    "rows upright, turned": (np.pi / 2 - 2e-3, Arrangement.HEXAGONAL_COLUMNS),
    "rows at -30°": (-np.pi / 6, Arrangement.HEXAGONAL_COLUMNS),
}


def loaded(tmp_path: Path, size: tuple[int, int] = SIZE, **grid: Any) -> GridCamera:
    path = tmp_path / "grid.xml"
    path.write_text(grid_xml(**grid))
    camera = load_camera(path, image_size=size)
    assert isinstance(camera, GridCamera)
    return camera


def steps_from_origin(camera: GridCamera, rotation: float, base_angle: float = np.pi / 3) -> np.ndarray[Any, Any]:
    """Micro-image centres in steps along the file's base vectors from the file's origin, (rows, columns, 2)."""
    base = 23.2 * np.array([[np.cos(a), np.sin(a)] for a in (rotation, rotation + base_angle)])
    middle = (np.array([camera.width, camera.height]) - 1) / 2
    y_up = (camera.micro_images.center(*camera.micro_images.lattice.indices()) - middle) * [1, -1] - [13.0, -20.5]
    return y_up @ np.linalg.inv(base)


@pytest.mark.parametrize(("rotation", "arrangement"), ROTATIONS.values(), ids=ROTATIONS.keys())
@pytest.mark.parametrize("base_angle", [np.pi / 3, 2 * np.pi / 3, -np.pi / 3])
def test_micro_images_lie_on_the_lattice_of_the_file(
    tmp_path: Path, rotation: float, arrangement: Arrangement, base_angle: float
) -> None:
    camera = loaded(tmp_path, rotation=rotation, base_angle=base_angle)
    assert camera.micro_images.lattice.arrangement is arrangement
    assert camera.micro_images.lattice.diameter == 23.2
    assert abs(camera.micro_images.image_from_lattice.angle) < 0.01
    steps = steps_from_origin(camera, rotation, base_angle)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)


@pytest.mark.parametrize(("rotation", "arrangement"), ROTATIONS.values(), ids=ROTATIONS.keys())
@pytest.mark.parametrize(
    "types", [TYPES, ((0, 0), (-1, 0), (1, 0)), ((1, 0), (0, 0), (-1, 0)), ((0, 0), (2, 1), (4, 2))]
)
def test_each_lens_type_has_the_sub_grid_of_its_offset(
    tmp_path: Path, rotation: float, arrangement: Arrangement, types: tuple[tuple[int, int], ...]
) -> None:
    camera = loaded(tmp_path, rotation=rotation, types=types)
    steps = np.rint(steps_from_origin(camera, rotation)).astype(int)
    k, l = camera.micro_images.lattice.indices()
    for lens_type, offset in enumerate(types):
        # A hexagonal lattice has one sub-lattice of its second neighbours: steps (a, b) with a − b a multiple of 3.
        from_offset = steps - offset
        expected = (from_offset[..., 0] - from_offset[..., 1]) % 3 == 0
        np.testing.assert_array_equal(camera.micro_images.lens_type(k, l) == lens_type, expected)


@pytest.mark.parametrize("base_angle", [np.pi / 3, 2 * np.pi / 3])
def test_neighbours_have_other_types_however_the_base_is_chosen(tmp_path: Path, base_angle: float) -> None:
    camera = loaded(tmp_path, rotation=0.0, base_angle=base_angle)
    k, l = (index[2:-2, 2:-2] for index in camera.micro_images.lattice.indices())
    here = camera.micro_images.center(k, l)
    for angle in np.arange(6) * np.pi / 3:
        there = camera.micro_images.owner(here + 23.2 * np.array([np.cos(angle), np.sin(angle)]))
        assert (camera.micro_images.lens_type(*there) != camera.micro_images.lens_type(k, l)).all()


@pytest.mark.parametrize("rotation", [0.0, np.pi / 2])
@pytest.mark.parametrize("size", [(640, 480), (481, 641), (2048, 2048), (100, 60)])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (13.0, -20.5), (-300.0, 900.0)])
def test_the_micro_images_cover_the_image(
    tmp_path: Path, rotation: float, size: tuple[int, int], offset: tuple[float, float]
) -> None:
    camera = loaded(tmp_path, size, rotation=rotation, offset=offset)
    width, height = size
    border = [(u, v) for u in (0, width // 2, width - 1) for v in (0, height // 2, height - 1)]
    k, l = camera.micro_images.owner(border)
    assert (k >= 0).all()
    assert (l >= 0).all()


def test_one_lens_type_is_the_same_everywhere(tmp_path: Path) -> None:
    camera = loaded(tmp_path, types=((0, 0),))
    assert camera.micro_images.type_count == 1
    np.testing.assert_array_equal(camera.virtual_depth_ranges, [[1, 3]])


def test_what_the_model_has_no_place_for_is_noted(tmp_path: Path) -> None:
    camera = loaded(tmp_path)
    np.testing.assert_array_equal(camera.virtual_depth_ranges, [[1, 3], [2, 4], [3, 5]])
    assert camera.provenance.source == "imported from the vendor's grid file grid"
    assert camera.provenance.notes == (
        "rim of a micro-image not to be used: 1 px",
        "total covering plane: virtual depth 2.2",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("constant", "polynomial", r"distortion\.function: is 'polynomial', only an undistorted grid and Brown's"),
        ('id="2"', 'id="3"', r"lens_type\.id: needs the ids 0, or 0, 1 and 2"),
        ("<rotation>1.57", "<rotation>1.27", "lens_base_x, lens_base_y: does not agree with diameter and rotation"),
        ("<diameter>23.2", "<diameter>1e-300", "diameter: is 1e-300 px in an image of 640 × 480 px"),
        ("<diameter>23.2", "<diameter>700", "diameter: is 700 px in an image"),
    ],
)
def test_a_grid_that_is_none_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = grid_xml()
    assert old in text
    (tmp_path / "grid.xml").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=rf"grid\.xml: {message}") as caught:
        load_camera(tmp_path / "grid.xml", image_size=SIZE)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("types", [((0, 0), (2, -1), (1, 1)), ((0, 0), (1, 0), (1, 0))])
def test_offsets_that_do_not_interleave_are_named(tmp_path: Path, types: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(InputError, match=r"grid\.xml: lens_type\.offset: the offsets do not make three"):
        loaded(tmp_path, types=types)


def test_parallel_base_vectors_span_no_lattice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"grid\.xml: lens_base_x, lens_base_y: do not span a lattice"):
        loaded(tmp_path, base_angle=0.0)


def brown(parameters: str, offset: str = "<offset><x>0</x><y>0</y></offset>") -> str:
    distortion = f"<function>Brown</function><parameter>{parameters}</parameter>{offset}"
    return grid_xml().replace("<function>constant</function>", distortion)


@pytest.mark.parametrize(
    ("parameters", "note"),
    [
        ("0 0 0", "distortion of the grid: Brown, all parameters 0, so there is none"),
        ("1e-10", "distortion of the grid: Brown, left out, since it moves micro-images by 0.0064 px at most"),
    ],
)
def test_a_distortion_that_moves_nothing_is_noted(tmp_path: Path, parameters: str, note: str) -> None:
    (tmp_path / "brown.xml").write_text(brown(parameters))
    camera = load_camera(tmp_path / "brown.xml", image_size=SIZE)
    assert camera.provenance.notes[-1] == note
    grid, plain = camera.micro_images, loaded(tmp_path).micro_images
    k, l = plain.lattice.indices()
    np.testing.assert_array_equal(grid.center(k, l), plain.center(k, l))


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        (brown("1e-9"), "0.0637"),  # 1e-9 · 399.3³
        (brown("-1e-9 0"), "0.0637"),
        (brown("1e-10", "<offset><x>-600</x><y>0</y></offset>"), "0.0858"),  # farther from the right corners
    ],
)
def test_a_distortion_that_moves_micro_images_is_refused(tmp_path: Path, text: str, moved: str) -> None:
    (tmp_path / "brown.xml").write_text(text)
    with pytest.raises(InputError, match=rf"brown\.xml: distortion\.parameter: moves micro-images by up to {moved} px"):
        load_camera(tmp_path / "brown.xml", image_size=SIZE)


def negated(text: str, base: str) -> str:
    """A grid file with the x and y of a base vector negated."""
    start, end = text.index(f"<{base}"), text.index(f"</{base}>")
    turned = re.sub(r">\s*([-+.\de]+)\s*<", lambda number: f">{-float(number[1])!r}<", text[start:end])
    return text[:start] + turned + text[end:]


def assert_same_types(path: Path, text: str, size: tuple[int, int], bases: tuple[str, ...]) -> None:
    """The lens types do not depend on which way the base vectors point that the file counts lenses by."""
    path.write_text(text)
    known = load_camera(path, image_size=size).micro_images
    for base in bases:
        text = negated(text, base)
    path.write_text(text)
    found = load_camera(path, image_size=size).micro_images
    k, l = known.lattice.indices()
    np.testing.assert_array_equal(found.center(k, l), known.center(k, l))
    np.testing.assert_array_equal(found.lens_type(k, l), known.lens_type(k, l))
    assert set(known.lens_type(k, l).ravel()) == {0, 1, 2}


NEGATED = [("lens_base_x",), ("lens_base_y",), ("lens_base_x", "lens_base_y")]


@pytest.mark.parametrize("bases", NEGATED)
@pytest.mark.parametrize(("rotation", "_"), ROTATIONS.values(), ids=ROTATIONS.keys())
@pytest.mark.parametrize("base_angle", [np.pi / 3, 2 * np.pi / 3])
def test_base_vectors_may_point_either_way(
    tmp_path: Path, bases: tuple[str, ...], rotation: float, _: Arrangement, base_angle: float
) -> None:
    assert_same_types(tmp_path / "grid.xml", grid_xml(rotation=rotation, base_angle=base_angle), SIZE, bases)


@pytest.mark.realdata
@pytest.mark.parametrize("bases", NEGATED)
def test_base_vectors_of_the_r5_may_point_either_way(tmp_path: Path, real_data: Path, bases: tuple[str, ...]) -> None:
    text = (real_data / "r5" / "fujita2-calib.xml").read_text()
    assert_same_types(tmp_path / "grid.xml", text, (2048, 2048), bases)


@pytest.mark.realdata
def test_the_grid_of_the_r5_lies_on_its_micro_images(real_data: Path) -> None:
    from matplotlib.image import imread

    image = imread(real_data / "r5" / "fujita2-frame0.png")[..., :3].mean(axis=-1)
    height, width = image.shape
    camera = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(width, height))
    assert camera.micro_images.lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS
    k, l = camera.micro_images.lattice.indices()
    centers = camera.micro_images.center(k, l).reshape(-1, 2)
    inside = ((centers > 12) & (centers < np.array([width, height]) - 12)).all(axis=1)

    def brightness(shift: tuple[float, float]) -> float:
        u, v = np.rint(centers[inside] + shift).astype(int).T
        return float(image[v, u].mean())

    # Micro-images are bright in their middle and dark in the corners where three of them meet.
    radius = camera.micro_images.radius
    corner = radius / np.cos(np.pi / 6)
    corners = [brightness((corner * np.cos(a), corner * np.sin(a))) for a in np.arange(6) * np.pi / 3]
    assert brightness((0, 0)) > 1.5 * max(corners)
