"""The vignetting that the optics predict, against closed forms and the simulator."""

from dataclasses import replace

import numpy as np
import pytest
from discs import common_part
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.raw.vignetting import common_area, predicted_vignetting
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.simulate import white_scene

SIZES = st.floats(0.01, 10)


@given(SIZES, SIZES, st.floats(0, 25))
def test_the_common_area_of_two_discs_is_that_of_the_closed_form(one: float, two: float, distance: float) -> None:
    area, _ = common_part(one, two, distance)
    assert common_area(one, two, distance) == pytest.approx(area[0], abs=1e-7)
    assert common_area(two, one, distance) == pytest.approx(common_area(one, two, distance), abs=1e-7)
    assert 0 <= common_area(one, two, distance) <= np.pi * min(one, two) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("f_number", [2.8, 8.0])
def test_the_prediction_is_what_the_simulator_renders(f_number: float) -> None:
    camera = preset("r12-mini")
    camera = replace(camera, main_lens=replace(camera.main_lens, f_number=f_number))
    found = render(camera, white_scene(camera), RenderSettings(rays=64)).light[..., 0]
    squared, types = pixel_offsets(camera.micro_images, slice(0, 404), 560)
    expected = predicted_vignetting(camera).at(squared, types)
    inside = (types >= 0) & (squared < camera.micro_images.radius**2)
    center = found[(types >= 0) & (squared < 1)].mean()
    difference = found[inside] / center - expected[inside]
    assert abs(difference.mean()) < 0.005
    assert np.sqrt((difference**2).mean()) < 0.03


def test_every_preset_has_a_vignetting_that_starts_at_one_and_falls() -> None:
    for name in ("r12-a", "r12-c", "r12-a-pinhole", "upc-s"):
        camera: PlenopticCamera = preset(name)
        table = predicted_vignetting(camera).table
        assert table.shape[0] == max(camera.type_count, 1)
        assert np.isfinite(table).all()
        assert table[:, 0].mean() == pytest.approx(1, abs=1e-6)
        assert (np.diff(table, axis=1) <= 1e-6).all()


def test_offsets_are_distances_to_the_nearest_centre() -> None:
    micro_images = preset("r12-mini").micro_images
    squared, types = pixel_offsets(micro_images, slice(100, 140), 560)
    v, u = np.indices(squared.shape)
    points = np.stack([u, v + 100], axis=-1)
    k, l = micro_images.owner(points)
    away = np.linalg.norm(points - micro_images.center(k, l), axis=-1)
    known = k >= 0
    assert np.allclose(np.sqrt(squared)[known], away[known], atol=1e-4)
    assert np.array_equal(types, np.where(known, micro_images.lens_type(k, l), -1))
