"""What keeps depth unbiased and its uncertainty true; the slow tests through cameras with little and much blur.

benchmarks/bench_depth.py does the same with more lenses and prints tables.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from planes import LUMINANCE, plane_image, small_camera
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.kernels.constants import UNUSABLE
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles
from plenodepth.metric import metric_depth_map
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.noise import noise_level
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene

CAMERA = small_camera()
COARSE, REFINED = DepthSettings(), DepthSettings(refined=True)
WALLS = {"r12-es": (500.0, 800.0, 1200.0, 1600.0, 1900.0), "r12-c": (650.0, 900.0, 1400.0, 2500.0)}  # mm


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of z, and errors over σ, of all that has a depth."""

    relative: np.ndarray
    sigmas: np.ndarray

    @property
    def median(self) -> float:
        return float(np.median(self.relative))

    @property
    def spread(self) -> float:
        return float(np.median(np.abs(self.relative - self.median)))


def errors(image: RawImage, camera: PlenopticCamera, depth: float, settings: DepthSettings) -> Errors:
    found = metric_depth_map(estimate_virtual_depth(image, camera, settings), camera)
    border = int(3 * camera.micro_images.lattice.diameter) if settings.refined else 3
    z, sigma = (part[border:-border, border:-border] for part in (found.depth, found.sigma))
    there = np.isfinite(z)
    return Errors(z[there] / depth - 1, (z[there] - depth) / sigma[there])


@pytest.mark.parametrize("equalisation", ["mixture", "s_transform"])
def test_blurring_leaves_a_ramp_as_it_is_up_to_the_rim(equalisation: str) -> None:
    """A blur that took whatever is there would look inwards at the rim, and so would depth."""
    ramp = np.add.outer(0.0007 * np.arange(404), 0.001 * np.arange(560)).astype(np.float32)
    settings = replace(COARSE, equalisation=equalisation)  # type: ignore[arg-type]
    tiles = cut_tiles(ramp, CAMERA, settings)
    used = tiles.gray[: len(tiles.origin) * tiles.side**2].reshape(-1, tiles.side, tiles.side)
    step = np.arange(tiles.side)
    expected = ramp[
        (tiles.origin[:, 1, None] + step).clip(0, 403)[:, :, None],
        (tiles.origin[:, 0, None] + step).clip(0, 559)[:, None],
    ]
    usable = used < UNUSABLE
    assert usable.mean() > 0.6
    assert np.abs(used - expected)[usable].max() < 1e-6
    assert np.abs(tiles.detail).max() < 1e-6


def test_noise_that_is_known_biases_less() -> None:
    """Between pixels interpolation averages noise away, and depth would be drawn there."""
    depths = (600.0, 1000.0, 1500.0)
    images = {depth: plane_image(depth, noise=0.03) for depth in depths}
    known, unknown = (
        np.mean([abs(errors(change(images[z]), CAMERA, z, COARSE).median) for z in depths])
        for change in (lambda image: image, lambda image: replace(image, noise=0.0))
    )
    assert known < 0.003
    assert known < 0.7 * unknown


def test_sigma_grows_with_noise_as_errors_do() -> None:
    for settings in (COARSE, REFINED):
        little, much = (errors(plane_image(1000.0, noise=n), CAMERA, 1000.0, settings) for n in (0.003, 0.03))
        assert much.spread > 1.5 * little.spread
        for found in (little, much):
            assert 0.5 < (np.abs(found.sigmas) < 1).mean() < 0.95


def test_where_two_depths_meet_wrong_ones_are_less_confident() -> None:
    near, far = plane_image(700.0), plane_image(1400.0)
    gray = np.where(np.arange(560) < 280, near.gray, far.gray)
    for settings in (COARSE, REFINED):
        found = metric_depth_map(estimate_virtual_depth(replace(near, gray=gray), CAMERA, settings), CAMERA)
        off = np.minimum(np.abs(found.depth / 700 - 1), np.abs(found.depth / 1400 - 1))
        wrong, right = off > 0.05, off < 0.02
        assert wrong.any()
        assert np.median(found.confidence[wrong]) < 0.5 * np.median(found.confidence[right])


@cache
def wall_camera(name: str) -> PlenopticCamera:
    small = shrunk(preset(name))
    return replace(small, main_lens=replace(small.main_lens, f_number=1.4), depth_scale=None)


@cache
def wall_light(name: str, depth: float) -> np.ndarray:
    camera, seed = wall_camera(name), 50_000 + int(depth)
    settings = RenderSettings(rays=128, f_number=1.4, vignetting=False, seed=seed)
    return np.asarray(rendered_light(wall_scene(depth, seed, camera), camera, settings) @ LUMINANCE, np.float32)


@cache
def wall_errors(name: str, depth: float, settings: DepthSettings, noise: float = 0.005) -> Errors:
    camera, light = wall_camera(name), wall_light(name, depth)
    gray = (light + np.random.default_rng(int(depth)).normal(0, noise, light.shape)).astype(np.float32)
    return errors(RawImage(gray, None, noise_level(gray, camera), Devignetting.NONE), camera, depth, settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [COARSE, REFINED], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", WALLS)
def test_depth_is_true_with_little_and_with_much_blur(name: str, settings: DepthSettings) -> None:
    for depth in WALLS[name]:
        found = wall_errors(name, depth, settings)
        assert abs(found.median) < (0.01 if settings.refined else 0.004)
        assert (np.abs(found.relative) < (0.05 if settings.refined else 0.02)).mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("equalisation", ["mixture", "s_transform"])
@pytest.mark.parametrize("settings", [COARSE, REFINED], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", WALLS)
def test_equal_blur_lowers_the_spread(name: str, settings: DepthSettings, equalisation: str) -> None:
    b, d = (
        np.mean([np.log(wall_errors(name, depth, replace(settings, **change)).spread) for depth in WALLS[name]])
        for change in ({"equalisation": equalisation}, {"blur": False})
    )
    assert d - b > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("settings", [COARSE, REFINED], ids=["coarse", "refined"])
def test_sigma_is_true_over_distances_noises_and_cameras(settings: DepthSettings) -> None:
    ratios = [
        np.abs(wall_errors(name, depth, settings, noise).sigmas)
        for name, depths in WALLS.items()
        for depth in depths
        for noise in (0.0, 0.02)
    ]
    within = {limit: np.mean([(ratio < limit).mean() for ratio in ratios]) for limit in (1, 2, 3)}
    assert 0.6 < within[1] < 0.85
    assert within[2] > 0.9
    assert within[3] > 0.97
