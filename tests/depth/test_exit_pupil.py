"""Depth through a main lens whose exit pupil does not stand in the thin lens, at f/4, without Γ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from planes import LUMINANCE

from plenodepth.camera import (
    ExitPupil,
    PlenopticCamera,
    aperture_diameter,
    fitted_to_lenses,
    lens_center,
    lens_distances,
    lenses_that_see,
    metric_from_virtual,
    preset,
    project,
)
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.raw.vignetting import model_white_image
from plenodepth.sim.kernels.camera_rays import CENTER_X, CENTER_Y, D
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import wall_scene

THIN = replace(shrunk(preset("r12-es"), 24, 20), depth_scale=None)
VIRTUAL_DEPTHS = (3.0, 8.0, 14.0)


def with_pupil(distance: float, offset: tuple[float, float] = (0.0, 0.0)) -> PlenopticCamera:
    """The camera with a pupil elsewhere that the micro-lenses see as wide as before."""
    main, lens = float(lens_distances(THIN).to_main_lens), THIN.main_lens
    assert lens.aperture_diameter is not None
    pupil = ExitPupil(distance, lens.aperture_diameter * (main - distance) / main, offset)
    return fitted_to_lenses(replace(THIN, main_lens=replace(lens, exit_pupil=pupil)))


def through_pupil(scene: Scene, camera: PlenopticCamera) -> RaySetup:
    """Rays that meet their stop in the exit pupil: at P from the micro-lenses, about the pupil's middle."""
    setup, pupil = ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length)), camera.main_lens.pupil_center
    center = lens_center(*(index.ravel() for index in camera.micro_images.lattice.indices()), camera)
    lens = setup.lens.copy()
    lens[:, [CENTER_X, CENTER_Y]] = center[:, :2] - pupil[:2]
    lens[:, D] = pupil[2] - center[:, 2]
    return replace(setup, lens=lens, aperture_radius=aperture_diameter(camera) / 2)


@cache
def wall(camera: PlenopticCamera, virtual_depth: float) -> tuple[float, RawImage]:
    """A wall at a virtual depth: its distance, mm, and its image, without vignetting."""
    depth = float(metric_from_virtual(virtual_depth, camera))
    scene = wall_scene(depth, 3, camera)
    settings = RenderSettings(rays=64, vignetting=False, seed=4)
    gray = (render(scene, camera, settings, setup=through_pupil(scene, camera)).light @ LUMINANCE).astype(np.float32)
    return depth, RawImage(gray, None, noise_level(gray, camera), Devignetting.NONE)


def relative_error(image: RawImage, camera: PlenopticCamera, depth: float) -> float:
    found = estimate_virtual_depth(image, camera, DepthSettings(aperture_model="per_pixel"))
    return float(np.nanmedian(metric_depth_map(found, camera).depth) / depth - 1)


@pytest.mark.parametrize(
    "camera", [with_pupil(-15.0), with_pupil(20.0), with_pupil(20.0, (0.8, -0.6))], ids=["before", "behind", "aside"]
)
def test_depth_is_that_of_the_scene_wherever_the_pupil_stands(camera: PlenopticCamera) -> None:
    for virtual_depth in VIRTUAL_DEPTHS:
        depth, image = wall(camera, virtual_depth)
        assert abs(relative_error(image, camera, depth)) < 0.003


@pytest.mark.parametrize(("distance", "wrong"), [(-15.0, -0.017), (20.0, 0.048)])
def test_a_thin_lens_in_its_place_is_as_wrong_as_its_baselines(distance: float, wrong: float) -> None:
    """λ = D/(D + d) for centres that spread as (P + d)/P."""
    camera = with_pupil(distance)
    depth, image = wall(camera, 14.0)
    thin = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=None))
    assert relative_error(image, thin, depth) == pytest.approx(wrong, abs=0.005)


def test_a_pupil_in_the_thin_lens_and_lenses_that_touch_change_no_byte() -> None:
    lens, lenses = THIN.main_lens, THIN.micro_lenses
    pupil = ExitPupil(0.0, lens.aperture_diameter)
    same = fitted_to_lenses(
        replace(THIN, main_lens=replace(lens, exit_pupil=pupil), micro_lenses=replace(lenses, clear_aperture=1.0))
    )
    _, image = wall(THIN, 8.0)
    settings = DepthSettings(aperture_model="per_pixel")
    maps = [estimate_virtual_depth(image, camera, settings) for camera in (THIN, same)]
    assert maps[0].virtual_depth.tobytes() == maps[1].virtual_depth.tobytes()
    assert maps[0].sigma.tobytes() == maps[1].sigma.tobytes()
    assert model_white_image(THIN).tobytes() == model_white_image(same).tobytes()
    points = np.random.default_rng(0).uniform([-8, -6, 500], [8, 6, 1500], (50, 3))
    seen = lenses_that_see(points, THIN)
    found = [project(points[seen.point], seen.k, seen.l, camera, apparent=True) for camera in (THIN, same)]
    assert found[0].uv.tobytes() == found[1].uv.tobytes()
    assert found[0].rho.tobytes() == found[1].rho.tobytes()
