"""A fit arranged for people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from calibrations import BOARD, NOISE, facing, fitted_at_truth

from plenodepth.calib.advice.facts import fit_facts, radial_profiles, root_mean_square
from plenodepth.camera import preset, virtual_from_metric
from plenodepth.camera.micro_lenses import predicted_center


def test_distance_and_tilt_of_each_frame_are_those_of_its_pose() -> None:
    poses = {
        (3, 0): facing(BOARD, 600.0),
        (7, 0): facing(BOARD, 900.0, (0.0, 0.5)),
        (8, 1): facing(BOARD, 700, (-0.3, 0)),
    }
    straight, turned, leaning = fit_facts(fitted_at_truth(poses=poses)).frames
    assert (straight.frame, turned.frame, leaning.board) == (3, 7, 1)
    assert straight.near == straight.far == 600
    assert straight.tilt < 1e-9
    np.testing.assert_allclose([turned.tilt, leaning.tilt], [0.5, 0.3])
    np.testing.assert_allclose([turned.tilt_xy, leaning.tilt_xy], [(0.5, 0), (0, 0.3)], atol=1e-12)
    np.testing.assert_allclose(turned.far - turned.near, 40 * np.sin(0.5))
    np.testing.assert_allclose(straight.rmse_uv, NOISE * np.sqrt(2), rtol=0.15)
    np.testing.assert_allclose(straight.rmse_rho, NOISE, rtol=0.15)


def test_features_have_the_depth_of_their_corner() -> None:
    facts = fit_facts(fitted_at_truth(poses={(0, 0): facing(BOARD, 500.0), (1, 0): facing(BOARD, 800.0)}))
    assert set(facts.depth.tolist()) == {500.0, 800.0}
    expected = virtual_from_metric(facts.depth, preset("r12-mini"))
    np.testing.assert_allclose(facts.virtual_depth, expected)


def test_cells_count_every_feature_once_and_rows_go_down() -> None:
    adjustment = fitted_at_truth(poses={(0, 0): facing(BOARD, 500.0, shift=(0.0, -5.0))})
    facts = fit_facts(adjustment)
    cells = facts.cells(4, 3)
    assert cells.shape == (3, 4)
    assert cells.sum() == len(facts.uv)
    upper = np.count_nonzero(facts.uv[:, 1] < facts.size[1] / 3 - 0.5)
    assert cells[0].sum() == upper


def test_a_residual_that_grows_from_the_centre_is_found_by_its_slope() -> None:
    adjustment = fitted_at_truth()
    camera, fit = adjustment.camera, adjustment.fit
    away = fit.features.uv - predicted_center(fit.features.k, fit.features.l, camera)
    types = camera.micro_images.lens_type(fit.features.k, fit.features.l)
    residuals = fit.residuals.copy()
    residuals[:, :2] += np.array([-0.05, 0.0, 0.03])[types, None] * away
    facts = fit_facts(replace(adjustment, fit=replace(fit, residuals=residuals)))
    profiles = radial_profiles(facts)
    assert [profile.lens_type for profile in profiles] == [0, 1, 2]
    for profile, slope in zip(profiles, (-0.05, 0.0, 0.03), strict=True):
        assert abs(profile.slope - slope) < 5 * profile.slope_error < 0.01
        np.testing.assert_allclose(profile.mean, slope * profile.offset, atol=0.05)


def test_outliers_do_not_count_in_the_profile() -> None:
    adjustment = fitted_at_truth()
    residuals, weight = adjustment.fit.residuals.copy(), adjustment.fit.weight.copy()
    residuals[::7] += 50
    weight[::7] = 0
    facts = fit_facts(replace(adjustment, fit=replace(adjustment.fit, residuals=residuals, weight=weight)))
    assert max(abs(profile.slope) for profile in radial_profiles(facts)) < 0.01
    np.testing.assert_allclose(facts.rmse_of_counting, NOISE * np.sqrt(2), rtol=0.1)
    assert sum(frame.outliers for frame in facts.frames) == len(weight[::7])


def test_unknown_values_do_not_spoil_a_mean() -> None:
    assert root_mean_square(np.array([3.0, np.nan, -3.0])) == 3.0
    assert np.isnan(root_mean_square(np.full(2, np.nan)))
