"""Every analytic derivative of the adjustment's residuals equals the numeric one, whatever the optics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from ideal_features import BOARD, ideal_centers, ideal_features, small_camera, spread_poses

from plenodepth.calib.bundle.residuals import Seen, center_residuals, feature_residuals
from plenodepth.camera import ExitPupil, PlenopticCamera, fitted_to_lenses
from plenodepth.camera.model import Array, Distortion
from plenodepth.camera.parameters import intrinsic_names, perturbed_camera
from plenodepth.geometry import Pose

POSE = spread_poses()[3]
RELATIVE = 1e-6
# In the unit of each parameter: the differences are of fourth order, so that rounding is what limits them.
STEPS = {
    "Q1": 1e-6, "Q2": 1e-8, "Q3": 1e-10, "P1": 1e-6, "P2": 1e-6, "focal_length": 1e-4, "rotation": 1e-6,
    "translation": 1e-5, "pitch": 1e-8, "focal_lengths": 1e-6, "position": 1e-5, "pixel_size": 1e-8,
    "exit_pupil": 1e-3, "clear_aperture": 1e-5,
}  # fmt: skip


def tilted(camera: PlenopticCamera) -> PlenopticCamera:
    """The camera with its lens array turned by some mrad about its middle, and with a visible distortion."""
    lenses = camera.micro_lenses
    turned = lenses.cam_from_mla.perturbed([2e-3, -3e-3, 1e-3, 0, 0, 0])
    bent = Distortion.from_coefficients(np.array([1e-4, -1e-6, 1e-8, 2e-5, -3e-5]))
    return replace(camera, micro_lenses=replace(lenses, cam_from_mla=turned), distortion=bent)


def with_optics(pupil: ExitPupil | None, clear_aperture: float | None = None) -> PlenopticCamera:
    camera = tilted(small_camera())
    return fitted_to_lenses(
        replace(
            camera,
            main_lens=replace(camera.main_lens, exit_pupil=pupil),
            micro_lenses=replace(camera.micro_lenses, clear_aperture=clear_aperture),
        )
    )


CAMERAS = {
    "thin lens": with_optics(None),
    "pupil before": with_optics(ExitPupil(-15.0, None, (0.8, -0.5))),
    "pupil behind": with_optics(ExitPupil(20.0, 9.0, (-0.6, 0.3))),
    "narrow lenses": with_optics(ExitPupil(20.0, 9.0), 0.9),
}


def step_of(name: str) -> float:
    return next(step for part, step in STEPS.items() if part in name.split("."))


def differentiated(values: Callable[[float], Array], step: float) -> Array:
    """The derivative at 0 of a function, by differences of fourth order."""
    return np.asarray((8 * (values(step) - values(-step)) - (values(2 * step) - values(-2 * step))) / (12 * step))


def assert_derivative(analytic: Array, values: Callable[[float], Array], step: float, name: str) -> None:
    """`analytic` (n, ...) is the derivative of values (n, ...) wherever these have one.

    Where the aperture just begins to clip a pixel they have none: there two steps disagree, and nothing can be told.
    """
    numeric, half = (differentiated(values, size).reshape(len(analytic), -1) for size in (step, step / 2))
    limit = RELATIVE * np.abs(numeric).max() + 1e-12
    smooth = (np.abs(numeric - half) < limit / 2).all(axis=1)
    assert smooth.mean() > 0.9, name
    assert np.abs(analytic.reshape(len(analytic), -1) - half)[smooth].max() <= limit, name


def seen_by(camera: PlenopticCamera) -> Seen:
    features = ideal_features(camera, [POSE], sigma=0.0).where(slice(None, None, 5))  # type: ignore[arg-type]
    return Seen(BOARD.points(features.corner), features.k, features.l, features.uv, features.rho)


@pytest.mark.parametrize("aperture", [False, True])
@pytest.mark.parametrize("name", CAMERAS)
def test_features_by_the_camera_and_the_pose(name: str, aperture: bool) -> None:
    camera = CAMERAS[name]
    seen = seen_by(camera)

    def values(some: PlenopticCamera, pose: Pose) -> Array:
        return feature_residuals(seen, pose, some, aperture=aperture, derivatives=False).values

    _, by_intrinsics, by_pose = feature_residuals(seen, POSE, camera, aperture=aperture, derivatives=True)
    assert by_intrinsics is not None
    assert by_pose is not None
    names = intrinsic_names(camera)
    for index, parameter in enumerate(names):
        unit = np.eye(len(names))[index]
        assert_derivative(
            by_intrinsics[..., index],
            lambda by, unit=unit: values(perturbed_camera(camera, by * unit), POSE),  # type: ignore[misc]
            step_of(parameter),
            parameter,
        )
    for index, unit in enumerate(np.eye(6)):
        assert_derivative(
            by_pose[..., index],
            lambda by, unit=unit: values(camera, POSE.perturbed(by * unit)),  # type: ignore[misc]
            1e-5 if index < 3 else 1e-3,
            f"pose {index}",
        )


@pytest.mark.parametrize("name", CAMERAS)
def test_centres_by_the_camera(name: str) -> None:
    camera = CAMERAS[name]
    centers = ideal_centers(camera)
    _, jacobian = center_residuals(centers, camera, derivatives=True)
    assert jacobian is not None
    names = intrinsic_names(camera)
    for index, parameter in enumerate(names):
        unit = np.eye(len(names))[index]
        assert_derivative(
            jacobian[..., index],
            lambda by, unit=unit: center_residuals(  # type: ignore[misc]
                centers, perturbed_camera(camera, by * unit), derivatives=False
            )[0],
            step_of(parameter),
            parameter,
        )
