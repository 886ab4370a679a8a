"""Defocus blur of the micro-lenses: signed radius ρ, its line over 1/v, and the relative blur of two lens types.

A point at signed distance a from the lens (negative behind it, v = −a/d) is blurred to a disc of radius
    r = B d/2 (1/f − 1/a − 1/d) = B/2 (1/v + d/f − 1)      [mm],   ρ = r/s      [px].
ρ = 0 on the lens' focus plane, at a0 = d f/(d − f).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.micro_lenses import lens_distances, require_blur
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.errors import InputError


def blur_radius(diameter: float, to_sensor: Array, focal: Array, distance: Array) -> Array:
    """Signed radius r (mm) of the circle of confusion; lens diameter B, d, f and the point's signed distance a, mm."""
    return diameter * to_sensor / 2 * (1 / focal - 1 / distance - 1 / to_sensor)


class BlurRadiusJacobian(NamedTuple):
    """Derivatives of `blur_radius` by each of its arguments."""

    by_diameter: Array
    by_to_sensor: Array
    by_focal: Array
    by_distance: Array


def blur_radius_jacobian(diameter: float, to_sensor: Array, focal: Array, distance: Array) -> BlurRadiusJacobian:
    """Derivatives of `blur_radius` by B, d, f and a."""
    return BlurRadiusJacobian(
        by_diameter=to_sensor / 2 * (1 / focal - 1 / distance - 1 / to_sensor),
        by_to_sensor=diameter / 2 * (1 / focal - 1 / distance),
        by_focal=-diameter * to_sensor / (2 * focal**2),
        by_distance=diameter * to_sensor / (2 * distance**2),
    )


UNFOCUSED = 1e-9  # |1/v| below this is a focus at infinity behind the lens, apart from rounding


class BlurLine(NamedTuple):
    """ρ = slope/v + intercepts[type], px: m and q_i of the paper."""

    slope: float
    intercepts: Array

    def radius(self, virtual_depth: ArrayLike, lens_type: int | Indices) -> Array:
        """Signed ρ, px, at a virtual depth for a lens type."""
        return np.asarray(self.slope / np.asarray(virtual_depth, dtype=np.float64) + self.intercepts[lens_type])

    def virtual_depth(self, radius: ArrayLike, lens_type: int | Indices) -> Array:
        """v at which a lens type has the signed blur radius ρ, px: the inverse of `radius`."""
        inverse = (np.asarray(radius, dtype=np.float64) - self.intercepts[lens_type]) / self.slope
        with np.errstate(divide="ignore"):
            return np.where(np.abs(inverse) < UNFOCUSED, np.inf, 1 / inverse)


def blur_line(camera: PlenopticCamera, k: int | None = None, l: int | None = None) -> BlurLine:
    """m = B/(2s) and q_i = B (d/f_i − 1)/(2s), px, with d of lens (k, l) or at the array's centre."""
    require_blur(camera)
    half = camera.micro_lenses.lens_diameter / (2 * camera.sensor.pixel_size)
    to_sensor = lens_distances(camera, k, l).to_sensor
    return BlurLine(half, half * (to_sensor / camera.micro_lenses.focal_lengths - 1))


def inverse_focus_distance(camera: PlenopticCamera, k: int | None = None, l: int | None = None) -> Array:
    """1/a0 = 1/f − 1/d per lens type (I,), mm⁻¹: zero when unfocused, where a0 itself is infinite."""
    require_blur(camera)
    return 1 / camera.micro_lenses.focal_lengths - 1 / lens_distances(camera, k, l).to_sensor


class RelativeBlur(NamedTuple):
    """Δr² = r_i² − r_j² = slope/v + intercept, mm²: m_ij and q_ij of the paper, arrays (..., I, I) indexed [i, j]."""

    slope: Array
    intercept: Array

    def difference(self, virtual_depth: ArrayLike, reference: int | Indices, target: int | Indices) -> Array:
        """Δr² (mm²) at a virtual depth between lens types `reference` (i) and `target` (j)."""
        v = np.asarray(virtual_depth, dtype=np.float64)
        return np.asarray(self.slope[reference, target] / v + self.intercept[reference, target])


def relative_blur(camera: PlenopticCamera, k: int | None = None, l: int | None = None) -> RelativeBlur:
    """m_ij = B² d/2 (1/a0_i − 1/a0_j), q_ij = B² d²/4 (1/a0_i² − 1/a0_j²) for all pairs of types."""
    inverse = inverse_focus_distance(camera, k, l)
    to_sensor = lens_distances(camera, k, l).to_sensor
    diameter = camera.micro_lenses.lens_diameter
    return RelativeBlur(
        slope=diameter**2 * to_sensor / 2 * np.subtract.outer(inverse, inverse),
        intercept=diameter**2 * to_sensor**2 / 4 * np.subtract.outer(inverse**2, inverse**2),
    )


def relative_spread(
    virtual_depth: ArrayLike, reference: int | Indices, target: int | Indices, camera: PlenopticCamera
) -> Array:
    """σ_r = κ |Δr²|^½ / s, px: the spread by which the sharper of two views must be blurred to equal the other."""
    if camera.blur_coefficient is None:
        raise InputError(
            f"camera '{camera.name}' has no blur coefficient κ", field="blur_coefficient", fix="calibrate it"
        )
    difference = relative_blur(camera).difference(virtual_depth, reference, target)
    return camera.blur_coefficient * np.sqrt(np.abs(difference)) / camera.sensor.pixel_size
