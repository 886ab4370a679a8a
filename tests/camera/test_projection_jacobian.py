"""Every analytic derivative equals the numeric one."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, unfocused

from plenodepth.camera import (
    ExitPupil,
    PlenopticCamera,
    fitted_to_lenses,
    intrinsic_names,
    lens_center,
    perturbed_camera,
    predicted_center,
    predicted_center_jacobian,
    preset,
    project,
    project_jacobian,
    unproject,
    usable_virtual_range,
)
from plenodepth.camera.blur import blur_radius, blur_radius_jacobian
from plenodepth.camera.distortion import distort, distort_jacobian
from plenodepth.camera.thin_lens import image_point, image_point_jacobian
from plenodepth.geometry import Pose

CAMERAS = {
    "r12-a": lambda: preset("r12-a"),
    "r12-mini": lambda: preset("r12-mini"),
    "keplerian": keplerian,
    "unfocused": unfocused,
    "pinhole": lambda: preset("r12-b-pinhole"),
    "pupil before": lambda: with_real_optics(preset("r12-b"), ExitPupil(-15.0, 12.0, (0.8, -0.5)), 0.9),
    "pupil behind": lambda: with_real_optics(preset("r12-a"), ExitPupil(20.0), None),
}
# Steps for which truncation and rounding of a central difference are both small, in the unit of each parameter.
STEPS = {
    "main_lens.focal_length": 2e-5,
    "distortion.Q1": 1e-6,
    "distortion.Q2": 1e-8,
    "distortion.Q3": 1e-10,
    "distortion.P1": 1e-6,
    "distortion.P2": 1e-6,
    "micro_lenses.rotation": 1e-6,
    "micro_lenses.translation": 1e-6,
    "micro_lenses.pitch": 1e-8,
    "micro_lenses.focal_lengths": 1e-6,
    "sensor.position": 1e-6,
    "sensor.pixel_size": 1e-9,
    "main_lens.exit_pupil": 1e-5,
    "micro_lenses.clear_aperture": 1e-5,
}


def with_real_optics(camera: PlenopticCamera, pupil: ExitPupil, clear_aperture: float | None) -> PlenopticCamera:
    return fitted_to_lenses(
        replace(
            camera,
            main_lens=replace(camera.main_lens, exit_pupil=pupil),
            micro_lenses=replace(camera.micro_lenses, clear_aperture=clear_aperture),
        )
    )


def step_of(name: str) -> float:
    return next(step for beginning, step in STEPS.items() if name.startswith(beginning))


def scene(camera: PlenopticCamera) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(5)
    lattice = camera.micro_images.lattice
    k, l = generator.integers(0, lattice.columns, 30), generator.integers(0, lattice.rows, 30)
    far, near = usable_virtual_range(camera, (2, 10))
    v = generator.uniform(far + 0.2 * (near - far), near, 30)
    uv = camera.micro_images.center(k, l) + generator.uniform(-6, 6, (30, 2))
    return unproject(uv, k, l, v, camera, depth_scale=False), k, l


def features(camera: PlenopticCamera, points: np.ndarray, k: np.ndarray, l: np.ndarray) -> np.ndarray:
    seen = project(points, k, l, camera)
    return np.concatenate([seen.uv, seen.rho[..., None]], axis=-1)


def assert_close(analytic: np.ndarray, numeric: np.ndarray, name: str) -> None:
    assert np.array_equal(np.isnan(analytic), np.isnan(numeric)), name
    scale = np.nanmax(np.abs(numeric)) if np.isfinite(numeric).any() else 0
    assert np.nanmax(np.abs(analytic - numeric), initial=0) <= 2e-6 * scale + 1e-12, name


@pytest.mark.filterwarnings("ignore:All-NaN")
@pytest.mark.parametrize("name", CAMERAS)
def test_projection_by_every_intrinsic_parameter(name: str) -> None:
    camera = CAMERAS[name]()
    points, k, l = scene(camera)
    jacobian = project_jacobian(points, k, l, camera).by_intrinsics
    names = intrinsic_names(camera)
    assert jacobian.shape == (30, 3, len(names))
    for index, parameter in enumerate(names):
        step = np.eye(len(names))[index] * step_of(parameter)
        numeric = (
            features(perturbed_camera(camera, step), points, k, l)
            - features(perturbed_camera(camera, -step), points, k, l)
        ) / (2 * step_of(parameter))
        assert_close(jacobian[..., index], numeric, parameter)


@pytest.mark.parametrize("name", CAMERAS)
def test_projection_by_point_and_pose(name: str) -> None:
    camera = CAMERAS[name]()
    points, k, l = scene(camera)
    pose = Pose.from_rotation_vector([0.3, -0.2, 0.5], [1.0, 2.0, 30.0])
    board = pose.inverse()(points)
    jacobian = project_jacobian(points, k, l, camera)
    for axis in range(3):
        step = np.eye(3)[axis] * 1e-4
        numeric = (features(camera, points + step, k, l) - features(camera, points - step, k, l)) / 2e-4
        assert_close(jacobian.by_point[..., axis], numeric, f"point {axis}")
    by_pose = jacobian.by_pose(pose, board)
    for axis in range(6):
        size = 1e-7 if axis < 3 else 1e-4
        step = np.eye(6)[axis] * size
        numeric = (
            features(camera, pose.perturbed(step)(board), k, l) - features(camera, pose.perturbed(-step)(board), k, l)
        ) / (2 * size)
        assert_close(by_pose[..., axis], numeric, f"pose {axis}")


@pytest.mark.parametrize("name", CAMERAS)
def test_micro_image_centres_by_every_intrinsic_parameter(name: str) -> None:
    camera = CAMERAS[name]()
    _, k, l = scene(camera)
    jacobian = predicted_center_jacobian(k, l, camera)
    names = intrinsic_names(camera)
    for index, parameter in enumerate(names):
        size = step_of(parameter)
        step = np.eye(len(names))[index] * size
        numeric = (
            predicted_center(k, l, perturbed_camera(camera, step))
            - predicted_center(k, l, perturbed_camera(camera, -step))
        ) / (2 * size)
        assert_close(jacobian[..., index], numeric, parameter)


def test_thin_lens() -> None:
    p = np.random.default_rng(0).uniform([-50, -50, 200], [50, 50, 900], (20, 3))
    by_point, by_focal = image_point_jacobian(p, 50.0)
    for axis in range(3):
        step = np.eye(3)[axis] * 1e-4
        assert_close(by_point[..., axis], (image_point(p + step, 50.0) - image_point(p - step, 50.0)) / 2e-4, str(axis))
    assert_close(by_focal, (image_point(p, 50.0 + 1e-5) - image_point(p, 50.0 - 1e-5)) / 2e-5, "F")


def test_distortion() -> None:
    p = np.random.default_rng(0).uniform(-12, 12, (20, 2))
    distortion = preset("r12-a").distortion
    by_point, by_coefficients = distort_jacobian(p, distortion)
    for axis in range(2):
        step = np.eye(2)[axis] * 1e-5
        numeric = (distort(p + step, distortion) - distort(p - step, distortion)) / 2e-5
        assert_close(by_point[..., axis], numeric, str(axis))
    for index in range(5):
        step = np.eye(5)[index] * 1e-6
        forward, backward = (
            distort(p, type(distortion).from_coefficients(distortion.coefficients + sign * step)) for sign in (1, -1)
        )
        assert_close(by_coefficients[..., index], (forward - backward) / 2e-6, f"coefficient {index}")


def test_blur_radius() -> None:
    values = {"diameter": 0.127, "to_sensor": 0.34, "focal": 0.55, "distance": -2.0}
    jacobian = blur_radius_jacobian(**{key: np.float64(value) for key, value in values.items()})
    for key, derivative in zip(values, jacobian, strict=True):
        forward, backward = (blur_radius(**{**values, key: values[key] + sign * 1e-6}) for sign in (1, -1))
        assert np.isclose(derivative, (forward - backward) / 2e-6, rtol=1e-6)


def test_a_step_moves_the_lens_centres_as_it_says() -> None:
    camera = preset("r12-mini")
    names = intrinsic_names(camera)
    step = np.zeros(len(names))
    step[names.index("micro_lenses.translation.z")] = 0.01
    moved = lens_center(3, 4, perturbed_camera(camera, step)) - lens_center(3, 4, camera)
    assert np.allclose(moved, [0, 0, 0.01], atol=1e-12)
    assert perturbed_camera(camera, 0 * step).provenance is camera.provenance
    assert np.array_equal(replace(camera).micro_lenses.pitch, perturbed_camera(camera, 0 * step).micro_lenses.pitch)
