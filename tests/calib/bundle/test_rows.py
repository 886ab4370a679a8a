"""The compiled rows of the adjustment against the residuals and derivatives that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ideal_features import BOARD, ideal_centers, ideal_features, small_camera, spread_poses

from plenodepth.calib.bundle.kernels.rows import product_root
from plenodepth.calib.bundle.problem import Weighted, WeightedCenters
from plenodepth.calib.bundle.residuals import Seen, center_residuals, feature_residuals
from plenodepth.calib.bundle.rows import CenterRows, FeatureRows, packed
from plenodepth.calib.bundle.weights import common_errors
from plenodepth.camera import ExitPupil, PlenopticCamera
from plenodepth.camera.model import Array, Distortion
from plenodepth.geometry import Pose

POSE = spread_poses()[3]
CAMERA = replace(small_camera(), distortion=Distortion.from_coefficients(np.array([1e-4, -1e-6, 1e-8, 2e-5, -3e-5])))
PINHOLES = replace(
    CAMERA,
    micro_images=replace(CAMERA.micro_images, type_pattern=np.zeros((0, 0), dtype=np.int64)),
    micro_lenses=replace(CAMERA.micro_lenses, focal_lengths=np.zeros(0)),
    white_radius=None,
)
WITH_PUPIL = replace(CAMERA, main_lens=replace(CAMERA.main_lens, exit_pupil=ExitPupil(5.0, None, (0.4, -0.9))))
REAL = replace(
    CAMERA,
    main_lens=replace(CAMERA.main_lens, exit_pupil=ExitPupil(-15.0, 12.0, (0.4, -0.9))),
    micro_lenses=replace(CAMERA.micro_lenses, clear_aperture=0.9),
)


def some_views(camera: PlenopticCamera, *, common: bool) -> Weighted:
    """Features with any roots of weights; every fifth has no blur radius, that of pinholes none."""
    features, generator = ideal_features(CAMERA, [POSE]), np.random.default_rng(1)
    count = len(features)
    without = np.arange(count) % 5 == 0 if camera.type_count else np.ones(count, dtype=np.bool_)
    seen = Seen(
        BOARD.points(features.corner), features.k, features.l, features.uv, np.where(without, np.nan, features.rho)
    )
    groups = features.corner, features.corner % 3
    shared = [common_errors(group, generator.random(count), 0.3) if common else None for group in groups]
    return Weighted(seen, generator.normal(size=(count, 3, 3)), *shared)


@pytest.mark.parametrize(
    ("camera", "aperture"),
    [(CAMERA, False), (CAMERA, True), (WITH_PUPIL, True), (REAL, True), (REAL, False), (PINHOLES, False)],
)
@pytest.mark.parametrize("common", [False, True])
def test_products_of_features_are_those_of_their_derivatives(
    camera: PlenopticCamera, aperture: bool, common: bool
) -> None:
    weighted = some_views(camera, common=common)
    values, by_intrinsics, by_pose = feature_residuals(weighted.seen, POSE, camera, aperture=aperture, derivatives=True)
    assert by_intrinsics is not None
    assert by_pose is not None
    rows = weighted.whitened(np.concatenate([by_intrinsics, by_pose, values[..., None]], axis=2))
    expected = products_of(rows)
    features = FeatureRows(weighted, camera, aperture)
    found = features.products(packed(camera, aperture), POSE, True)
    assert found is not None
    np.testing.assert_allclose(scaled(found, expected), scaled(expected, expected), atol=1e-11)
    alone = features.products(packed(camera, aperture), POSE, False)
    assert alone is not None
    np.testing.assert_allclose(alone, expected[-1:, -1:])


@pytest.mark.parametrize("camera", [CAMERA, REAL])
def test_products_of_centers_are_those_of_their_derivatives(camera: PlenopticCamera) -> None:
    centers = replace(ideal_centers(camera), uv=ideal_centers(camera).uv + 0.1)
    root = np.random.default_rng(2).normal(size=(len(centers), 2, 2))
    values, jacobian = center_residuals(centers, camera, derivatives=True)
    assert jacobian is not None
    expected = products_of(root @ np.concatenate([jacobian, values[..., None]], axis=2))
    rows, optics = CenterRows(WeightedCenters(centers, root), camera), packed(camera, False)
    np.testing.assert_allclose(scaled(rows.products(optics, True), expected), scaled(expected, expected), atol=1e-11)
    np.testing.assert_allclose(rows.products(optics, False), expected[-1:, -1:])


def test_a_board_that_forms_no_image_has_no_products() -> None:
    near = Pose(POSE.rotation, np.array([0.0, 0.0, 10.0]))
    features = FeatureRows(some_views(CAMERA, common=False), CAMERA, True)
    assert features.products(packed(CAMERA, True), near, True) is None


def test_the_root_of_products_has_these_products_also_of_dependent_columns() -> None:
    columns = np.random.default_rng(3).normal(size=(40, 6)) * 10.0 ** np.arange(-6, 6, 2)
    columns = np.column_stack([columns, columns @ np.array([1e6, 1, 0, 1e-4, 0, 0]), np.zeros(40)])
    expected, root = products_of(columns), np.empty((8, 8))
    product_root(expected, root)
    np.testing.assert_allclose(scaled(root.T @ root, expected), scaled(expected, expected), atol=1e-13)
    assert np.count_nonzero(np.abs(root).sum(axis=1)) == 6


def products_of(rows: Array) -> Array:
    flat = rows.reshape(-1, rows.shape[-1])
    return np.asarray(flat.T @ flat)


def scaled(products: Array, by: Array) -> Array:
    """Products of columns of unit length: parameters have units of very different size."""
    length = np.sqrt(np.maximum(np.diag(by), 1e-300))
    return np.asarray(products / np.outer(length, length))
