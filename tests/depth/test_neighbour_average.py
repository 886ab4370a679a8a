"""Coarse depths averaged with those of neighbours that see the same."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.camera import preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth import estimate
from plenodepth.depth.neighbour_average import average_with_neighbours
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views
from plenodepth.raw.image import Devignetting, RawImage

CAMERA = shrunk(preset("r12-es"), 24, 20)
VIEWS = plan_views(CAMERA, DepthSettings(), model="per_pixel")
X, Y = np.moveaxis(CAMERA.micro_images.center(*CAMERA.micro_images.lattice.indices()), -1, 0) / float(VIEWS.pitch)
INSIDE = np.s_[3:-3, 3:-3]


def smoothed(inverse: np.ndarray, scatter: float = 0.001) -> np.ndarray:
    """1/v after averaging 1/v that scatter by so much."""
    v = (1 / inverse).astype(np.float32)
    return 1 / average_with_neighbours(v, (scatter * v**2).astype(np.float32), VIEWS).astype(np.float64)


def test_of_near_objects_less_scatter_is_left_and_no_bias() -> None:
    noise = 0.001 * np.random.default_rng(1).standard_normal(X.shape)
    left = smoothed(1 / 14 + noise)[INSIDE] - 1 / 14
    assert left.std() < 0.4 * noise[INSIDE].std()
    assert abs(left.mean() - noise[INSIDE].mean()) < 2e-4


def test_of_far_objects_nothing_changes() -> None:
    v = (1 / (1 / 5 + 0.001 * np.random.default_rng(2).standard_normal(X.shape))).astype(np.float32)
    np.testing.assert_allclose(average_with_neighbours(v, np.float32(0.001) * v**2, VIEWS), v, rtol=1e-6)


def test_a_slanted_plane_stays_one_up_to_the_ends_of_the_array() -> None:
    plane = 1 / 12 + 0.001 * X - 0.0005 * Y
    np.testing.assert_allclose(smoothed(plane), plane, rtol=1e-5)


@pytest.mark.parametrize("far", [11.0, 8.0, 3.0])
def test_a_depth_edge_stays_sharp(far: float) -> None:
    step = np.where(X.mean() > X + 0.3 * Y, 1 / 14, 1 / far)
    np.testing.assert_allclose(smoothed(step), step, rtol=1e-5)


def test_what_differs_by_more_than_its_uncertainty_is_left_alone() -> None:
    single = np.full(X.shape, 1 / 14)
    single[10, 12] *= 1.08
    np.testing.assert_allclose(smoothed(single, 0.0005)[10, 12], single[10, 12], rtol=1e-5)
    assert smoothed(single, 0.003)[10, 12] < 1.04 / 14


def test_missing_depths_stay_missing_and_their_neighbours_there() -> None:
    inverse = np.full(X.shape, 1 / 14)
    inverse[5, 5] = inverse[0] = np.nan
    np.testing.assert_array_equal(np.isnan(smoothed(inverse)), np.isnan(inverse))
    assert np.isnan(smoothed(np.full(X.shape, np.nan))).all()


@pytest.mark.parametrize(("model", "refined"), [("off", False), ("slope", False), ("per_pixel", True)])
def test_only_coarse_maps_with_the_aperture_undone_per_pixel_are_averaged(
    monkeypatch: pytest.MonkeyPatch, model: str, refined: bool
) -> None:
    gray = np.random.default_rng(3).random((CAMERA.sensor.height, CAMERA.sensor.width)).astype(np.float32)
    image = RawImage(gray, None, 0.0, Devignetting.NONE)
    calls: list[int] = []
    monkeypatch.setattr(estimate, "average_with_neighbours", lambda v, sigma, views: calls.append(1) or v)
    estimate.estimate_virtual_depth(image, CAMERA, DepthSettings(aperture_model=model, refined=refined))
    assert not calls
    estimate.estimate_virtual_depth(image, CAMERA, DepthSettings(aperture_model="per_pixel"))
    assert calls
