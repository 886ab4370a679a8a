"""The lattice that an image shows tells whether it belongs to a camera, and a camera can be moved onto it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_raws import MINI, textured_light, white_light

from plenodepth.camera import GridCamera, PlenopticCamera, predicted_center, preset
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.raw.align import aligned_camera, moved, white_onto_grid
from plenodepth.raw.grid_check import LatticeOffset, check_grid, lattice_offset, lowest_frequencies, require_grid
from plenodepth.sim.sensor import SensorSettings, expose

SIZE = (1200, 900)


def grid_of(arrangement: Arrangement, pitch: float = 21.3, angle: float = 0.004) -> GridCamera:
    """A camera of a lattice with one lens type that covers SIZE."""
    one = Lattice(arrangement, 1, 1, np.full(2, pitch))
    step = (one.node(2, 2) - one.node(0, 0)) / 2
    columns, rows = (int(size / length) + 1 for size, length in zip(SIZE, step, strict=True))
    lattice = Lattice(arrangement, columns, rows, np.full(2, pitch))
    pattern = np.zeros((1, 1), np.int64)
    micro_images = replace(
        MINI.micro_images, lattice=lattice, image_from_lattice=PlanarPose(angle, np.array([5.0, 3.0]))
    )
    return GridCamera("grid", *SIZE, replace(micro_images, type_pattern=pattern), np.array([[2.0, 8.0]]))


def drawn(camera: GridCamera, offset: LatticeOffset | None = None, seed: int = 0) -> np.ndarray:
    """An image of round micro-images that each have a brightness of their own."""
    grid = camera.micro_images if offset is None else moved(camera, offset).micro_images
    v, u = np.mgrid[: SIZE[1], : SIZE[0]].astype(np.float64)
    k, l = grid.lattice.nearest(grid.image_from_lattice.inverse()(np.stack([u, v], axis=-1)))
    center = grid.center(k, l)
    distance = np.hypot(u - center[..., 0], v - center[..., 1]) / grid.radius
    brightness = np.random.default_rng(seed).uniform(0.3, 1, (l.max() + 9, k.max() + 9))[l, k]
    light = brightness * np.clip(4 * (0.95 - distance), 0, 1)
    return np.rint(4000 * light).astype(np.uint16)


def offset_of(shift: tuple[float, float], scale: float = 0.0, rotation: float = 0.0) -> LatticeOffset:
    return LatticeOffset(np.array(shift), np.array([[scale, -rotation], [rotation, scale]]), 0.0, 0.0, 0.0)


@pytest.mark.parametrize("arrangement", list(Arrangement))
@pytest.mark.parametrize(("shift", "scale", "rotation"), [((0, 0), 0, 0), ((3.3, -2.1), 0, 0), ((1, 0), 4e-3, 2e-3)])
def test_shift_pitch_and_rotation_are_found(
    arrangement: Arrangement, shift: tuple[float, float], scale: float, rotation: float
) -> None:
    camera = grid_of(arrangement)
    found = lattice_offset(drawn(camera, offset_of(shift, scale, rotation)), camera.micro_images)
    assert found is not None
    assert found.shift == pytest.approx(np.array(shift), abs=0.1)
    assert found.scale == pytest.approx(scale, abs=2e-4)
    assert found.rotation == pytest.approx(rotation, abs=2e-4)
    assert found.differs == (shift != (0, 0))


def test_the_third_frequency_of_a_hexagonal_lattice_is_the_sum_of_the_others_and_as_long() -> None:
    for arrangement in (Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS):
        first, second, third = lowest_frequencies(grid_of(arrangement).micro_images)
        assert third == pytest.approx(first + second)
        lengths = np.linalg.norm([first, second, third], axis=1)
        assert lengths == pytest.approx(np.full(3, 1 / (21.3 * np.sin(np.pi / 3))), rel=1e-9)


def test_a_scene_and_a_white_image_belong_to_their_camera() -> None:
    for light in (white_light(4.0), textured_light(4.0), textured_light(2.0)):
        for bayer in (None, "GBRG"):
            require_grid(check_grid(expose(light, SensorSettings(bayer=bayer)), MINI), MINI)


def test_another_pitch_is_refused_with_both_numbers() -> None:
    camera = grid_of(Arrangement.HEXAGONAL_ROWS)
    image = drawn(grid_of(Arrangement.HEXAGONAL_ROWS, pitch=17.0))
    with pytest.raises(InputError, match=r"every 17\.\d+ px at .*21\.30 px apart"):
        require_grid(check_grid(image, camera), camera)


def test_another_arrangement_is_refused() -> None:
    camera = grid_of(Arrangement.HEXAGONAL_ROWS)
    with pytest.raises(InputError, match="shows micro-images every"):
        require_grid(check_grid(drawn(grid_of(Arrangement.HEXAGONAL_COLUMNS)), camera), camera)


@pytest.mark.parametrize("value", [0, 255])
def test_an_image_without_a_lattice_says_nothing(value: int) -> None:
    camera = grid_of(Arrangement.ORTHOGONAL)
    found = check_grid(np.full((SIZE[1], SIZE[0]), value, np.uint8), camera)
    assert found.offset is None
    assert found.other is None


def test_an_aligned_grid_lies_on_the_image() -> None:
    camera = grid_of(Arrangement.HEXAGONAL_COLUMNS)
    image = drawn(camera, offset_of((2.5, -1.5), 1e-3, 1e-3))
    aligned, note = aligned_camera(image, camera)
    assert "moved onto the image" in note
    left = lattice_offset(image, aligned.micro_images)
    assert left is not None
    assert left.largest < 0.15


@pytest.mark.parametrize("rotation", [0.0, 0.004, -0.004])
def test_an_aligned_camera_predicts_its_micro_images_where_they_are(rotation: float) -> None:
    camera = preset("r12-a")
    made = moved(camera, offset_of((4.0, -3.0), 5e-4, rotation))
    assert isinstance(made, PlenopticCamera)
    k, l = np.array([0, 175, 0, 175, 88]), np.array([0, 0, 151, 151, 76])
    before = predicted_center(k, l, camera) - camera.micro_images.center(k, l)
    after = predicted_center(k, l, made) - made.micro_images.center(k, l)
    assert np.abs(after - before).max() < 0.05  # px


def test_too_large_a_scale_is_not_aligned() -> None:
    camera = grid_of(Arrangement.HEXAGONAL_ROWS)
    with pytest.raises(InputError, match=r"lattice|too much|does not repeat"):
        aligned_camera(drawn(grid_of(Arrangement.HEXAGONAL_ROWS, pitch=22.5)), camera)


@pytest.mark.parametrize("pattern", [None, "GRBG"])
def test_a_white_image_beside_the_grid_is_moved_onto_it(pattern: str | None) -> None:
    camera = grid_of(Arrangement.HEXAGONAL_ROWS)
    beside = drawn(camera, offset_of((0.8, -0.4)))
    onto, note = white_onto_grid(beside, camera, pattern)
    assert "moved onto the grid" in note
    left = lattice_offset(onto, camera.micro_images)
    assert left is not None
    assert left.largest < 0.15
    same, nothing = white_onto_grid(drawn(camera), camera, pattern)
    assert nothing == ""
    assert np.array_equal(same, drawn(camera))


def test_a_lattice_that_looks_sheared_is_not_believed_to_have_moved() -> None:
    """No lattice is ever sheared: the squares of a board before a real lens make it look so."""
    growth = np.array([[0.0002, -0.0004], [-0.0004, -0.0012]])
    found = LatticeOffset(np.zeros(2), growth, largest=2.6, error=0.4, growth_error=0.0002, sheared=2.0)
    assert not found.differs
    assert found._replace(sheared=0.3).differs
