"""The reference's choice of a hypothesis, its minimum between hypotheses, and its σ."""

import numpy as np
import pytest

from plenodepth.depth.kernels.constants import MISSING
from plenodepth.depth.kernels.reference.peaks import (
    best_hypotheses,
    five_point_minimum,
    three_point_minimum,
    unstretched,
)


def curve(*costs: float) -> np.ndarray:
    return np.array(costs, np.float32)


def test_the_lowest_cost_wins_and_its_rival_tells_how_sharp_it_is() -> None:
    best, sharpness = best_hypotheses(curve(5, 4, 1, 3, 4, 3, 2, 3, 4))
    assert best == 2
    assert sharpness == pytest.approx(1 - 1 / 2)


def test_without_a_rival_the_mean_of_every_second_stands_for_it() -> None:
    best, sharpness = best_hypotheses(curve(5, 3, 1, 3, 5, MISSING))
    assert best == 2
    assert sharpness == pytest.approx(1 - 1 / (11 / 3))


def test_beside_the_lowest_of_every_second_hypothesis_a_lower_one_is_found() -> None:
    best, sharpness = best_hypotheses(curve(5, 4, 3, 1, 2, 4, 6))
    assert best == 3
    assert sharpness == pytest.approx(1 - 1 / 4)


def test_a_dip_between_two_high_ones_is_not_looked_at() -> None:
    assert best_hypotheses(curve(5, 4, 2, 3, 5, 1, 6))[0] == 2


@pytest.mark.parametrize("costs", [(1, 2, 3, 4), (4, 3, 2, 1), (MISSING,) * 4])
def test_a_minimum_at_an_end_is_none(costs: tuple[float, ...]) -> None:
    best, sharpness = best_hypotheses(curve(*costs))
    assert best == -1
    assert sharpness == 0


def test_curves_side_by_side_are_judged_one_by_one() -> None:
    curves = np.stack([curve(3, 1, 2, 4), curve(1, 2, 3, 4)], axis=1)
    assert best_hypotheses(curves)[0].tolist() == [1, -1]


@pytest.mark.parametrize("place", [-0.7, 0.0, 0.4])
def test_squares_on_a_parabola_give_its_minimum(place: float) -> None:
    costs = tuple(np.sqrt(0.04 + 0.01 * (n - place) ** 2) for n in (-2, -1, 0, 1, 2))
    assert three_point_minimum(costs[1:4], 100, 0.0).place == pytest.approx(place)
    assert five_point_minimum(costs, 100, 0.0).place == pytest.approx(place)


def test_sigma_falls_with_the_pixels_down_to_its_floor() -> None:
    few, many = (three_point_minimum((0.3, 0.2, 0.3), pixels, 0.01).sigma for pixels in (50, 5000))
    assert few > 5 * many
    assert three_point_minimum((0.3, 0.2, 0.3), 1e12, 0.01).sigma == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("costs", [(0.3, 0.2, MISSING), (0.1, 0.2, 0.3), (0.2, 0.3, 0.2)])
def test_where_there_is_no_minimum_there_is_none(costs: tuple[float, float, float]) -> None:
    assert three_point_minimum(costs, 100, 0.0) is None


def test_unstretching_undoes_the_stretch() -> None:
    true, plane, stretch, ratio = 0.21, 0.18, 0.4, 1.03
    rest = (1 - ratio) / ratio
    found = (true + rest) / (1 + stretch * (true - plane)) - rest
    assert unstretched(found, plane, stretch, ratio) == pytest.approx(true)
