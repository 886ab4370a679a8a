"""κ of simulated cameras, whose blur is known, with the operator of depth estimation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.special import j1

from plenodepth.calib.blur import pairs as pairs_module
from plenodepth.calib.blur.kappa import fit_blur_coefficient
from plenodepth.calib.features import Features
from plenodepth.camera import metric_from_virtual, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.equalisation import blur_detail, gaussian, smoothed
from plenodepth.depth.kernels.constants import MIXTURE_VARIANCE
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Checkerboard, Scene
from plenodepth.sim.sensor import LUMINANCE
from plenodepth.sim.truth import board_features

CAMERA = replace(shrunk(preset("r12-a")), depth_scale=None)
OPEN = 1.0  # an f-number at which the whole of each micro-lens lights each pixel
VIRTUAL_DEPTHS = (3.5, 4.5, 6.0, 8.0)
EXPECTED = 0.58  # see test_kappa_is_what_makes_an_ideal_corner_equal


@cache
def frame(number: int, noise: float = 0.0) -> tuple[Features, np.ndarray]:
    """Features and gray image of a board, four corners by three, its squares some 25 px wide in micro-images."""
    depth = float(metric_from_virtual(VIRTUAL_DEPTHS[number], CAMERA))
    square = 0.0055 * 20 * VIRTUAL_DEPTHS[number] * depth / 57
    turned = Pose.from_rotation_vector([0.05, -0.1, 0.2 + 0.15 * number])
    middle = np.array([1.5 * square, square, 0.0])
    pose = Pose(turned.rotation, np.array([0, 0, depth]) - turned.rotation @ middle)
    scene = Scene((Checkerboard(4, 3, square, pose, margin=square),), ambient=1.0)
    settings = RenderSettings(rays=36, f_number=OPEN, vignetting=False, seed=number)
    gray = np.asarray(render(scene, CAMERA, settings).light @ LUMINANCE, np.float32)
    gray = gray + np.random.default_rng(number).normal(0, noise, gray.shape).astype(np.float32)
    table = board_features(scene, CAMERA)
    count, corner = len(table), table["cluster"].astype(np.int64)
    features = Features(
        frame=np.full(count, number),
        k=table["k"].astype(np.int64),
        l=table["l"].astype(np.int64),
        uv=np.stack([table["u"], table["v"]], axis=1).astype(np.float64),
        covariance=np.broadcast_to(0.01 * np.eye(2), (count, 2, 2)),
        rho=table["rho"].astype(np.float64),
        rho_sigma=np.full(count, 0.1),
        cluster=corner,
        corner=corner,
        board=np.zeros(count, dtype=np.int64),
    )
    return features, gray


def frames(noise: float = 0.0) -> tuple[Features, dict[int, np.ndarray]]:
    made = [frame(number, noise) for number in range(len(VIRTUAL_DEPTHS))]
    return Features.joined([features for features, _ in made]), {n: gray for n, (_, gray) in enumerate(made)}


def ideal_corner(radius: float, turn: float) -> np.ndarray:
    """A corner (1, 23, 23) blurred by a disc, as pixels see it and interpolation on average blurs it."""
    fine, half = 8, 20
    x = np.arange(-half * fine, half * fine + 1) / fine
    along, across = (np.cos(turn) * x + np.sin(turn) * x[:, None], np.cos(turn) * x[:, None] - np.sin(turn) * x)
    squares = (np.sign(along) * np.sign(across) + 1) / 2
    frequency = 2 * np.pi * np.fft.fftfreq(len(x), 1 / fine)
    size = np.maximum(np.hypot(frequency, frequency[:, None]) * radius, 1e-9)
    box = np.sinc(frequency / (2 * np.pi)) ** 2  # a pixel, and interpolation between pixels at any place
    blurred = np.fft.ifft2(np.fft.fft2(squares) * (2 * j1(size) / size) * box * box[:, None]).real
    middle = half * fine + fine * np.arange(-11, 12)
    return np.asarray(blurred[np.ix_(middle, middle)], np.float32)[None]


def ideal_kappa(sharp: float, blurry: float) -> float:
    """κ for which the operator makes the ideal corner of a sharper radius most like that of a blurrier one."""
    usable = np.ones((1, 23, 23), np.bool_)
    one, other = (smoothed(ideal_corner(radius, 0.4), usable, gaussian(0.3)) for radius in (sharp, blurry))
    detail = blur_detail(one, usable, gaussian(MIXTURE_VARIANCE))
    square = float((detail * (other - one))[:, 5:-5, 5:-5].sum() / (detail**2)[:, 5:-5, 5:-5].sum())
    return float(np.sqrt(square * MIXTURE_VARIANCE / (blurry**2 - sharp**2)))


def test_kappa_is_what_makes_an_ideal_corner_equal() -> None:
    features, images = frames()
    fit = fit_blur_coefficient(features, images, CAMERA)
    types = CAMERA.micro_images.lens_type(features.k, features.l)
    for number in images:
        radii = sorted(np.abs(features.rho[(types == kind) & (features.frame == number)]).mean() for kind in range(3))
        # By far most is told by the two types that differ most.
        assert fit.frame_kappa[number] == pytest.approx(ideal_kappa(radii[0], radii[2]), abs=0.02)
    assert fit.kappa == pytest.approx(EXPECTED, abs=0.01)
    assert 0 < fit.standard_error < 0.01


def test_noise_widens_the_error_but_does_not_bias_kappa() -> None:
    clean, noisy = fit_blur_coefficient(*frames(), CAMERA), fit_blur_coefficient(*frames(0.05), CAMERA)
    assert abs(noisy.kappa - clean.kappa) < 3 * np.hypot(noisy.standard_error, clean.standard_error)
    assert noisy.kappa == pytest.approx(clean.kappa, abs=0.02)
    assert noisy.standard_error < 0.03


def test_inaccurate_features_hardly_change_kappa() -> None:
    features, images = frames()
    scatter = np.random.default_rng(0).normal(0, 0.2, features.uv.shape)
    moved = fit_blur_coefficient(replace(features, uv=features.uv + scatter), images, CAMERA)
    assert moved.kappa == pytest.approx(EXPECTED, abs=0.02)


def test_wrong_clusters_are_outliers() -> None:
    """Lens types that see nothing but a wrong place, in one cluster of eight."""
    features, images = frames()
    wrong = (features.cluster % 8 == 0) & (CAMERA.micro_images.lens_type(features.k, features.l) == 1)
    uv = np.where(wrong[:, None], features.uv + [3.0, 2.0], features.uv)
    fit = fit_blur_coefficient(replace(features, uv=uv), images, CAMERA)
    assert fit.kappa == pytest.approx(EXPECTED, abs=0.02)


def test_types_that_are_mistaken_are_refused() -> None:
    features, images = frames()
    types = CAMERA.micro_images.lens_type(features.k, features.l)
    # The sharpest and the blurriest type change their radii.
    mean = np.array([np.abs(features.rho[types == kind]).mean() for kind in range(3)])
    order = np.argsort(mean)
    swapped = features.rho.copy()
    for one, other in ((order[0], order[2]), (order[2], order[0])):
        swapped[types == one] *= mean[other] / mean[one]
    with pytest.raises(InputError, match="negative"):
        fit_blur_coefficient(replace(features, rho=swapped), images, CAMERA)


def test_a_flat_image_tells_nothing() -> None:
    features, images = frames()
    with pytest.raises(InputError, match="pairs"):
        fit_blur_coefficient(features, {n: np.full_like(gray, 0.5) for n, gray in images.items()}, CAMERA)


def test_frames_of_another_size_are_refused() -> None:
    features, images = frames()
    with pytest.raises(InputError, match="frame 0"):
        fit_blur_coefficient(features, {n: gray[:-1] for n, gray in images.items()}, CAMERA)


def test_views_are_prepared_as_for_depth() -> None:
    assert DepthSettings().smoothing == pairs_module.SMOOTHING
    assert DepthSettings().equalisation == "mixture"
