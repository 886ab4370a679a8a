"""The bundle adjustment, on features of the camera model with noise, and on the real R12-A."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ideal_features import (
    BOARD,
    CENTER_SIGMA,
    SIGMA,
    ideal_centers,
    ideal_features,
    nominal,
    small_camera,
    spread_poses,
)

from plenodepth.calib.advice.fit_rules import exit_pupil
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.held_parameters import held_parameter, held_parameters
from plenodepth.calib.bundle.parameter_uncertainty import (
    Uncertainty,
    depth_uncertainty,
    derived_parameters,
    uncertainty,
)
from plenodepth.calib.bundle.problem import objective, solve
from plenodepth.calib.bundle.residuals import Seen, feature_residuals
from plenodepth.calib.bundle.settings import FOCAL, AdjustSettings
from plenodepth.calib.bundle.start_poses import corner_depths, pinhole_poses
from plenodepth.calib.feature_files import read_centers, read_features
from plenodepth.calib.features import Board, Features
from plenodepth.calib.whites.libpleno_start import initial_camera_from_libpleno
from plenodepth.camera import ExitPupil, PlenopticCamera, fitted_to_lenses, project, virtual_from_metric
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.parameters import (
    CLEAR_APERTURE,
    PUPIL_DIAMETER,
    PUPIL_DISTANCE,
    intrinsic_names,
    intrinsic_values,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

CAMERA = small_camera()
POSES = spread_poses()
FEW = POSES[::2]
EVERY = 4  # features that tests of what happens, not of how exactly, take one of


def some_features(camera: PlenopticCamera, poses: Sequence[Pose], **options: Any) -> Features:
    """One in four of the ideal features: an adjustment takes a quarter of the time."""
    return ideal_features(camera, poses, **options).where(slice(None, None, EVERY))  # type: ignore[arg-type]


def normalised_errors(result: Adjustment, known: Uncertainty, true: PlenopticCamera) -> np.ndarray:
    names = intrinsic_names(true)
    found, truth = (dict(zip(names, intrinsic_values(camera), strict=True)) for camera in (result.camera, true))
    return np.array([(found[name] - truth[name]) / sigma for name, sigma in zip(known.names, known.sigma, strict=True)])


@pytest.fixture(scope="module")
def aware() -> tuple[Adjustment, Uncertainty]:
    result = adjust(
        ideal_features(CAMERA, POSES), ideal_centers(CAMERA), BOARD, nominal(CAMERA), AdjustSettings(aperture=True)
    )
    return result, uncertainty(result.problem, result.estimate, result.considered)


def test_corners_are_predicted_where_they_appear() -> None:
    points = POSES[3](BOARD.points(np.arange(BOARD.corner_count)))
    features = ideal_features(CAMERA, [POSES[3]], sigma=0.0)
    seen = Seen(BOARD.points(features.corner), features.k, features.l, features.uv, features.rho)
    values = feature_residuals(seen, POSES[3], CAMERA, aperture=True, derivatives=False).values
    shift = project(points[features.corner], features.k, features.l, CAMERA).uv - features.uv
    assert np.abs(shift).max() > 1.5
    assert np.abs(values[:, :2]).max() < 0.02


def test_pinhole_poses_start_near_the_true_ones() -> None:
    features = ideal_features(CAMERA, POSES, apparent=False)
    candidates = pinhole_poses(corner_depths(features, CAMERA), BOARD, CAMERA)
    for frame, true in enumerate(POSES):
        distance = min(np.linalg.norm(pose(BOARD.points(22)) - true(BOARD.points(22))) for pose in candidates[frame, 0])
        assert distance < 0.03 * true.translation[2]


def test_cluster_depths_are_the_boards_virtual_depths() -> None:
    features = ideal_features(CAMERA, POSES, apparent=False)
    clusters = corner_depths(features, CAMERA)
    depth = np.array([POSES[f](BOARD.points(c))[2] for f, c in zip(clusters.frame, clusters.corner, strict=True)])
    true = virtual_from_metric(depth, CAMERA)
    many = clusters.views > 10
    assert np.median(np.abs(clusters.virtual_depth[many] / true[many] - 1)) < 0.01


def test_the_true_camera_comes_back_within_its_stated_uncertainty(aware: tuple[Adjustment, Uncertainty]) -> None:
    result, known = aware
    assert result.converged
    assert result.rmse_uv == pytest.approx(np.sqrt(2) * SIGMA, rel=0.05)
    errors = normalised_errors(result, known, CAMERA)
    assert np.abs(errors).max() < 4
    assert known.scatter_factor < 2


def test_depth_is_right_after_an_aware_calibration(aware: tuple[Adjustment, Uncertainty]) -> None:
    """Within what it states; a small sensor leaves F, and so depth, to its nominal value, here 0.23 % off."""
    result, known = aware
    depth = np.array([270.0, 300.0, 330.0, 350.0])
    found, sigma = depth_uncertainty(virtual_from_metric(depth, CAMERA), result.camera, known)
    assert (np.abs(found - depth) < 3 * sigma).all()
    np.testing.assert_allclose(found, depth, rtol=0.005)


def test_boards_stand_where_they_stood(aware: tuple[Adjustment, Uncertainty]) -> None:
    for (frame, _), pose in aware[0].estimate.poses.items():
        assert pose(BOARD.points(22))[2] == pytest.approx(POSES[frame](BOARD.points(22))[2], rel=0.005)


def test_exchanged_lens_types_are_found_out() -> None:
    start = nominal(CAMERA)
    wrong = CAMERA.micro_lenses.focal_lengths[[1, 0, 2]]
    swapped = replace(start, micro_lenses=replace(start.micro_lenses, focal_lengths=wrong))
    settings = AdjustSettings(aperture=True)
    result = adjust(some_features(CAMERA, FEW), ideal_centers(CAMERA), BOARD, swapped, settings)
    assert any(note.startswith("lens types 0 and 1 were exchanged") for note in result.notes)
    np.testing.assert_allclose(result.camera.micro_lenses.focal_lengths, CAMERA.micro_lenses.focal_lengths, rtol=0.03)


def test_an_unaware_calibration_is_biased() -> None:
    """The aperture's effect goes into d, and residuals stay: the bias that the paper's Γ repairs."""
    features, centers = some_features(CAMERA, FEW), ideal_centers(CAMERA)
    result = adjust(features, centers, BOARD, nominal(CAMERA), AdjustSettings(aperture=False))
    found = {item.name: item.value for item in derived_parameters(result.camera, _known(result))}
    true = {item.name: item.value for item in derived_parameters(CAMERA, _known(result))}
    assert found["d"] > 1.2 * true["d"]
    assert result.rmse_uv > 2 * np.sqrt(2) * SIGMA


def test_a_fifth_of_wrong_features_does_no_harm() -> None:
    features, generator = ideal_features(CAMERA, POSES), np.random.default_rng(7)
    wrong = generator.random(len(features)) < 0.2
    uv = features.uv + wrong[:, None] * generator.uniform(-8, 8, (len(features), 2))
    settings = AdjustSettings(aperture=True)
    result = adjust(replace(features, uv=uv), ideal_centers(CAMERA), BOARD, nominal(CAMERA), settings)
    assert np.abs(normalised_errors(result, _known(result), CAMERA)).max() < 5
    far = np.linalg.norm(uv - features.uv, axis=1)
    order = np.lexsort((features.corner, features.board, features.frame))
    assert (result.fit.weight[far[order] > 2] == 0).all()


def test_held_parameters_stay_and_priors_pull() -> None:
    features, centers, start = some_features(CAMERA, FEW), ideal_centers(CAMERA), nominal(CAMERA)
    held = adjust(features, centers, BOARD, start, AdjustSettings(aperture=True, hold=("distortion", FOCAL)))
    np.testing.assert_array_equal(held.camera.distortion.coefficients, 0)
    assert held.camera.main_lens.focal_length == 50.0
    tight = AdjustSettings(aperture=True, priors={FOCAL: (49.5, 1e-4)})
    pulled = adjust(features, centers, BOARD, start, tight)
    assert pulled.camera.main_lens.focal_length == pytest.approx(49.5, abs=0.01)


def test_a_prior_may_be_about_the_distances_of_the_optics() -> None:
    settings = AdjustSettings(aperture=True, priors={"D": (56.0, 1e-4), "d": (0.34, 1e-5)}, hold=("distortion",))
    result = adjust(some_features(CAMERA, POSES[::3]), ideal_centers(CAMERA), BOARD, nominal(CAMERA), settings)
    assert -result.camera.micro_lenses.cam_from_mla.translation[2] == pytest.approx(56.0, abs=0.01)
    corner = lens_distances(result.camera, 63, 47)  # the array's frame begins at this lens
    assert corner.to_sensor == pytest.approx(0.34, abs=1e-4)


def test_a_prior_is_not_outvoted_by_frames_that_contradict_each_other() -> None:
    """Boards of slightly other sizes than stated: each frame is sure of its own F, and all disagree."""
    generator, parts = np.random.default_rng(4), []
    for frame, pose in enumerate(FEW):
        other = Board(9, 5, 3.0 * (1 + 0.02 * generator.normal()))
        mine = some_features(CAMERA, [pose], board=other, seed=frame)
        parts.append(replace(mine, frame=np.full(len(mine), frame)))
    settings = AdjustSettings(aperture=True, priors={FOCAL: (50.0, 0.2)})
    result = adjust(Features.joined(parts), ideal_centers(CAMERA), BOARD, nominal(CAMERA), settings)
    known = _known(result)
    assert known.scatter_factor > 10
    assert abs(result.camera.main_lens.focal_length - 50.0) < 0.2
    assert known.sigma[known.names.index(FOCAL)] <= 0.2


def with_pupil(camera: PlenopticCamera, pupil: ExitPupil) -> PlenopticCamera:
    return fitted_to_lenses(replace(camera, main_lens=replace(camera.main_lens, exit_pupil=pupil)))


@pytest.mark.parametrize("distance", [pytest.param(-15.0, marks=pytest.mark.slow), 20.0])
def test_a_pupil_elsewhere_comes_back_within_its_stated_uncertainty(distance: float) -> None:
    """Freed, it is found from corners and white centres, and F stays; a thin lens does not fit them."""
    true = with_pupil(CAMERA, ExitPupil(distance, 10.0))
    features, centers = ideal_features(true, POSES), ideal_centers(true)
    settings = AdjustSettings(aperture=True, free=(PUPIL_DISTANCE, PUPIL_DIAMETER))
    result = adjust(features, centers, BOARD, nominal(true), settings)
    known = _known(result)
    assert result.converged
    pupil = result.camera.main_lens.exit_pupil
    assert pupil is not None
    assert pupil.diameter is not None
    sigma = dict(zip(known.names, known.sigma, strict=True))
    assert abs(pupil.distance - distance) < 2 * sigma[PUPIL_DISTANCE] < 20
    assert abs(pupil.diameter - 10.0) < 2 * sigma[PUPIL_DIAMETER]
    assert np.abs(normalised_errors(result, known, true)).max() < 3.5


def test_a_held_pupil_is_asked_for_where_the_white_centres_spread_otherwise(
    aware: tuple[Adjustment, Uncertainty],
) -> None:
    """One step from the solution tells where it would go; a thin lens is content with itself."""
    thin, known = aware
    content = held_parameter(thin.problem, thin.estimate, PUPIL_DISTANCE, known.scatter_factor)
    assert content.gain < 9
    assert content.gain == pytest.approx((content.step / content.sigma) ** 2)
    assert not list(exit_pupil(thin, known))
    true = with_pupil(CAMERA, ExitPupil(-15.0))
    features, settings = ideal_features(true, POSES), AdjustSettings(aperture=True)
    result = adjust(features, ideal_centers(true), BOARD, nominal(true), settings)
    asked = held_parameter(result.problem, result.estimate, PUPIL_DISTANCE, _known(result).scatter_factor)
    assert asked.gain > 36
    assert asked.step == pytest.approx(-15, abs=8)
    (advice,) = exit_pupil(result, _known(result))
    assert "--free e" in advice.remedy
    both = held_parameters(result.problem, result.estimate, (PUPIL_DISTANCE, PUPIL_DIAMETER))
    alone = held_parameter(result.problem, result.estimate, PUPIL_DISTANCE)
    assert both.gain + both.rest >= alone.gain
    assert both.sigma[0] >= alone.sigma


def test_the_objective_is_what_the_solver_minimises(aware: tuple[Adjustment, Uncertainty]) -> None:
    result, _ = aware
    solution = solve(result.problem, result.estimate)
    assert objective(result.problem, solution.estimate) == pytest.approx(2 * solution.cost, rel=1e-9)
    assert objective(result.problem, solution.estimate) <= objective(result.problem, result.estimate) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("settings", "centers", "says"),
    [
        ({"free": ("distortion",)}, True, "is not held anyhow"),
        ({"free": (PUPIL_DISTANCE,)}, False, "is told by micro-image centres alone"),
        ({"free": (PUPIL_DIAMETER,)}, True, "is told by an adjustment that is aperture-aware alone"),
        ({"free": (CLEAR_APERTURE,), "use_rho": False}, True, "is told by blur radii"),
    ],
)
def test_what_nothing_tells_is_not_freed(settings: dict[str, Any], centers: bool, says: str) -> None:
    features, white = ideal_features(CAMERA, POSES[:1]), ideal_centers(CAMERA) if centers else None
    with pytest.raises(InputError, match=says):
        adjust(features, white, BOARD, nominal(CAMERA), AdjustSettings(**settings))


def test_a_pupil_that_is_not_freed_is_held() -> None:
    camera = with_pupil(CAMERA, ExitPupil(12.0))
    start = replace(nominal(camera), main_lens=replace(nominal(camera).main_lens, exit_pupil=ExitPupil(12.0)))
    result = adjust(some_features(camera, FEW), ideal_centers(camera), BOARD, start, AdjustSettings(aperture=True))
    assert result.camera.main_lens.exit_pupil == ExitPupil(12.0)
    assert result.rmse_centers < 2 * CENTER_SIGMA


@pytest.mark.parametrize("settings", [{"hold": ("d",)}, {"hold": ("focus",)}, {"priors": {"micro_lenses": (1, 1)}}])
def test_an_unknown_parameter_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no parameter"):
        adjust(ideal_features(CAMERA, POSES[:1]), None, BOARD, nominal(CAMERA), AdjustSettings(**settings))


def test_boards_at_one_distance_leave_the_optics_unknown() -> None:
    poses = spread_poses(5, near=300.0, far=302.0, tilt=0.05)
    settings = AdjustSettings(aperture=True, priors={FOCAL: (50.0, 10.0)})
    result = adjust(some_features(CAMERA, poses), ideal_centers(CAMERA), BOARD, nominal(CAMERA), settings)
    wide = adjust(some_features(CAMERA, FEW), ideal_centers(CAMERA), BOARD, nominal(CAMERA), settings)
    sigmas = [{d.name: d.sigma for d in derived_parameters(r.camera, _known(r))} for r in (result, wide)]
    assert sigmas[0]["D"] > 3 * sigmas[1]["D"]


def test_a_wrong_board_size_shows() -> None:
    """All distances scale with the board, and a lens of fixed F then does not: F leaves its nominal value."""
    features, centers = some_features(CAMERA, FEW), ideal_centers(CAMERA)
    result = adjust(features, centers, Board(9, 5, 3.3), nominal(CAMERA), AdjustSettings(aperture=True))
    assert any("F is held" in note for note in result.notes)


def test_pinholes_are_calibrated_without_blur() -> None:
    camera = small_camera()
    pinholes = replace(
        camera,
        micro_images=replace(camera.micro_images, type_pattern=np.zeros((0, 0), dtype=np.int64)),
        micro_lenses=replace(camera.micro_lenses, focal_lengths=np.zeros(0)),
        white_radius=None,
    )
    features = some_features(pinholes, POSES, apparent=False)
    features = replace(features, rho=np.full(len(features), np.nan), rho_sigma=np.full(len(features), np.nan))
    result = adjust(features, ideal_centers(pinholes), BOARD, nominal(pinholes), AdjustSettings())
    assert result.camera.type_count == 0
    assert np.isnan(result.rmse_rho)
    assert np.abs(normalised_errors(result, _known(result), pinholes)).max() < 4


def test_features_without_a_board_are_refused() -> None:
    features = ideal_features(CAMERA, POSES[:2])
    nobody = replace(features, corner=np.full(len(features), -1))
    with pytest.raises(InputError, match="no feature that belongs to a board"):
        adjust(nobody, None, BOARD, nominal(CAMERA))
    with pytest.raises(InputError, match="the board has 4 × 3"):
        adjust(features, None, Board(4, 3, 3.0), nominal(CAMERA))


def test_a_frame_with_few_features_is_left_out_and_said() -> None:
    features = some_features(CAMERA, FEW)
    few = features.where((features.frame != 2) | (np.cumsum(features.frame == 2) <= 5))
    result = adjust(few, ideal_centers(CAMERA), BOARD, nominal(CAMERA), AdjustSettings(aperture=True))
    assert (2, 0) not in result.estimate.poses
    assert any(note.startswith("frame 2") for note in result.notes)


@pytest.mark.realdata
def test_real_r12a(real_data: Path) -> None:
    """From the nominal numbers to residuals at or below those of the authors' own calibrated camera."""
    folder = real_data / "r12a"
    features, centers = read_features(folder / "bap-R12-A.csv"), read_centers(folder / "center-R12-A.csv")
    start = initial_camera_from_libpleno(folder / "camera.js", folder / "params.js", centers)
    result = adjust(features, centers, Board(9, 5, 10.0), start)
    known = _known(result)
    assert result.converged
    assert result.rmse_uv <= 0.969
    assert result.rmse_centers <= 0.30
    assert result.camera.main_lens.focal_length == pytest.approx(49.9, rel=0.01)
    derived = {item.name: item for item in derived_parameters(result.camera, known)}
    assert derived["pitch"].value == pytest.approx(0.12746, rel=1e-3)
    for name, published in (("D", 56.86), ("u0", 2078.3), ("v0", 1591.0), ("d", 0.33713)):
        assert abs(derived[name].value - published) < 3 * derived[name].sigma, name
    assert {"micro_lenses.translation.z", "main_lens.focal_length"} <= {
        n for pair in known.correlated() for n in pair[:2]
    }


@pytest.mark.realdata
def test_real_r12a_with_the_exit_pupil_free(real_data: Path) -> None:
    """White centres spread less than those of a thin lens of the nominal F: with e free, F stays near it, and free."""
    folder = real_data / "r12a"
    features, centers = read_features(folder / "bap-R12-A.csv"), read_centers(folder / "center-R12-A.csv")
    start = initial_camera_from_libpleno(folder / "camera.js", folder / "params.js", centers)
    result = adjust(features, centers, Board(9, 5, 10.0), start, AdjustSettings(free=(PUPIL_DISTANCE,)))
    sigma = dict(zip(_known(result).names, _known(result).sigma, strict=True))
    assert FOCAL in sigma
    assert not result.considered
    assert result.rmse_uv <= 0.93
    assert result.camera.main_lens.focal_length == pytest.approx(50.0, rel=0.03)
    assert result.camera.main_lens.pupil_distance == pytest.approx(21.0, abs=2 * sigma[PUPIL_DISTANCE])


def _known(result: Adjustment) -> Uncertainty:
    return uncertainty(result.problem, result.estimate, result.considered)


def test_features_are_joined_in_order() -> None:
    features = ideal_features(CAMERA, POSES[:3])
    parts = [features.where(features.frame == frame) for frame in features.frames]
    np.testing.assert_array_equal(Features.joined(parts).uv, features.uv)
