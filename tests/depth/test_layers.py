"""The aperture's effect on depth, undone while matching (per pixel) or after it (by one slope)."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cameras import keplerian

from plenodepth.camera import GridCamera, MainLens, PlenopticCamera, preset
from plenodepth.camera.aperture import aperture_table
from plenodepth.camera.model import image_size
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_depth
from plenodepth.depth.layers import aperture_layers, chosen_model, lens_middles, looks_at
from plenodepth.depth.settings import ApertureModel, DepthSettings
from plenodepth.depth.tiles import empty_tiles
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.evaluate import median_depth
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.twins import wall_scene

LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
CAMERA = replace(shrunk(preset("r12-es"), 24, 20), depth_scale=None)


def at(f_number: float) -> PlenopticCamera:
    return replace(CAMERA, main_lens=MainLens(CAMERA.main_lens.focal_length, f_number))


@cache
def wall(depth: float, f_number: float) -> RawImage:
    """A wall, its vignetting divided out exactly."""
    settings = RenderSettings(rays=128, f_number=f_number, vignetting=False, seed=int(depth))
    gray = (render(CAMERA, wall_scene(CAMERA, depth, 21), settings).light @ LUMINANCE).astype(np.float32)
    return RawImage(gray, None, noise_level(gray, CAMERA), Devignetting.NONE)


def error(depth: float, f_number: float, model: ApertureModel, *, refined: bool = False) -> float:
    """Relative error of the median depth."""
    camera = at(f_number)
    found = estimate_depth(wall(depth, f_number), camera, DepthSettings(aperture_model=model, refined=refined))
    return median_depth(metric_depth_map(camera, found)) / depth - 1


@pytest.mark.parametrize("depth", [600.0, 900.0, 1400.0])
def test_at_f_4_depth_is_right_without_a_depth_scale(depth: float) -> None:
    assert error(depth, 4.0, "off") > 0.07
    assert abs(error(depth, 4.0, "slope")) < 0.025
    assert abs(error(depth, 4.0, "per_pixel")) < 0.012


@pytest.mark.parametrize("f_number", [2.8, 5.6])
def test_it_follows_the_aperture(f_number: float) -> None:
    assert abs(error(900.0, f_number, "per_pixel")) < 0.015


def test_refined_too() -> None:
    assert error(900.0, 4.0, "off", refined=True) > 0.1
    assert abs(error(900.0, 4.0, "per_pixel", refined=True)) < 0.015


def test_a_wide_aperture_has_nothing_to_undo() -> None:
    camera, settings = at(1.4), DepthSettings(aperture_model="per_pixel")
    tiles, views = empty_tiles(camera, settings, "per_pixel"), plan_views(camera, settings, 0.0, "per_pixel")
    layers = aperture_layers(tiles, views, camera)
    assert np.allclose(layers.inward, 1, atol=1e-3)
    assert np.allclose(layers.outward, 1, atol=1e-3)


def test_where_a_pixel_looks_and_back() -> None:
    settings = DepthSettings(aperture_model="per_pixel")
    camera = at(4.0)
    tiles, views = empty_tiles(camera, settings, "per_pixel"), plan_views(camera, settings, 0.0, "per_pixel")
    layers = aperture_layers(tiles, views, camera)
    squared = np.arange(layers.inward.shape[2]) * layers.spacing
    x = np.sqrt(squared[1:])
    for i, h in np.ndindex(layers.inward.shape[:2]):
        looks = x * layers.outward[i, h, 1:]
        back = looks * np.interp(looks**2, squared, layers.inward[i, h])
        inside = x < tiles.radius
        assert np.abs(back - x)[inside].max() < 0.05


def test_pixels_of_a_lens_in_focus_look_where_they_stand_but_for_their_own_vignetting() -> None:
    table, middles = aperture_table(CAMERA), lens_middles(CAMERA)
    for i in range(3):
        shift = looks_at(table, middles, i, float(table.focus[i])) - table.radius
        assert np.abs(shift).max() <= 0.6 / 12 + 1e-9
        assert (shift <= 1e-9).all()  # towards the brighter middle


def test_what_the_model_cannot_do_is_said() -> None:
    grid = GridCamera("grid", *image_size(CAMERA), CAMERA.micro_images, np.array([[1, 5], [2, 6], [3, 9.0]]))
    unknown = replace(CAMERA, main_lens=MainLens(50.0))
    for camera, match in ((grid, "f-number"), (unknown, "f-number"), (keplerian(), "Galilean")):
        with pytest.raises(InputError, match=match):
            chosen_model(camera, DepthSettings(aperture_model="per_pixel"))
    with pytest.raises(InputError, match="sweep only"):
        chosen_model(CAMERA, DepthSettings(aperture_model="per_pixel", search="golden"))


def test_the_depth_scale_of_uncorrected_depths_is_not_applied_to_corrected_ones() -> None:
    scaled = replace(at(4.0), depth_scale=np.array([0.0, 0.5, 0.0]))
    found = estimate_depth(wall(900.0, 4.0), scaled, DepthSettings(aperture_model="per_pixel"))
    assert median_depth(metric_depth_map(scaled, found)) == pytest.approx(900.0, rel=0.02)
    on_top = replace(scaled, depth_scale_model="per_pixel")
    assert median_depth(metric_depth_map(on_top, found)) == pytest.approx(450.0, rel=0.02)
