"""The depth scale from known distances: exact where data are, unmoved by single wrong frames, honest about the rest."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.calib import fit_depth_scale, fit_depth_scale_to_displacements, with_depth_scale
from plenodepth.camera import metric_from_virtual, preset, scaled_depth
from plenodepth.errors import InputError

PAPER = np.array([35.910, 0.667, 14.431e-5])  # of the paper's R12-ES
MEASURED = np.linspace(617.0, 1926.0, 8)


def polynomial(coefficients: np.ndarray, z: np.ndarray) -> np.ndarray:
    return coefficients[0] + coefficients[1] * z + coefficients[2] * z**2


@given(
    st.floats(-100, 100),
    st.floats(0.5, 1.5),
    st.floats(-1e-4, 5e-4),
    st.lists(st.integers(300, 2200), min_size=3, max_size=12, unique=True),
)
def test_a_known_polynomial_comes_back(constant: float, linear: float, quadratic: float, depths: list[int]) -> None:
    known, z = np.array([constant, linear, quadratic]), np.array(depths, dtype=np.float64)
    fit = fit_depth_scale(z, polynomial(known, z))
    assert fit.corrected(z) == pytest.approx(polynomial(known, z), rel=1e-9)
    assert fit.coefficients == pytest.approx(known, rel=1e-4, abs=1e-3)
    assert fit.rmse < 1e-9


@pytest.mark.parametrize(
    ("order", "known"),
    [("constant", [0, 0.9, 0]), ("linear", [-6.1, 0.929, 0]), ("quadratic", [10.9, 0.883, 2.7e-5])],
)
def test_each_order_fits_as_many_coefficients_as_it_has(order: str, known: list[float]) -> None:
    truth = polynomial(np.array(known), MEASURED)
    fit = fit_depth_scale(MEASURED, truth, order)  # type: ignore[arg-type]
    assert fit.coefficients == pytest.approx(known, rel=1e-9)
    assert fit.order == order
    assert ((fit.coefficients == 0) == (np.array(known) == 0)).all()


def test_a_constant_factor_is_the_mean_of_the_ratios_weighted_by_their_squares() -> None:
    # min Σ (γ1 z/t − 1)² is γ1 = Σ(z/t)/Σ(z/t)²: with ratios 1 and 2, 3/5.
    fit = fit_depth_scale([100, 200], [100, 100], "constant")
    assert fit.coefficients == pytest.approx([0, 0.6, 0], rel=1e-2)  # to within what robust weights change
    assert fit.residuals == pytest.approx([-0.4, 0.2], abs=0.01)


def test_far_frames_do_not_count_more_than_near_ones() -> None:
    """The same relative error at both ends pulls equally: the middle of the ratios, not the far frame's."""
    fit = fit_depth_scale([500, 1000, 1500, 2000], [500 * 1.01, 1000, 1500, 2000 * 0.99], "constant")
    assert fit.coefficients[1] == pytest.approx(1, abs=2e-4)


@given(st.floats(0.01, 100))
def test_the_unit_of_length_does_not_matter(unit: float) -> None:
    truth = polynomial(PAPER, MEASURED) * (1 + 0.01 * np.cos(np.arange(8)))
    one, other = fit_depth_scale(MEASURED, truth), fit_depth_scale(unit * MEASURED, unit * truth)
    assert other.coefficients == pytest.approx(one.coefficients * [unit, 1, 1 / unit], rel=1e-6)
    assert other.residuals == pytest.approx(one.residuals, abs=1e-9)
    assert other.standard_errors == pytest.approx(one.standard_errors * [unit, 1, 1 / unit], rel=1e-6)


@given(st.floats(0.5, 2), st.permutations(range(8)))
def test_scaled_truth_scales_the_fit_whatever_the_order_of_frames(factor: float, order: list[int]) -> None:
    truth = polynomial(PAPER, MEASURED) * (1 + 0.01 * np.sin(np.arange(8)))
    one, other = fit_depth_scale(MEASURED, truth), fit_depth_scale(MEASURED[order], factor * truth[order])
    assert other.corrected(MEASURED) == pytest.approx(factor * one.corrected(MEASURED), rel=1e-9)


@pytest.mark.parametrize("wrong", range(8))
@pytest.mark.parametrize("factor", [0.7, 1.2])
def test_one_wrong_frame_does_no_harm_wherever_it_is(wrong: int, factor: float) -> None:
    noise = 1 + 0.003 * np.random.default_rng(wrong).standard_normal(8)
    truth = polynomial(PAPER, MEASURED)
    spoilt = truth * noise * np.where(np.arange(8) == wrong, factor, 1)
    fit = fit_depth_scale(MEASURED, spoilt)
    assert fit.weights[wrong] < 0.01
    assert np.delete(fit.weights, wrong).min() > 0.5
    assert fit.corrected(MEASURED) == pytest.approx(truth, rel=0.015)


def test_many_frames_at_one_distance_do_not_outvote_the_others() -> None:
    z = np.array([*(617 + np.arange(10) / 5), 900.0, 1500.0])
    truth = polynomial(PAPER, np.array([618.0] * 10 + [900.0, 1500.0]))
    assert fit_depth_scale(z, truth).corrected([900, 1500]) == pytest.approx(truth[-2:], rel=1e-3)


def test_two_frames_of_one_measured_depth_are_no_obstacle() -> None:
    truth = polynomial(PAPER, MEASURED)
    fit = fit_depth_scale([*MEASURED, MEASURED[2]], [*truth, 1.002 * truth[2]])
    assert fit.corrected(MEASURED) == pytest.approx(truth, rel=2e-3)


def test_hundreds_of_frames_are_fitted_alike() -> None:
    generator, z = np.random.default_rng(5), np.linspace(600, 1900, 300)
    truth = polynomial(PAPER, z)
    spoilt = truth * np.where(generator.random(300) < 0.3, 1.3, 1 + 0.003 * generator.standard_normal(300))
    fit = fit_depth_scale(z, spoilt)
    assert fit.corrected(z) == pytest.approx(truth, rel=2e-3)
    assert fit_depth_scale(z, spoilt).coefficients.tolist() == fit.coefficients.tolist()


def test_standard_errors_are_those_of_repeated_experiments() -> None:
    generator, z = np.random.default_rng(1), np.linspace(617, 1926, 18)
    truth = polynomial(PAPER, z)
    fits = [fit_depth_scale(z, truth * (1 + 0.01 * generator.standard_normal(18))) for _ in range(200)]
    spread = np.std([fit.coefficients for fit in fits], axis=0)
    expected = np.median([fit.standard_errors for fit in fits], axis=0)
    assert spread == pytest.approx(expected, rel=0.2)


def test_without_frames_to_spare_standard_errors_are_unknown() -> None:
    fit = fit_depth_scale(MEASURED[:3], polynomial(PAPER, MEASURED[:3]))
    assert np.isnan(fit.standard_errors).all()
    assert fit.residuals == pytest.approx(0, abs=1e-12)


def test_heavier_frames_are_fitted_better() -> None:
    truth = polynomial(PAPER, MEASURED) * (1 + 0.01 * np.cos(2 * np.arange(8)))
    heavy = np.where(np.arange(8) == 3, 1000.0, 1.0)
    even, uneven = fit_depth_scale(MEASURED, truth), fit_depth_scale(MEASURED, truth, weights=heavy)
    assert abs(uneven.residuals[3]) < 0.1 * abs(even.residuals[3])


@given(st.floats(-2000, 2000), st.floats(0.5, 1.5), st.floats(0, 3e-4))
def test_displacements_alone_tell_all_but_the_offset(zero: float, linear: float, quadratic: float) -> None:
    truth = polynomial(np.array([0, linear, quadratic]), MEASURED)
    fit = fit_depth_scale_to_displacements(MEASURED, truth - zero)
    assert fit.coefficients == pytest.approx([0, linear, quadratic], rel=1e-6, abs=1e-9)
    assert fit.offset == pytest.approx(zero, abs=1e-4)


def test_displacements_are_right_even_where_the_offset_is_not() -> None:
    truth = polynomial(PAPER, MEASURED)
    fit = fit_depth_scale_to_displacements(MEASURED, truth - truth[0])
    assert np.diff(fit.corrected(MEASURED)) == pytest.approx(np.diff(truth), rel=1e-9)
    assert fit.corrected(MEASURED) == pytest.approx(truth - PAPER[0], rel=1e-9)


def test_a_camera_with_the_fit_gives_true_depths() -> None:
    camera = replace(preset("r12-es"), depth_scale=None)
    v = np.linspace(3, 11, 6)
    truth = polynomial(PAPER, metric_from_virtual(v, camera))
    fit = fit_depth_scale(metric_from_virtual(v, camera), truth)
    calibrated = with_depth_scale(camera, fit, "per_pixel")
    assert metric_from_virtual(v, calibrated) == pytest.approx(truth, rel=1e-9)
    assert scaled_depth(MEASURED, calibrated) == pytest.approx(fit.corrected(MEASURED), rel=1e-12)
    assert calibrated.provenance.residuals["depth_scale"] < 1e-9
    assert calibrated.depth_scale_model == "per_pixel"


def test_a_camera_that_has_a_depth_scale_is_refused() -> None:
    fit = fit_depth_scale(MEASURED, polynomial(PAPER, MEASURED))
    with pytest.raises(InputError, match="set already"):
        with_depth_scale(preset("r12-es"), fit, "off")


@pytest.mark.parametrize(
    ("measured", "true", "order", "reason"),
    [
        ([600, 700], [500, 600], "quadratic", "needs frames at 3 or more distances, there are 2"),
        ([600, 601, 700], [500, 500, 600], "quadratic", "there are 2"),
        ([600, 600, 600], [500, 600, 700], "linear", "there are 1"),
        ([], [], "constant", "there are 0"),
        ([600, np.nan, 800], [500, 600, 700], "quadratic", "measured: holds a number that is not finite"),
        ([600, 700, 800], [500, np.inf, 700], "quadratic", "true: holds a number that is not finite"),
        ([600, 700, 800], [500, 600], "quadratic", "true: has shape"),
        ([[600, 700]], [[500, 600]], "linear", "measured: has shape"),
        ([600, -700, 800], [500, 600, 700], "quadratic", "measured: holds -700 mm"),
        ([600, 700, 800], [500, 0, 700], "quadratic", "true: holds 0 mm"),
        ([600, 600, 700, 700], [500, 500, 500, 600], "quadratic", "there are 2"),
        ([600, 600, 700, 700], [500, 510, 510, 500], "linear", "does not grow with distance"),
        ([600, 700, 800], [700, 600, 500], "linear", "does not grow with distance"),
        ([600, 700, 800, 900], [500, 600, 605, 500], "quadratic", "does not grow with distance at 900 mm"),
        ([600, 700, 800], [500, 600, 700], "cubic", "order: is 'cubic'"),
    ],
)
def test_what_cannot_be_fitted_is_refused(measured: list[float], true: list[float], order: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        fit_depth_scale(measured, true, order)  # type: ignore[arg-type]


def test_weights_must_be_positive() -> None:
    with pytest.raises(InputError, match="weights: holds 0"):
        fit_depth_scale([600, 700], [500, 600], "linear", [1, 0])


def test_displacements_need_one_distance_more_and_no_constant() -> None:
    with pytest.raises(InputError, match="needs frames at 3 or more distances"):
        fit_depth_scale_to_displacements([600, 700], [0, 100])
    with pytest.raises(InputError, match="γ0"):
        fit_depth_scale_to_displacements([600, 700, 800], [0, 100, 200], "linear")
