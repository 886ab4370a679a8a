"""Calibration of the inverse distortion φ⁻¹: five coefficients that undo φ over the virtual space the camera sees.

Five coefficients cannot undo φ to rounding: the product of two tangential terms has no counterpart among them, and in
the image's corners the high radial orders dominate. Fitted over the whole image they spoil the centre, so the fit
takes the middle of the field (half of the image's area), as board poses do in practice; Newton's inverse
(`undistort_exactly`) has no such limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plenodepth.camera.depth import VIRTUAL_RANGE, usable_virtual_range
from plenodepth.camera.distortion import distort, distortion_basis, undistort_exactly
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, Distortion, PlenopticCamera

SAMPLES = 20_000
FIELD = 0.7  # of the image's width and height, about its middle


@dataclass(frozen=True)
class InverseDistortionFit:
    """The calibrated φ⁻¹ and how well it undoes φ over the samples; errors in mm of the image-side point."""

    distortion: Distortion
    rmse: float  # of p − φ⁻¹(φ(p)), over points
    largest_error: float
    exact_rmse: float  # of p − Newton's inverse, for the same points: what is left is rounding
    largest_difference: float  # between φ⁻¹ and Newton's inverse
    iterations: int
    samples: int


def virtual_space_samples(
    camera: PlenopticCamera,
    samples: int = SAMPLES,
    seed: int = 0,
    field: float = 1.0,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
) -> Array:
    """Points (samples, 3) mm, uniform in the virtual space that the sensor sees: a frustum behind the main lens.

    `field` keeps that part of the image's width and height, about its middle.
    """
    generator = np.random.default_rng(seed)
    main, sensor = lens_distances(camera)
    nearest, farthest = sorted(main + v * sensor for v in usable_virtual_range(camera, virtual_range))
    # A slice of the frustum grows with the square of the distance; so does the density of distances.
    distance = np.cbrt(generator.uniform(nearest**3, farthest**3, samples))
    corners = camera.sensor.metric_from_image([[-0.5, -0.5], [camera.sensor.width - 0.5, camera.sensor.height - 0.5]])
    middle, half = corners.mean(axis=0), np.abs(corners[1] - corners[0]) / 2 * field
    xy = generator.uniform(middle - half, middle + half, (samples, 2))
    return np.column_stack([xy * (distance / (main + sensor))[:, None], -distance])


def calibrate_inverse_distortion(
    camera: PlenopticCamera, samples: int = SAMPLES, seed: int = 0, field: float = FIELD
) -> InverseDistortionFit:
    """Fit φ⁻¹ to the camera's φ by Levenberg–Marquardt on Σ |p − φ⁻¹(φ(p))|², p uniform in the virtual space."""
    from scipy.optimize import least_squares  # whose import takes longer than the fit

    points = virtual_space_samples(camera, samples, seed, field)
    distorted = distort(points, camera.distortion)
    basis = distortion_basis(distorted).reshape(-1, 5)
    # The coefficients differ by ten orders of magnitude; unit columns keep the normal equations solvable.
    column_norm = np.linalg.norm(basis, axis=0)
    scaled_basis = basis / column_norm
    shift = (distorted - points)[:, :2].ravel()

    def residuals(unknowns: Array) -> Array:
        return np.asarray(scaled_basis @ unknowns + shift)

    def jacobian(unknowns: Array) -> Array:
        return np.asarray(scaled_basis)  # the problem is linear

    solution = least_squares(
        residuals,
        -camera.distortion.coefficients * column_norm,  # first-order inverse
        jac=jacobian,
        method="lm",
        xtol=1e-15,
        ftol=1e-15,
        gtol=1e-15,
    )
    inverse = Distortion.from_coefficients(solution.x / column_norm)
    undone = distort(distorted, inverse)
    error = np.linalg.norm(undone - points, axis=1)
    exact = undistort_exactly(distorted, camera.distortion)
    return InverseDistortionFit(
        distortion=inverse,
        rmse=float(np.sqrt(np.mean(error**2))),
        largest_error=float(error.max()),
        exact_rmse=float(np.sqrt(np.mean(np.sum((exact - points) ** 2, axis=1)))),
        largest_difference=float(np.linalg.norm(undone - exact, axis=1).max()),
        iterations=int(solution.nfev),
        samples=samples,
    )
