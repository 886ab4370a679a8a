"""Rigid transforms. A pose is named by its direction and chains: `cam_from_board(p_board) = p_cam`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError

Array = NDArray[np.float64]

# SciPy is imported where it is used: it would take most of the time of importing this package.

# Rotations printed with 6 digits are off by some 1e-6; anything further from orthonormal is not a rounding matter.
ORTHONORMAL_TOLERANCE = 1e-5


def cross_matrix(vectors: ArrayLike) -> Array:
    """The matrices [v]x with [v]x w = v × w; vectors (..., 3) → (..., 3, 3)."""
    v = np.asarray(vectors, dtype=np.float64)
    matrix = np.zeros((*v.shape[:-1], 3, 3))
    matrix[..., 0, 1], matrix[..., 0, 2] = -v[..., 2], v[..., 1]
    matrix[..., 1, 0], matrix[..., 1, 2] = v[..., 2], -v[..., 0]
    matrix[..., 2, 0], matrix[..., 2, 1] = -v[..., 1], v[..., 0]
    return matrix


def _rotated_and_shifted(rotation: Array, points: Array, translation: Array) -> Array:
    """rotation · p + translation for points (..., n), each coordinate contiguous in memory.

    Written out coordinate by coordinate: over millions of points, loops of length 2 or 3 would cost most of the time.
    """
    moved = np.empty((len(translation), *points.shape[:-1]))
    for axis, (row, shift) in enumerate(zip(rotation, translation, strict=True)):
        moved[axis] = shift
        for weight, coordinate in zip(row, np.moveaxis(points, -1, 0), strict=True):
            moved[axis] += weight * coordinate
    return np.moveaxis(moved, 0, -1)


@dataclass(frozen=True, eq=False)
class Pose:
    """p ↦ rotation · p + translation, with rotation (3, 3) orthonormal of determinant +1 and translation (3,) in mm."""

    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        rotation = np.array(self.rotation, dtype=np.float64)
        translation = np.array(self.translation, dtype=np.float64)
        if rotation.shape != (3, 3) or translation.shape != (3,):
            raise InputError(
                f"needs a 3 × 3 matrix and 3 numbers, got {rotation.shape} and {translation.shape}", field="pose"
            )
        if not (np.isfinite(rotation).all() and np.isfinite(translation).all()):
            raise InputError("holds a number that is not finite", field="pose")
        # The size first, so that the product cannot overflow into NaN, which no comparison would catch.
        bounded = bool(np.abs(rotation).max() <= 1 + ORTHONORMAL_TOLERANCE)
        orthonormal = bounded and np.abs(rotation @ rotation.T - np.eye(3)).max() <= ORTHONORMAL_TOLERANCE
        if not orthonormal or np.linalg.det(rotation) < 0:
            raise InputError(
                "is singular or not a rotation", field="pose.rotation", fix="rows must be orthonormal, determinant +1"
            )
        rotation.flags.writeable = translation.flags.writeable = False
        object.__setattr__(self, "rotation", rotation)
        object.__setattr__(self, "translation", translation)

    @classmethod
    def identity(cls) -> Pose:
        """The pose that moves nothing."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_rotation_vector(cls, rotation_vector: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """A pose from a rotation vector (axis times angle, rad) and a translation (mm)."""
        from scipy.spatial.transform import Rotation

        rotation = Rotation.from_rotvec(np.asarray(rotation_vector, dtype=np.float64)).as_matrix()
        return cls(rotation, np.asarray(translation, dtype=np.float64))

    @classmethod
    def from_euler_xyz(cls, angles: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """A pose with rotation Rx(a) · Ry(b) · Rz(c) for angles (a, b, c) in rad."""
        # Written out: SciPy's rotations take longer to import than many a command to run.
        (ca, cb, cc), (sa, sb, sc) = np.cos(angles), np.sin(angles)
        rotation = np.array(
            [
                [cb * cc, -cb * sc, sb],
                [ca * sc + sa * sb * cc, ca * cc - sa * sb * sc, -sa * cb],
                [sa * sc - ca * sb * cc, sa * cc + ca * sb * sc, ca * cb],
            ]
        )
        return cls(rotation, np.asarray(translation, dtype=np.float64))

    def euler_xyz(self) -> Array:
        """The angles (a, b, c), rad, with rotation = Rx(a) · Ry(b) · Rz(c)."""
        r = self.rotation
        return np.array(
            [
                np.arctan2(-r[1, 2], r[2, 2]),
                np.arctan2(r[0, 2], np.hypot(r[0, 0], r[0, 1])),
                np.arctan2(-r[0, 1], r[0, 0]),
            ]
        )

    def __call__(self, points: ArrayLike) -> Array:
        """Transform points (..., 3)."""
        return _rotated_and_shifted(self.rotation, np.asarray(points, dtype=np.float64), self.translation)

    def __matmul__(self, other: Pose) -> Pose:
        """Chain: `(a_from_b @ b_from_c)(p) = a_from_b(b_from_c(p))`."""
        return Pose(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def inverse(self) -> Pose:
        """The pose that undoes this one."""
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def perturbed(self, step: ArrayLike) -> Pose:
        """The pose after a small step (6,): rotation · exp([step[:3]]x), translation + step[3:]."""
        from scipy.spatial.transform import Rotation

        delta = np.asarray(step, dtype=np.float64)
        turn = Rotation.from_rotvec(delta[:3]).as_matrix()
        return Pose(self.rotation @ turn, self.translation + delta[3:])

    def jacobian(self, points: ArrayLike) -> Array:
        """Derivative of `self.perturbed(step)(points)` at step = 0; points (..., 3) → (..., 3, 6)."""
        p = np.asarray(points, dtype=np.float64)
        by_step = np.empty((*p.shape[:-1], 3, 6))
        by_step[..., :3] = -self.rotation @ cross_matrix(p)
        by_step[..., 3:] = np.eye(3)
        return by_step


@dataclass(frozen=True, eq=False)
class PlanarPose:
    """p ↦ R(angle) · p + translation in the plane, with R = [[cos, −sin], [sin, cos]]; translation (2,) in pixels."""

    angle: float
    translation: Array

    def __post_init__(self) -> None:
        translation = np.array(self.translation, dtype=np.float64)
        if translation.shape != (2,) or not (np.isfinite(translation).all() and np.isfinite(self.angle)):
            raise InputError("needs a finite angle and two finite numbers", field="pose")
        translation.flags.writeable = False
        object.__setattr__(self, "angle", float(self.angle))
        object.__setattr__(self, "translation", translation)

    @property
    def rotation(self) -> Array:
        """The matrix R(angle), (2, 2)."""
        c, s = np.cos(self.angle), np.sin(self.angle)
        return np.array([[c, -s], [s, c]])

    def __call__(self, points: ArrayLike) -> Array:
        """Transform points (..., 2)."""
        return _rotated_and_shifted(self.rotation, np.asarray(points, dtype=np.float64), self.translation)

    def inverse(self) -> PlanarPose:
        """The pose that undoes this one."""
        return PlanarPose(-self.angle, -self.rotation.T @ self.translation)
