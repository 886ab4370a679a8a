"""Γ from boards whose depths were falsified by a known Γ⁻¹."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from plenodepth.calib.features import Board, Features
from plenodepth.calib.scale.boards import fit_board_scale
from plenodepth.calib.scale.fit import with_depth_scale
from plenodepth.camera import lenses_that_see, preset, project, unscaled_depth, virtual_from_metric
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

CAMERA = replace(shrunk(preset("r12-b")), depth_scale=None)
BOARD = Board(6, 4, 4.0)
DEPTHS = np.linspace(450, 900, 9)
GAMMAS = {"constant": (0.0, 0.9, 0.0), "linear": (40.0, 0.85, 0.0), "quadratic": (36.0, 0.67, 1.44e-4)}


class Seen(NamedTuple):
    features: Features
    virtual_depth: np.ndarray


def seen(gamma: tuple[float, float, float], noise: float = 0.0, seed: int = 0) -> Seen:
    """Corners as a camera without Γ sees them, which Γ would put in their places; noise relative to v."""
    generator = np.random.default_rng(seed)
    falsifying = replace(CAMERA, depth_scale=np.array(gamma))
    parts, depths = [], []
    for frame, depth in enumerate(DEPTHS):
        turned = Pose.from_rotation_vector(generator.uniform(-0.3, 0.3, 3)).rotation
        middle = BOARD.points(np.arange(BOARD.corner_count)).mean(axis=0)
        points = Pose(turned, np.array([0, 0, depth]) - turned @ middle)(BOARD.points(np.arange(BOARD.corner_count)))
        wrong = unscaled_depth(points[:, 2], falsifying)
        apparent = points * (wrong / points[:, 2])[:, None]
        views = lenses_that_see(apparent, CAMERA)
        corner = views.point
        count = len(corner)
        v = virtual_from_metric(wrong[corner], CAMERA, views.k, views.l)
        depths.append(v * (1 + noise * generator.normal(size=count)))
        parts.append(
            Features(
                frame=np.full(count, frame),
                k=views.k,
                l=views.l,
                uv=project(apparent[corner], views.k, views.l, CAMERA).uv,
                covariance=np.broadcast_to(0.01 * np.eye(2), (count, 2, 2)),
                rho=np.full(count, np.nan),
                rho_sigma=np.full(count, np.nan),
                cluster=corner,
                corner=corner,
                board=np.zeros(count, dtype=np.int64),
            )
        )
    return Seen(Features.joined(parts), np.concatenate(depths))


@pytest.mark.parametrize("order", GAMMAS)
def test_a_known_depth_scale_comes_back(order: str) -> None:
    fit = fit_board_scale(*seen(GAMMAS[order]), BOARD, CAMERA, order)  # type: ignore[arg-type]
    z = np.linspace(*fit.scale.depth_range, 20)
    assert np.allclose(fit.scale.corrected(z) / np.polyval(GAMMAS[order][::-1], z), 1, atol=1e-6)
    assert abs(fit.median_before) > 0.03
    assert np.abs(fit.after).max() < 1e-6


@pytest.mark.parametrize("order", GAMMAS)
def test_cross_validation_names_the_order(order: str) -> None:
    fit = fit_board_scale(*seen(GAMMAS[order], noise=0.001), BOARD, CAMERA)
    assert fit.best_order == fit.scale.order == order
    assert fit.size_after < 5e-4  # the paper's 0.05 %


def test_noise_is_in_the_standard_errors() -> None:
    """Of a constant factor, by 12 draws: its errors over their standard errors are about 1."""
    ratio = []
    for seed in range(12):
        fit = fit_board_scale(*seen(GAMMAS["constant"], noise=0.001, seed=seed), BOARD, CAMERA, "constant")
        ratio.append((fit.scale.coefficients[1] - 0.9) / fit.scale.standard_errors[1])
    assert 0.4 < np.sqrt(np.mean(np.square(ratio))) < 2.5


def test_noise_of_depth_does_not_make_boards_larger() -> None:
    """It does by 5 %, on average over these boards, where corners are not put onto the plane of their board."""
    noisy = fit_board_scale(*seen(GAMMAS["constant"], noise=0.02), BOARD, CAMERA, "constant")
    exact = fit_board_scale(*seen(GAMMAS["constant"]), BOARD, CAMERA, "constant")
    assert abs(np.mean(noisy.before - exact.before)) < 0.01
    assert abs(np.median(noisy.before - exact.before)) < 0.008


def test_missing_depths_and_wrong_ones_do_no_harm() -> None:
    features, v = seen(GAMMAS["quadratic"], noise=0.001)
    generator = np.random.default_rng(1)
    v = np.where(generator.random(len(v)) < 0.2, np.nan, v)
    v = np.where(generator.random(len(v)) < 0.05, 1.5 * v, v)
    fit = fit_board_scale(features, v, BOARD, CAMERA)
    z = np.linspace(*fit.scale.depth_range, 20)
    assert np.allclose(fit.scale.corrected(z) / np.polyval(GAMMAS["quadratic"][::-1], z), 1, atol=3e-3)


def test_which_of_the_wrong_depths_are_there_does_not_tilt_a_board() -> None:
    """A quarter of the depths is 10 % too near: on all of the board, or on one half of it, as a filter leaves them."""
    features, v = seen(GAMMAS["constant"], noise=0.02)
    wrong = np.arange(len(v)) % 4 == 0
    half = wrong & (features.corner % BOARD.columns < BOARD.columns / 2)
    none, every, some = (
        fit_board_scale(features, np.where(off, 1.1 * v, v), BOARD, CAMERA, "constant").before
        for off in (np.zeros_like(wrong), wrong, half)
    )
    assert np.abs(every - none).max() < 0.02
    assert np.abs(some - none).max() < 0.04  # 0.1 by plain means


def test_a_frame_that_is_wrong_as_a_whole_counts_little() -> None:
    features, v = seen(GAMMAS["linear"], noise=0.001)
    fit = fit_board_scale(features, np.where(features.frame == 4, 1.3 * v, v), BOARD, CAMERA, "linear")
    z = np.linspace(*fit.scale.depth_range, 20)
    assert np.allclose(fit.scale.corrected(z) / np.polyval(GAMMAS["linear"][::-1], z), 1, atol=5e-3)
    assert fit.scale.weights[4] < 0.1


def test_the_camera_s_own_scale_plays_no_part_and_the_fit_fits_on_a_camera() -> None:
    features, v = seen(GAMMAS["quadratic"])
    scaled = replace(CAMERA, depth_scale=np.array([0.0, 0.5, 0.0]))
    fit = fit_board_scale(features, v, BOARD, scaled, "quadratic")
    assert np.abs(fit.after).max() < 1e-6
    assert with_depth_scale(CAMERA, fit.scale, "off").depth_scale is not None


def test_too_few_distances_are_refused() -> None:
    features, v = seen(GAMMAS["quadratic"])
    two = features.frame < 2
    with pytest.raises(InputError, match="3 or more distances"):
        fit_board_scale(features.where(two), v[two], BOARD, CAMERA, "quadratic")
    assert fit_board_scale(features.where(two), v[two], BOARD, CAMERA).scale.order == "constant"


def test_no_depth_at_all_is_refused() -> None:
    features, v = seen(GAMMAS["constant"])
    with pytest.raises(InputError, match="corners"):
        fit_board_scale(features, np.full_like(v, np.nan), BOARD, CAMERA)
