"""Each rule finds its weak spot, and is silent about a good calibration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calibrations import BOARD, centers_of, features_of, fitted_at_truth, share_of_distances, usual_poses

from plenodepth.calib.advice.coverage_rules import (
    distances,
    frame_count,
    image_corners,
    impossible_boards,
    thirds,
    tilts,
    unseen_distances,
)
from plenodepth.calib.advice.facts import FitFacts, FrameFacts, Profile, fit_facts
from plenodepth.calib.advice.fit_rules import (
    bad_frames,
    blur_radii,
    board_size,
    centers,
    convergence,
    correlations,
    depth_precision,
    focal_length,
    lens_types,
    outliers,
    scatter,
)
from plenodepth.calib.advice.rules import Advice, advise
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty, uncertainty
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera import PlenopticCamera, preset
from plenodepth.geometry import Pose

CAMERA = preset("r12-mini")


@cache
def good() -> tuple[Adjustment, FitFacts]:
    adjustment = fitted_at_truth()
    return adjustment, fit_facts(adjustment)


def frame(number: int = 0, **changes: object) -> FrameFacts:
    usual = FrameFacts(number, 0, 100, 0, 0.2, 0.1, 480.0, 520.0, 500.0, 0.0, (0.0, 0.0))
    return replace(usual, **changes)


def tilted(*vectors: tuple[float, float]) -> list[FrameFacts]:
    return [frame(n, tilt=float(np.hypot(*xy)), tilt_xy=xy) for n, xy in enumerate(vectors)]


def spread(uv: np.ndarray) -> FitFacts:
    """Facts of features at these places in the image."""
    _, facts = good()
    return replace(facts, uv=uv)


def even_places(count: int = 90) -> np.ndarray:
    u, v = np.meshgrid((np.arange(count) + 0.5) / count * CAMERA.sensor.width, np.arange(count) / count)
    return np.stack([u.ravel(), v.ravel() * CAMERA.sensor.height], axis=1)


def profiles(*slopes: float, error: float = 1e-3) -> list[Profile]:
    empty = np.zeros(0)
    return [Profile(n, empty, empty, empty, slope, error) for n, slope in enumerate(slopes)]


def whites(camera: PlenopticCamera) -> WhiteRadii:
    """White images of a camera: m = F d/(2 D)."""
    slope = camera.main_lens.focal_length * share_of_distances(camera) / 2 / camera.sensor.pixel_size
    numbers = np.array([4.0, 8.0])
    pattern = camera.micro_images.type_pattern
    return WhiteRadii(numbers, slope / numbers, np.full(3, 5.0), np.full(3, 1e-3), slope, 1e-2, pattern, 0.0, ())


def known(*names: str, correlation: float = 0.0, factor: float = 1.0) -> Uncertainty:
    covariance = np.full((len(names),) * 2, correlation) + (1 - correlation) * np.eye(len(names))
    return Uncertainty(names, covariance, factor, 10.0, {})


def only(found: list[Advice]) -> Advice:
    (item,) = found
    assert item.remedy
    return item


def test_little_is_found_about_a_good_calibration() -> None:
    adjustment, facts = good()
    sure = uncertainty(adjustment.problem, adjustment.estimate)
    found = advise(facts, adjustment, aperture=False, nominal=CAMERA, radii=whites(CAMERA), known=sure)
    # r12-mini is too small to tell its parameters apart well.
    assert {item.rule for item in found} <= {"correlations", "depth_precision", "image_corners"}


def test_the_most_important_comes_first() -> None:
    adjustment, facts = good()
    worse = replace(adjustment, converged=False)
    few = replace(facts, frames=facts.frames[:2])
    found = advise(few, worse, aperture=False)
    assert found[0].rule == "convergence"
    assert len({item.importance for item in found}) > 1
    assert [item.importance for item in found] == sorted((item.importance for item in found), reverse=True)


def test_a_solver_that_stopped_early_is_told() -> None:
    assert "did not converge" in only(list(convergence(False))).finding
    assert not list(convergence(True))


def test_boards_at_one_distance_do_not_tell_f_and_d() -> None:
    found = only(list(distances([frame(near=480.0, far=520.0), frame(near=490.0, far=530.0)])))
    assert found.importance == 3
    assert "between 480 and 530 mm" in found.finding
    assert not list(distances([frame(), frame(near=900.0, far=950.0)]))


def test_a_board_where_none_can_be_is_told() -> None:
    found = only(list(impossible_boards([frame(), frame(4, near=-510.0, distance=-500.0)], CAMERA)))
    assert found.importance == 3
    assert "frame 4 came out at -500 mm" in found.finding
    assert not list(impossible_boards([frame()], CAMERA))


def gaps(*spans: tuple[float, float]) -> list[str]:
    frames = [frame(n, near=near, far=far) for n, (near, far) in enumerate(spans)]
    return [item.finding for item in unseen_distances(frames, CAMERA)]


def test_a_range_without_boards_is_named_in_millimetres() -> None:
    """r12-mini can be used from 365 to 2270 mm."""
    assert "No board beyond 600 mm (the usable range goes on to 2270 mm" in gaps((590, 600), (380, 400))[0]
    assert "No board nearer than 800 mm (the usable range begins at 365 mm" in gaps((1200, 2000), (800, 820))[0]
    assert "No board between 500 and 1500 mm (amid" in gaps((1500, 2200), (380, 500))[0]
    assert not gaps((400, 410), (600, 610), (900, 910), (1300, 1310), (1900, 1910))


def test_a_tilted_board_covers_the_range_that_it_spans() -> None:
    assert gaps((400, 410), (1300, 1900))
    assert not gaps((400, 410), (405, 1000), (1300, 1900))
    assert not gaps((300, 3000), (400, 410)), "the nearest need not reach farthest"


@pytest.mark.parametrize(
    ("side", "axis", "low", "high"),
    [("left", 0, 0.34, 1.0), ("right", 0, 0.0, 0.66), ("top", 1, 0.34, 1.0), ("bottom", 1, 0.0, 0.66)],
)
def test_an_empty_third_of_the_image_is_named(side: str, axis: int, low: float, high: float) -> None:
    uv = even_places()
    share = uv[:, axis] / (CAMERA.sensor.width, CAMERA.sensor.height)[axis]
    found = only(list(thirds(spread(uv[(share > low) & (share < high)]))))
    assert f"The {side} third of the image has no corners" in found.finding
    assert not list(image_corners(spread(uv[(share > low) & (share < high)]))), "its corners are not told once more"
    assert not list(thirds(spread(uv)))


def test_hardly_any_corners_in_a_third_are_too_few() -> None:
    uv = even_places()
    left = uv[:, 0] < CAMERA.sensor.width / 3
    uv = np.concatenate([uv[~left], uv[left][::40]])
    assert "hardly any" in only(list(thirds(spread(uv)))).finding


def test_empty_corners_of_the_image_are_named_together() -> None:
    uv = even_places()
    share = uv / (CAMERA.sensor.width, CAMERA.sensor.height)
    empty = ((share[:, 0] < 0.2) & (share[:, 1] < 0.2)) | ((share[:, 0] > 0.8) & (share[:, 1] > 0.8))
    assert "top left and bottom right corners" in only(list(image_corners(spread(uv[~empty])))).finding
    assert not list(image_corners(spread(uv)))


def test_boards_that_face_the_camera_are_too_few_kinds_of_view() -> None:
    found = only(list(tilts(tilted((0.0, 0.02), (0.01, 0.0), (0.0, 0.1), (0.5, 0.0)))))
    assert "hardly tilted (1 of 4 by more than 10°, at most 29°)" in found.finding


def test_tilts_about_one_axis_ask_for_the_other() -> None:
    found = only(list(tilts(tilted((0.5, 0.01), (-0.4, 0.0), (0.3, 0.02), (0.6, 0.0)))))
    assert "turned left and right" in found.finding
    assert "up and down" in found.remedy
    assert not list(tilts(tilted((0.5, 0.01), (-0.4, 0.0), (0.3, 0.02), (0.0, -0.3))))


def test_few_frames_are_told() -> None:
    assert "Only 1 view of" in only(list(frame_count([frame()]))).finding
    assert not list(frame_count([frame(n) for n in range(6)]))


def test_the_frame_that_fits_worse_is_named() -> None:
    frames = [frame(n) for n in range(6)] + [frame(7, rmse_uv=0.6)]
    assert (
        "Frame 7 fits 3.0 times worse than the others (0.60 against 0.20 px)" in only(list(bad_frames(frames))).finding
    )
    assert not list(bad_frames(frames[:6]))


def test_a_frame_with_many_outliers_is_named() -> None:
    frames = [frame(n) for n in range(6)] + [frame(9, outliers=30)]
    assert "Frame 9 has 30% outliers" in only(list(bad_frames(frames))).finding
    assert not list(bad_frames([frame(n, outliers=30) for n in range(6)])), "all of them are no news of one"


def test_many_outliers_are_told() -> None:
    _, facts = good()
    counts = np.arange(len(facts.uv)) % 10 != 0
    assert only(list(outliers(replace(facts, counts=counts)))).finding.startswith("10% of the features")
    assert not list(outliers(facts))


def test_lens_types_that_disagree_ask_for_the_aperture() -> None:
    found = only(list(lens_types(profiles(-0.1, 0.03, 0.0), 7.0, aperture=False)))
    assert found.importance == 3
    assert "residuals of type 0 and 1 drift apart, by 0.91 px" in found.finding
    assert "aperture-aware" in found.remedy


def test_an_aperture_that_does_not_explain_it_all_is_told_more_mildly() -> None:
    found = only(list(lens_types(profiles(-0.1, 0.03, 0.0), 7.0, aperture=True)))
    assert found.importance == 2
    assert "f-number" in found.remedy


def test_lens_types_that_agree_within_their_errors_are_fine() -> None:
    assert not list(lens_types(profiles(-0.1, 0.03, error=0.05), 7.0, aperture=False))
    assert not list(lens_types(profiles(0.001, 0.005), 7.0, aperture=False)), "0.03 px"
    assert not list(lens_types(profiles(0.1), 7.0, aperture=False)), "one type cannot disagree"


def test_blur_radii_that_are_off_in_the_median_are_told_by_type() -> None:
    _, facts = good()
    residual = facts.residual.copy()
    residual[facts.lens_type == 1, 2] -= 0.5
    found = only(list(blur_radii(replace(facts, residual=residual))))
    assert "lens type 1 are predicted 0.50 px too small" in found.finding
    assert not list(blur_radii(facts))


def test_without_white_images_one_is_asked_for() -> None:
    assert "white images" in only(list(centers(fitted_at_truth(with_centers=False)))).remedy


def test_centres_off_the_array_are_told() -> None:
    adjustment, _ = good()
    off = replace(adjustment.fit, center_residuals=adjustment.fit.center_residuals + 0.5)
    assert "0.7" in only(list(centers(replace(adjustment, fit=off)))).finding
    assert not list(centers(adjustment))


def test_a_focal_length_far_from_the_printed_one_is_told() -> None:
    longer = replace(CAMERA, main_lens=replace(CAMERA.main_lens, focal_length=56.0))
    assert "F came out at 56.00 mm" in only(list(focal_length(longer, CAMERA, None))).finding
    assert "its σ is 1 mm" in only(list(focal_length(longer, CAMERA, known("main_lens.focal_length")))).finding
    assert not list(focal_length(CAMERA, CAMERA, None))


def test_white_images_that_agree_with_the_boards_say_nothing() -> None:
    assert not list(board_size(CAMERA, whites(CAMERA), CAMERA, aperture=True))
    unknown = replace(whites(CAMERA), slope=np.nan)
    assert not list(board_size(CAMERA, unknown, CAMERA, aperture=True))


def test_a_board_stated_too_large_fits_as_well_but_the_white_images_tell() -> None:
    """The board's squares are 10 mm, 12 mm are stated; the residuals stay, d/D does not."""
    poses = usual_poses()
    features, middles = features_of(CAMERA, BOARD, poses), centers_of(CAMERA)
    features = features.where(np.arange(len(features)) % 5 == 0)
    settings = AdjustSettings(hold=("distortion",), rounds=2)
    right = adjust(features, middles, BOARD, CAMERA, settings, start_poses=poses)
    start = {view: Pose(pose.rotation, 1.2 * pose.translation) for view, pose in poses.items()}
    wrong = adjust(features, middles, Board(5, 4, 12.0), CAMERA, settings, start_poses=start)
    assert wrong.rmse_uv < 1.02 * right.rmse_uv
    assert not list(board_size(right.camera, whites(CAMERA), CAMERA, aperture=True))
    found = only(list(board_size(wrong.camera, whites(CAMERA), CAMERA, aperture=True)))
    factor = float(found.finding.split("a factor of about ")[1].split(";")[0])
    assert abs(factor * 12 / 10 - 1) < 0.05
    assert "calibrate aperture-aware" not in found.remedy


def test_parameters_that_cannot_be_told_apart_are_named() -> None:
    pair = known("main_lens.focal_length", "sensor.position.z", correlation=0.9995)
    found = only(list(correlations(pair)))
    assert "main_lens.focal_length and sensor.position.z are correlated by 0.99950" in found.finding
    assert not list(correlations(known("main_lens.focal_length", "sensor.position.z", correlation=0.995)))


def test_parts_that_move_together_by_construction_are_no_news() -> None:
    names = ("micro_lenses.translation.z", "sensor.position.z")
    assert not list(correlations(known(*names, correlation=0.99999)))
    assert not list(correlations(known("micro_lenses.pitch.x", "micro_lenses.pitch.y", correlation=0.9999)))
    with_focal = known("main_lens.focal_length", *names, correlation=0.9999)
    assert len(list(correlations(with_focal))) == 1, "F and the place along z are one finding"


def test_radial_coefficients_that_go_together_matter_less() -> None:
    found = only(list(correlations(known("distortion.Q1", "distortion.Q2", correlation=0.9995))))
    assert found.importance == 1
    assert "Q3" in found.remedy


def test_frames_that_contradict_each_other_are_told() -> None:
    assert "3.0 times" in only(list(scatter(known("main_lens.focal_length", factor=9.0)))).finding
    assert not list(scatter(known("main_lens.focal_length", factor=2.0)))


def test_a_depth_that_stays_uncertain_is_told_where_it_is_worst() -> None:
    _, facts = good()
    unsure = Uncertainty(("micro_lenses.translation.z",), np.array([[0.05**2]]), 1.0, 1.0, {})
    found = only(list(depth_precision(CAMERA, unsure, facts)))
    assert f"At {facts.depth.min():.0f} mm" in found.finding
    sure = replace(unsure, covariance=unsure.covariance / 1e4)
    assert not list(depth_precision(CAMERA, sure, facts))
