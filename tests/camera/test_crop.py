"""A part of a camera's frame is a camera whose lenses, axis and colours are those of the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, rearranged
from matching import grid_only

from plenodepth.camera import (
    PlenopticCamera,
    cropped_camera,
    lens_center,
    lens_distances,
    predicted_center,
    preset,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement

CAMERAS = {
    "rows": preset("r12-mini"),
    "columns": rearranged(Arrangement.HEXAGONAL_COLUMNS, 20, 24),
    "square": rearranged(Arrangement.ORTHOGONAL, 22, 20),
    "odd parity": rearranged(Arrangement.HEXAGONAL_ROWS, 22, 21, 1),
    "keplerian": keplerian(),
}


@pytest.mark.parametrize("corner", [(0, 0), (31, 17), (100, 83), (57, 140)])
@pytest.mark.parametrize("name", CAMERAS)
def test_every_lens_of_the_part_is_where_it_is_in_the_whole(name: str, corner: tuple[int, int]) -> None:
    whole = CAMERAS[name]
    part = cropped_camera(whole, corner, (300, 220))
    k, l = part.micro_images.lattice.indices()
    place = part.micro_images.center(k, l) + corner
    own_k, own_l = whole.micro_images.lattice.nearest(whole.micro_images.image_from_lattice.inverse()(place))
    assert np.abs(whole.micro_images.center(own_k, own_l) - place).max() < 1e-9  # px
    assert np.array_equal(whole.micro_images.lens_type(own_k, own_l), part.micro_images.lens_type(k, l))
    assert np.abs(lens_center(own_k, own_l, whole) - lens_center(k, l, part)).max() < 1e-12  # mm
    assert np.abs(predicted_center(own_k, own_l, whole) - corner - predicted_center(k, l, part)).max() < 1e-9
    assert part.sensor.principal_point + corner == pytest.approx(whole.sensor.principal_point)
    assert lens_distances(part, k, l).to_sensor == pytest.approx(lens_distances(whole, own_k, own_l).to_sensor)


def test_a_part_has_all_micro_images_that_are_seen_in_it() -> None:
    grid = cropped_camera(CAMERAS["rows"], (57, 41), (300, 220)).micro_images
    pixels = np.moveaxis(np.mgrid[:220, :300], 0, -1)[..., ::-1]
    nearest = grid.center(*grid.lattice.nearest(grid.image_from_lattice.inverse()(pixels)))
    in_a_disc = np.linalg.norm(pixels - nearest, axis=-1) <= grid.radius
    assert (grid.owner(pixels)[0] >= 0)[in_a_disc].all()


@pytest.mark.parametrize(
    ("corner", "pattern"), [((2, 4), "GRBG"), ((3, 4), "RGGB"), ((2, 5), "BGGR"), ((1, 1), "GBRG")]
)
def test_the_colour_pattern_begins_where_the_part_does(corner: tuple[int, int], pattern: str) -> None:
    camera = CAMERAS["rows"]
    mosaic = replace(camera, sensor=replace(camera.sensor, bayer="GRBG"))
    assert cropped_camera(mosaic, corner, (200, 200)).sensor.bayer == pattern


def test_a_grid_without_optics_is_cropped_alike() -> None:
    whole = CAMERAS["rows"]
    assert isinstance(whole, PlenopticCamera)
    part, grid = (cropped_camera(one, (57, 41), (300, 220)) for one in (whole, grid_only(whole)))
    k, l = part.micro_images.lattice.indices()
    assert np.array_equal(part.micro_images.center(k, l), grid.micro_images.center(k, l))
    assert np.array_equal(part.micro_images.type_pattern, grid.micro_images.type_pattern)


@pytest.mark.parametrize("corner", [(-1, 0), (0, -3), (300, 0), (0, 200)])
def test_a_part_beyond_the_frame_is_refused(corner: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="are not all in the camera's"):
        cropped_camera(CAMERAS["rows"], corner, (300, 220))
