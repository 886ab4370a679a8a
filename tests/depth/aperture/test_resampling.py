"""The aperture's effect on depth, undone while matching (per pixel) or after it (by one slope)."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cameras import keplerian
from simulated import rendered_light

from plenodepth.camera import MainLens, PlenopticCamera, lens_distances, metric_from_virtual, preset
from plenodepth.camera.aperture.chief_ray import chief_ray_position
from plenodepth.camera.aperture.clipping import aperture_table
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.model import ExitPupil
from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.chief_rays import (
    Spots,
    UniformBlur,
    blurred,
    full_uniform_blur,
    spots_of,
    with_uniform_blur,
)
from plenodepth.depth.aperture.resampling import aperture_resampling, shared_planes
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import ApertureSetting, DepthSettings
from plenodepth.depth.tiles import empty_tiles, smoothing_of
from plenodepth.depth.views import plan_views
from plenodepth.evaluate import median_depth
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene

LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
CAMERA = replace(shrunk(preset("r12-es"), 24, 20), depth_scale=None)


def at(f_number: float) -> PlenopticCamera:
    return replace(CAMERA, main_lens=MainLens(CAMERA.main_lens.focal_length, f_number))


@cache
def wall(depth: float, f_number: float) -> RawImage:
    """A wall, its vignetting divided out exactly."""
    settings = RenderSettings(rays=128, f_number=f_number, vignetting=False, seed=int(depth))
    gray = (rendered_light(wall_scene(depth, 21, CAMERA), CAMERA, settings) @ LUMINANCE).astype(np.float32)
    return RawImage(gray, None, noise_level(gray, CAMERA), Devignetting.NONE)


@cache
def error(depth: float, f_number: float, model: ApertureSetting, *, refined: bool = False) -> float:
    """Relative error of the median depth."""
    camera = at(f_number)
    found = estimate_virtual_depth(wall(depth, f_number), camera, DepthSettings(aperture_model=model, refined=refined))
    return median_depth(metric_depth_map(found, camera)) / depth - 1


@pytest.mark.parametrize("depth", [600.0, 900.0, 1400.0])
def test_at_f_4_depth_is_right_without_a_depth_scale(depth: float) -> None:
    assert error(depth, 4.0, "off") > 0.07
    assert abs(error(depth, 4.0, "slope")) < 0.025
    assert abs(error(depth, 4.0, "per_pixel")) < 0.012


@pytest.mark.parametrize("f_number", [2.8, 5.6])
def test_it_follows_the_aperture(f_number: float) -> None:
    assert abs(error(900.0, f_number, "per_pixel")) < 0.015


def test_it_is_the_default() -> None:
    assert error(900.0, 4.0, "auto") == error(900.0, 4.0, "per_pixel")


def test_refined_too() -> None:
    assert error(900.0, 4.0, "off", refined=True) > 0.1
    assert abs(error(900.0, 4.0, "per_pixel", refined=True)) < 0.015


@pytest.mark.parametrize("virtual_depth", [-3.0, -8.0])
def test_of_a_keplerian_camera_too(virtual_depth: float) -> None:
    camera = replace(keplerian(), depth_scale=None)
    depth = float(metric_from_virtual(virtual_depth, camera))
    settings = RenderSettings(rays=128, vignetting=False, seed=7)
    gray = (rendered_light(wall_scene(depth, 21, camera), camera, settings) @ LUMINANCE).astype(np.float32)
    image = RawImage(gray, None, noise_level(gray, camera), Devignetting.NONE)

    def found(model: ApertureSetting) -> float:
        return float(
            np.nanmedian(estimate_virtual_depth(image, camera, DepthSettings(aperture_model=model)).virtual_depth)
        )

    assert abs(found("off") / virtual_depth - 1) > 0.045
    assert abs(found("slope") / virtual_depth - 1) < 0.025
    assert abs(found("per_pixel") / virtual_depth - 1) < 0.007


def test_a_wide_aperture_has_nothing_to_undo() -> None:
    camera, settings = at(1.4), DepthSettings(aperture_model="per_pixel")
    tiles, views = empty_tiles(camera, settings, "per_pixel"), plan_views(camera, settings, 0.0, "per_pixel")
    tables = aperture_resampling(tiles, views, camera, smoothing_of(settings, "per_pixel"))
    assert np.allclose(tables.pixel_from_ray, 1, atol=1e-3)
    assert np.allclose(tables.ray_from_pixel, 1, atol=1e-3)


def test_where_a_pixel_looks_and_back() -> None:
    settings = DepthSettings(aperture_model="per_pixel")
    camera = at(4.0)
    tiles, views = empty_tiles(camera, settings, "per_pixel"), plan_views(camera, settings, 0.0, "per_pixel")
    tables = aperture_resampling(tiles, views, camera, smoothing_of(settings, "per_pixel"))
    squared = np.arange(tables.pixel_from_ray.shape[2]) * tables.spacing
    x = np.sqrt(squared[1:])
    for i, h in np.ndindex(tables.pixel_from_ray.shape[:2]):
        looks = x * tables.ray_from_pixel[i, h, 1:]
        back = looks * np.interp(looks**2, squared, tables.pixel_from_ray[i, h])
        inside = x < tiles.radius
        assert np.abs(back - x)[inside].max() < 0.05


def test_with_an_exit_pupil_pixels_look_from_the_middle_of_the_light() -> None:
    """That is the micro-image's centre, also off the axis; `chief_ray_position` is the optics' own answer."""
    settings, u = DepthSettings(aperture_model="per_pixel"), 1 / 8
    whole = preset("r12-es")
    camera = fitted_to_lenses(replace(whole, main_lens=replace(whole.main_lens, exit_pupil=ExitPupil(6.0, 10.0))))
    moved = camera.micro_images.center(20, 15) - whole.micro_images.center(20, 15)
    assert np.linalg.norm(moved) > 1.5
    tiles, views = empty_tiles(camera, settings, "per_pixel"), plan_views(camera, settings, 0.0, "per_pixel")
    views = views._replace(inverse_depths=np.array([0.9 * u, u, 1.1 * u], np.float32))
    tables = aperture_resampling(tiles, views, camera, 0.0)
    k, l = 20, 15
    lens = l * views.columns + k
    offset = np.array([[-5.0, 1.0], [0.0, 4.0], [6.0, -2.0], [2.0, 2.0]])
    squared = np.sum(offset**2, axis=1)
    factor = np.interp(
        squared, np.arange(tables.ray_from_pixel.shape[2]) * tables.spacing, tables.ray_from_pixel[tables.kind[lens], 1]
    )
    shift = offset * (factor - 1)[:, None]
    pixels = camera.micro_images.center(k, l) + offset
    expected = chief_ray_position(pixels, k, l, 1 / u, camera) - pixels
    assert np.abs(expected).max() > 1
    # Where a texture is matched is not quite where a pixel looks on average.
    assert np.abs(shift - expected).max() < 0.35


def test_pixels_of_a_lens_in_focus_look_where_they_stand_but_for_their_own_vignetting() -> None:
    table = aperture_table(CAMERA)
    for i in range(3):
        shift = spots_of(table, i, float(table.focus[i]), 0.0).matched_position - table.radius
        assert np.abs(shift).max() <= 0.6 / 12 + 1e-9
        assert (shift <= 1e-9).all()  # towards the brighter middle


def traced_spots(offset: float, u: float, lens_type: int) -> tuple[float, float, float]:
    """Mean, variance and third central moment along the radius, px of X, of the rays that pass for one pixel."""
    main, sensor = (float(part) for part in lens_distances(CAMERA))
    pixel, focal = CAMERA.sensor.pixel_size, float(CAMERA.micro_lenses.focal_lengths[lens_type])
    half, aperture = CAMERA.micro_lenses.lens_diameter / 2, CAMERA.main_lens.focal_length / 4 / 2
    y = np.stack(np.meshgrid(*2 * [np.linspace(-half, half, 1201)]), axis=-1)
    # From the pixel through the lens, bent there, to the plane of the main lens.
    slope = (y - np.array([offset * pixel, 0])) / sensor - y / focal
    passes = (np.hypot(*np.moveaxis(y, -1, 0)) <= half) & (np.hypot(*np.moveaxis(y + main * slope, -1, 0)) <= aperture)
    seen = offset + y[passes][:, 0] / pixel * (u - (1 - sensor / focal))
    away = seen - seen.mean()
    return float(seen.mean()), float((away**2).mean()), float((away**3).mean())


@pytest.mark.parametrize("offset", [1.0, 3.0, 5.0, 8.0])
def test_spots_are_what_rays_pass(offset: float) -> None:
    table, u = aperture_table(at(4.0)), 1 / 9
    pixel = blurred(table.radius, Spots(*4 * [np.zeros_like(table.radius)]), 1 / 12)  # what `spots_of` adds by itself
    assert pixel.mean == pytest.approx(0, abs=1e-12)
    for i in range(3):
        spots = spots_of(table, i, u, 0.0)
        mean, variance, third = traced_spots(offset, u, i)
        # A pixel's own width and vignetting are small, and not in the rays through its middle.
        assert np.interp(offset, table.radius, spots.mean) == pytest.approx(mean, abs=0.06)
        assert np.interp(offset, table.radius, spots.along) == pytest.approx(variance, abs=0.1)
        assert np.interp(offset, table.radius, spots.third) == pytest.approx(third, abs=0.2)


def test_the_uniform_blur_makes_spots_as_wide_as_in_the_middle() -> None:
    table = aperture_table(at(4.0))
    spots = spots_of(table, 0, np.array([1 / 8]), 0.55)
    full = full_uniform_blur(table.radius, spots, 12.0)
    even = with_uniform_blur(table.radius, spots, UniformBlur(full.step, full.ends[0], full.blur[0]), np.ones(1), 1.5)
    inside = table.radius < 6
    before, after = (np.ptp(part[0][inside]) for part in (spots.along, even.along))
    assert before > 1.2
    assert after < 0.25 * before
    across = np.ptp(even.across[0][inside])
    assert across < 0.5 * np.ptp(spots.across[0][inside]) + 0.02


def test_a_blur_of_evenly_wide_spots_moves_and_skews_nothing() -> None:
    radius = np.linspace(0, 10, 201)
    spots = Spots(0.8 * radius, np.full(201, 2.0), np.full(201, 2.0), np.zeros(201))
    found = blurred(radius, spots, 0.5)
    inside = slice(0, 160)  # where there are pixels farther out
    assert found.mean[inside] == pytest.approx(spots.mean[inside], abs=1e-6)
    assert found.along[inside] == pytest.approx(2 + 0.5 * 0.64)
    assert found.across[inside] == pytest.approx(2 + 0.5 * 0.64)
    assert found.third[inside] == pytest.approx(0, abs=1e-6)


def test_hypotheses_share_the_plane_in_their_middle() -> None:
    assert shared_planes(8, 3).tolist() == [1, 1, 1, 4, 4, 4, 6, 6]
    assert shared_planes(3, 9).tolist() == [1, 1, 1]


def test_the_depth_scale_of_uncorrected_depths_is_not_applied_to_corrected_ones() -> None:
    scaled = replace(at(4.0), depth_scale=np.array([0.0, 0.5, 0.0]))
    found = estimate_virtual_depth(wall(900.0, 4.0), scaled, DepthSettings(aperture_model="per_pixel"))
    assert median_depth(metric_depth_map(found, scaled)) == pytest.approx(900.0, rel=0.02)
    on_top = replace(scaled, depth_scale_model="per_pixel")
    assert median_depth(metric_depth_map(found, on_top)) == pytest.approx(450.0, rel=0.02)
