"""The vignetting that the optics predict, against closed forms and the simulator."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from simulated import rendered_light

from plenodepth.camera import ExitPupil, PlenopticCamera, predicted_center, preset
from plenodepth.camera.aperture.clipping import open_part, pupil_on_lens
from plenodepth.camera.presets import shrunk
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.raw.vignetting import model_white_image, nowhere_rising, predicted_vignetting
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import white_scene


@pytest.mark.parametrize("f_number", [2.8, 8.0])
def test_the_prediction_is_what_the_simulator_renders(f_number: float) -> None:
    camera = preset("r12-mini")
    camera = replace(camera, main_lens=replace(camera.main_lens, f_number=f_number))
    found = rendered_light(white_scene(camera), camera, RenderSettings(rays=64))[..., 0]
    squared, types = pixel_offsets(camera.micro_images, slice(0, 404), 560)
    expected = predicted_vignetting(camera).at(squared, types)
    inside = (types >= 0) & (squared < camera.micro_images.radius**2)
    center = found[(types >= 0) & (squared < 1)].mean()
    difference = found[inside] / center - expected[inside]
    assert abs(difference.mean()) < 0.005
    assert np.sqrt((difference**2).mean()) < 0.03


@pytest.mark.parametrize("f_number", [1.4, 2.8, 4.0, 5.6, 8.0])
@pytest.mark.parametrize("name", ["r12-es", "r12-c"])
def test_the_model_white_image_is_the_simulated_one_within_two_percent(name: str, f_number: float) -> None:
    camera = shrunk(preset(name), 12, 10)
    found = rendered_light(white_scene(camera), camera, RenderSettings(rays=128, f_number=f_number))[..., 0]
    model = model_white_image(camera, f_number)
    squared, types = pixel_offsets(camera.micro_images, slice(0, model.shape[0]), model.shape[1])
    known = types >= 0
    inside = known & (squared <= (0.9 * camera.micro_images.radius) ** 2)
    center = model[known & (squared < 1)].mean()
    difference = (found - model)[inside] / center
    assert np.sqrt((difference**2).mean()) < 0.02
    assert abs(difference.mean()) < 0.002
    assert (model[~known] == 0).all()


def test_a_white_image_through_a_distant_pupil_is_that_of_each_lens() -> None:
    camera = preset("r12-c")
    pupil = ExitPupil(12.0, 10.0)
    camera = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=pupil))
    indices = camera.micro_images.lattice.indices()
    model, middle = model_white_image(camera), predicted_center(*indices, camera)
    moved = middle - predicted_center(*indices, preset("r12-c"))
    assert 2 < np.linalg.norm(moved[5, 5]) < 5
    assert np.sign(moved[5, 5]).tolist() == [1, 1] or np.sign(moved[5, 5]).tolist() == [-1, -1]
    pixel = camera.sensor.pixel_size
    for k, l in [(5, 5), (170, 140), (88, 75)]:
        seen = pupil_on_lens(k, l, camera)
        near = np.rint(middle[l, k] + [3, -2]).astype(int)
        away = np.linalg.norm(near - middle[l, k])
        expected = open_part(seen.ratio, seen.radius, np.array(away * pixel), camera).area
        assert model[near[1], near[0]] == pytest.approx(float(expected), abs=0.01)


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


@pytest.mark.parametrize("count", [1, 2, 17, 60])
def test_nothing_rises_after_pooling_and_the_result_is_that_of_scipy(count: int) -> None:
    rng = np.random.default_rng(count)
    values = np.linspace(1, 0, count) + rng.normal(0, 0.2, count)
    weights = rng.integers(1, 50, count)
    found = nowhere_rising(values, weights)
    assert (np.diff(found) <= 0).all()
    assert np.allclose(found, isotonic_regression(values, weights=weights, increasing=False).x, rtol=1e-13)
