"""The intersection of two discs: its area, its moments, and how they change with the discs.

`radius` is that of the disc about the origin, `other` that of the disc whose centre lies `distance` along x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

GAUSS = np.polynomial.legendre.leggauss(24)


class DiscMoments(NamedTuple):
    """Area, and moments about the first centre along (x) and across (y) the line between the centres."""

    area: Array
    first: Array  # ∫x
    along: Array  # ∫x²
    across: Array  # ∫y²
    third: Array  # ∫x³


def common_moments(radius: ArrayLike, other: ArrayLike, distance: ArrayLike) -> DiscMoments:
    """Moments of the intersection of disc(0, radius) and disc(distance, other); broadcasts, distance ≥ 0."""
    a, b, d = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (radius, other, distance)))
    # The intersection is the first disc's segment beyond the common chord and the second's before it.
    arcs = _arcs(a, b, d)
    area_a, first_a = _segment(a, arcs.first)
    area_b, first_b = _segment(b, arcs.second)
    along_a, across_a = _second_of_segment(a, arcs.first)
    along_b, across_b = _second_of_segment(b, arcs.second)
    return DiscMoments(
        area=area_a + area_b,
        first=first_a + d * area_b - first_b,
        along=along_a + d**2 * area_b - 2 * d * first_b + along_b,
        across=across_a + across_b,
        third=_third_of_segment(a, arcs.first) + _third_of_far_segment(b, d, arcs.second),
    )


def common_area(radius: ArrayLike, other: ArrayLike, distance: ArrayLike) -> Array:
    """`common_moments(...).area` alone, in a fraction of the time."""
    return common_area_and_first(radius, other, distance)[0]


def common_area_and_first(radius: ArrayLike, other: ArrayLike, distance: ArrayLike) -> tuple[Array, Array]:
    """Area and ∫x of `common_moments` alone, in a fraction of the time."""
    a, b, d = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (radius, other, distance)))
    arcs = _arcs(a, b, d)
    area_a, first_a = _segment(a, arcs.first)
    area_b, first_b = _segment(b, arcs.second)
    return area_a + area_b, first_a + d * area_b - first_b


class DiscSlopes(NamedTuple):
    """Derivatives of `DiscMoments.area` and `.first` by the distance of the centres and by the other disc's radius."""

    area_by_distance: Array
    first_by_distance: Array
    area_by_other: Array
    first_by_other: Array


def common_slopes(radius: ArrayLike, other: ArrayLike, distance: ArrayLike) -> DiscSlopes:
    """How the moments of `common_moments` change.

    Only the other disc's arc inside the first disc moves: by cos θ with the distance and by 1 with the radius, where θ
    is a point's direction from the other centre. So each derivative is one integral over that arc.
    """
    a, b, d = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (radius, other, distance)))
    arcs = _arcs(a, b, d)
    angle, half = arcs.second, arcs.half_chord
    return DiscSlopes(
        area_by_distance=-2 * half,
        first_by_distance=b**2 * (angle + np.sin(2 * angle) / 2) - 2 * half * d,
        area_by_other=2 * b * angle,
        first_by_other=2 * b * (d * angle - half),
    )


class _Arcs(NamedTuple):
    """Half the angle at either centre under which the disc's part of the intersection is seen, and half the chord."""

    first: Array
    second: Array
    half_chord: Array


def _arcs(a: Array, b: Array, d: Array) -> _Arcs:
    """π: the disc is whole, inside the other; 0: no part of it bounds the intersection."""
    apart, inside = d >= a + b, d <= np.maximum(np.abs(a - b), 1e-30 * a)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # Factors instead of squares: they stay exact where the discs nearly coincide, and where one is a million times
        # as large as the other.
        factors = (a + b + d, a + b - d, d + (a - b), d + (b - a))
        half = np.prod([np.sqrt(np.maximum(factor, 0)) for factor in factors], axis=0) / (2 * d)
        near = d < np.maximum(a, b) / 2
        chord = np.where(near, d + (a - b) * ((a + b) / d), ((d - b) * (d + b) + a**2) / d) / 2
        rest = np.where(near, d + (b - a) * ((a + b) / d), ((d - a) * (d + a) + b**2) / d) / 2
    smaller = a <= b
    return _Arcs(
        np.where(apart, 0, np.where(inside, np.where(smaller, np.pi, 0), np.arctan2(half, chord))),
        np.where(apart, 0, np.where(inside, np.where(smaller, 0, np.pi), np.arctan2(half, rest))),
        np.where(apart | inside, 0, half),
    )


def _segment(radius: Array, angle: Array) -> tuple[Array, Array]:
    """Area and ∫x of the part x ≥ radius · cos(angle) of disc(0, radius)."""
    return radius**2 / 2 * _less_sine(2 * angle), 2 / 3 * (radius * np.sin(angle)) ** 3


def _second_of_segment(radius: Array, angle: Array) -> tuple[Array, Array]:
    """∫x² and ∫y² of the same."""
    double, quadruple = _less_sine(2 * angle), _less_sine(4 * angle)
    return radius**4 / 16 * quadruple, radius**4 / 6 * (double - quadruple / 8)


def _third_of_segment(radius: Array, angle: Array) -> Array:
    """∫x³ of the same."""
    return np.asarray(2 / 15 * radius**5 * np.sin(angle) ** 3 * (2 + 3 * np.cos(angle) ** 2))


def _third_of_far_segment(radius: Array, distance: Array, angle: Array) -> Array:
    """∫x³ of the part x ≤ distance − radius · cos(angle) of disc(distance, radius).

    By Gauss's rule: from the moments about the disc's own centre, what is left of a huge disc would be rounding.
    """
    width = 2 * radius * np.sin(angle / 2) ** 2
    total = np.zeros(np.shape(width))
    for node, weight in zip(*GAUSS, strict=True):
        turn = np.pi / 2 * (1 + node)  # from the disc's first point (0) to the chord (π)
        depth = width * np.sin(turn / 2) ** 2
        chord = 2 * np.sqrt(depth * (2 * radius - depth))
        total += weight * np.pi / 4 * np.sin(turn) * width * chord * (distance - radius + depth) ** 3
    return total


def _less_sine(angle: Array) -> Array:
    """angle − sin(angle), also where both are nearly the same."""
    square = angle**2
    series = angle * square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72)))
    return np.where(angle < 0.3, series, angle - np.sin(angle))
