"""Poses form a group, and their Jacobians are derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from plenodepth.errors import InputError
from plenodepth.geometry import PlanarPose, Pose

vectors = arrays(np.float64, 3, elements=st.floats(-3, 3))
points = arrays(np.float64, (4, 3), elements=st.floats(-100, 100))
poses = st.builds(Pose.from_rotation_vector, vectors, vectors)


@given(poses, points)
def test_inverse_undoes_a_pose(pose: Pose, p: np.ndarray) -> None:
    assert np.allclose(pose.inverse()(pose(p)), p, atol=1e-10)


@given(poses, poses, points)
def test_chaining_applies_the_right_pose_first(a: Pose, b: Pose, p: np.ndarray) -> None:
    assert np.allclose((a @ b)(p), a(b(p)), atol=1e-10)


@given(poses)
def test_euler_angles_give_the_rotation_back(pose: Pose) -> None:
    assert np.allclose(Pose.from_euler_xyz(pose.euler_xyz()).rotation, pose.rotation, atol=1e-7)


@given(vectors)
def test_euler_angles_are_those_of_intrinsic_turns_about_x_then_y_then_z(angles: np.ndarray) -> None:
    expected = Rotation.from_euler("XYZ", angles).as_matrix()
    np.testing.assert_allclose(Pose.from_euler_xyz(angles).rotation, expected, atol=1e-14)


@given(poses, points)
def test_jacobian_is_the_derivative_of_a_perturbation(pose: Pose, p: np.ndarray) -> None:
    h = 1e-6
    numeric = np.stack(
        [(pose.perturbed(h * step)(p) - pose.perturbed(-h * step)(p)) / (2 * h) for step in np.eye(6)], axis=-1
    )
    assert np.allclose(pose.jacobian(p), numeric, atol=1e-6)


@pytest.mark.parametrize(
    "rotation",
    [np.zeros((3, 3)), np.diag([1.0, 1.0, -1.0]), np.eye(3) * 1.01, np.full((3, 3), np.nan), np.eye(2)],
    ids=["singular", "reflection", "scaled", "nan", "wrong shape"],
)
def test_a_matrix_that_is_no_rotation_is_refused(rotation: np.ndarray) -> None:
    with pytest.raises(InputError, match="pose"):
        Pose(rotation, np.zeros(3))


def test_a_pose_cannot_be_changed_afterwards() -> None:
    pose = Pose.identity()
    with pytest.raises(ValueError, match="read-only"):
        pose.translation[0] = 1


@given(
    st.floats(-3, 3),
    arrays(np.float64, 2, elements=st.floats(-50, 50)),
    arrays(np.float64, (5, 2), elements=st.floats(-50, 50)),
)
def test_planar_inverse_undoes_a_planar_pose(angle: float, shift: np.ndarray, p: np.ndarray) -> None:
    pose = PlanarPose(angle, shift)
    assert np.allclose(pose.inverse()(pose(p)), p, atol=1e-10)
