"""Lateral distortion φ of the image-side point (mm, centred on the optical axis), its Jacobians and exact inverse.

    x_d = x (1 + Q1 ς² + Q2 ς⁴ + Q3 ς⁶) + P1 (ς² + 2x²) + 2 P2 x y
    y_d = y (1 + Q1 ς² + Q2 ς⁴ + Q3 ς⁶) + P2 (ς² + 2y²) + 2 P1 x y        ς² = x² + y²

The calibrated inverse φ⁻¹ has the same form with its own five coefficients, so `distort` evaluates both.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from plenodepth.camera.model import Array, Distortion
from plenodepth.errors import PlenodepthError

NEWTON_STEPS = 30
NEWTON_TOLERANCE = 1e-13  # mm, for coordinates up to 10 mm: about their rounding; relative beyond
BLOCK = 16_384  # points worked on at a time: their temporaries stay in the processor's cache


def distort(points: Array, distortion: Distortion) -> Array:
    """φ(p): shifts x and y of points (..., 2 or 3) in mm, leaves z."""
    q1, q2, q3, p1, p2 = distortion.coefficients
    x, y = points[..., 0], points[..., 1]
    s = x * x + y * y
    radial = s * (q1 + s * (q2 + s * q3))
    moved = points.copy(order="K")
    moved[..., 0] += x * radial + p1 * (s + 2 * x * x) + 2 * p2 * x * y
    moved[..., 1] += y * radial + p2 * (s + 2 * y * y) + 2 * p1 * x * y
    return moved


def distort_jacobian(points: Array, distortion: Distortion) -> tuple[Array, Array]:
    """Derivatives of the distorted (x, y) by (x, y), (..., 2, 2), and by (Q1, Q2, Q3, P1, P2), (..., 2, 5)."""
    xx, xy, yy = _bend(points, distortion)
    by_point = np.empty((*xx.shape, 2, 2))
    by_point[..., 0, 0], by_point[..., 1, 1] = xx, yy
    by_point[..., 0, 1] = by_point[..., 1, 0] = xy
    return by_point, distortion_basis(points)


def _bend(points: Array, distortion: Distortion) -> tuple[Array, Array, Array]:
    """∂x_d/∂x, ∂x_d/∂y = ∂y_d/∂x and ∂y_d/∂y, (...) each."""
    q1, q2, q3, p1, p2 = distortion.coefficients
    x, y = points[..., 0], points[..., 1]
    s = x * x + y * y
    straight = 1 + s * (q1 + s * (q2 + s * q3)) + 2 * p1 * x + 2 * p2 * y
    slope = 2 * (q1 + s * (2 * q2 + s * 3 * q3))  # d(radial)/dx = slope · x
    return (
        straight + slope * x * x + 4 * p1 * x,
        slope * x * y + 2 * p1 * y + 2 * p2 * x,
        straight + slope * y * y + 4 * p2 * y,
    )


def distortion_basis(points: Array) -> Array:
    """What each of (Q1, Q2, Q3, P1, P2) adds to (x, y) per unit, (..., 2, 5): φ is linear in its coefficients."""
    x, y = points[..., 0], points[..., 1]
    s = x * x + y * y
    basis = np.empty((*x.shape, 2, 5))
    for axis, own in enumerate((x, y)):
        basis[..., axis, 0] = own * s
        basis[..., axis, 1] = own * s**2
        basis[..., axis, 2] = own * s**3
        basis[..., axis, 3 + axis] = s + 2 * own * own
        basis[..., axis, 4 - axis] = 2 * x * y
    return basis


def undistort_exactly(points: Array, distortion: Distortion, *, invalid: Literal["raise", "nan"] = "raise") -> Array:
    """φ⁻¹(p) by Newton's method to rounding.

    Far outside the image φ may fold over and have no inverse: an error, or NaN with `invalid="nan"`.
    """
    undone = points.copy(order="K")
    if not distortion.coefficients.any():
        return undone
    flat = undone.reshape(-1, points.shape[-1])  # a view, or a copy where the memory layout forbids it
    for start in range(0, len(flat), BLOCK):
        block = flat[start : start + BLOCK]
        block[:] = _undistort_block(np.asfortranarray(block), distortion, invalid)
    return flat.reshape(points.shape)


def _undistort_block(target: Array, distortion: Distortion, invalid: Literal["raise", "nan"]) -> Array:
    guess = target.copy(order="K")
    tolerance = NEWTON_TOLERANCE * np.maximum(1, np.abs(target[:, :2]) / 10)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # where φ folds, steps may go anywhere
        for _ in range(NEWTON_STEPS):
            error = (distort(guess, distortion) - target)[:, :2]
            if not (np.abs(error) > tolerance).any():  # NaN is not larger: missing points end here, too
                return guess
            xx, xy, yy = _bend(guess, distortion)
            determinant = xx * yy - xy * xy
            guess[:, 0] -= (yy * error[:, 0] - xy * error[:, 1]) / determinant
            guess[:, 1] -= (xx * error[:, 1] - xy * error[:, 0]) / determinant
        error = (distort(guess, distortion) - target)[:, :2]
    # Rounding may keep a point a little above the tolerance for ever; a fold keeps it far away.
    lost = ~(np.abs(error) <= 1e3 * tolerance).all(axis=1) & np.isfinite(target[:, :2]).all(axis=1)
    if invalid == "raise" and lost.any():
        raise PlenodepthError(
            f"distortion {np.array2string(distortion.coefficients, precision=3)} cannot be inverted at some points "
            f"({int(lost.sum())} of {len(target)})"
        )
    guess[lost] = np.nan
    return guess
