"""The intersection of two discs: moments against integrals, slopes against differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.geometry.discs import common_moments, common_slopes

SIZES = st.floats(0.01, 10)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def integrated(a: float, b: float, d: float) -> list[float]:
    """∫1, ∫x, ∫x², ∫y², ∫x³ over disc(0, a) ∩ disc(d, b), by strips across x; no disc's formula is used."""
    first, last = max(-a, d - b), min(a, d + b)
    if first >= last:
        return [0.0] * 5
    crossing = (d * d + a * a - b * b) / (2 * d) if d else first
    ends = [first, *([crossing] if first < crossing < last else []), last]
    total = np.zeros(5)
    for low, high in pairwise(ends):
        angle = NODES * np.pi / 2  # x = middle + width sin(angle): the roots at the rims do no harm
        x = (low + high) / 2 + (high - low) / 2 * np.sin(angle)
        weight = WEIGHTS * np.pi / 2 * (high - low) / 2 * np.cos(angle)
        height = np.sqrt(np.clip(np.minimum(a**2 - x**2, b**2 - (x - d) ** 2), 0, None))
        area, first, along, third = (weight @ (2 * height * x**power) for power in range(4))
        total += [area, first, along, weight @ (2 / 3 * height**3), third]
    return total.tolist()


@given(SIZES, SIZES, st.floats(0, 25))
def test_moments_of_two_discs_are_their_integrals(a: float, b: float, d: float) -> None:
    np.testing.assert_allclose(common_moments(a, b, d), integrated(a, b, d), atol=1e-6 * (1 + a**5), rtol=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "d"),
    [
        (1.0, 3.0, 1.0),  # the first inside the other
        (3.0, 1.0, 1.0),  # the other inside the first
        (2.0, 2.0, 0.0),  # equal
        (1.0, 2.0, 1.0),  # touching from inside
        (2.0, 1.0, 1.0),
        (1.0, 2.0, 3.0),  # touching from outside
        (1.0, 2.0, 4.0),  # apart
        (1.0, 2.0, 2.9999),  # a sliver
        (1.0, 2.0, 1.0001),
        (2.0, 2.0, 1.5),
    ],
)
def test_every_way_that_two_discs_can_lie(a: float, b: float, d: float) -> None:
    np.testing.assert_allclose(common_moments(a, b, d), integrated(a, b, d), atol=2e-9)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_a_huge_disc_cuts_as_a_half_plane_does(size: float) -> None:
    edge = np.array([-0.9, -0.3, 0.0, 0.5, 0.99])  # the rim of the huge disc, which lies to the right of it
    found = common_moments(1.0, size, size + edge)
    angle = np.arccos(edge)
    expected = [
        angle - np.sin(2 * angle) / 2,
        2 / 3 * np.sin(angle) ** 3,
        (angle - np.sin(4 * angle) / 4) / 4,
        2 / 3 * (3 * angle / 8 - np.sin(2 * angle) / 4 + np.sin(4 * angle) / 32),
        2 / 15 * np.sin(angle) ** 3 * (2 + 3 * edge**2),
    ]
    np.testing.assert_allclose(found, expected, atol=2 / size + 1e-8)


def test_moments_broadcast() -> None:
    found = common_moments(1.0, np.array([0.5, 2.0])[:, None], np.linspace(0, 2, 7))
    assert {part.shape for part in found} == {(2, 7)}
    assert found.area[0, 3] == common_moments(1.0, 0.5, 1.0).area


@given(SIZES, SIZES, st.floats(0.01, 25))
def test_slopes_are_those_of_the_moments(a: float, b: float, d: float) -> None:
    step = 1e-5 * min(a, b, d)
    if min(abs(d - a - b), abs(d - abs(a - b))) < 3 * step:  # a kink
        return
    near, far = common_moments(a, b, d - step), common_moments(a, b, d + step)
    small, large = common_moments(a, b - step, d), common_moments(a, b + step, d)
    found = common_slopes(a, b, d)
    expected = [
        (far.area - near.area) / (2 * step),
        (far.first - near.first) / (2 * step),
        (large.area - small.area) / (2 * step),
        (large.first - small.first) / (2 * step),
    ]
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-4 * (1 + a**2 + b**2))
