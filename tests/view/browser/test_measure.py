from __future__ import annotations

import numpy as np
import pytest

from plenodepth.view.browser.measure import measured_distance


def test_points_behind_each_other_add_the_errors_of_their_depths() -> None:
    found = measured_distance([0, 0, 900], [0, 0, 1000], (3.0, 4.0))
    assert found.length == pytest.approx(100)
    assert found.sigma == pytest.approx(5)


def test_points_beside_each_other_hardly_feel_their_depths() -> None:
    found = measured_distance([-5, 0, 1000], [5, 0, 1000], (10.0, 10.0))
    assert found.length == pytest.approx(10)
    assert found.sigma == pytest.approx(10 * 5 / 1000 * np.sqrt(2))


def test_sigma_is_that_of_many_draws() -> None:
    random = np.random.default_rng(1)
    p, q, sigmas = np.array([-120.0, 40, 800]), np.array([200.0, -30, 1100]), (4.0, 9.0)
    drawn = [
        point * (1 + random.normal(0, sigma / point[2], (200_000, 1)))
        for point, sigma in zip((p, q), sigmas, strict=False)
    ]
    lengths = np.linalg.norm(drawn[0] - drawn[1], axis=1)
    found = measured_distance(p, q, sigmas)
    assert found.sigma == pytest.approx(lengths.std(), rel=0.01)
    assert found.length == pytest.approx(lengths.mean(), abs=0.1)


def test_without_the_sigma_of_a_point_there_is_none() -> None:
    assert measured_distance([0, 0, 900], [0, 0, 1000], (None, 4.0)).sigma is None
    assert str(measured_distance([0, 0, 900], [0, 0, 1000], (np.nan, 4.0))) == "100.0 mm (σ unknown)"


@pytest.mark.parametrize(
    ("sigmas", "text"),
    [((3.0, 4.0), "100.0 ± 5.0 mm"), ((30.0, 40.0), "100 ± 50 mm"), ((0.03, 0.04), "100.000 ± 0.050 mm")],
)
def test_it_is_written_with_the_digits_that_sigma_allows(sigmas: tuple[float, float], text: str) -> None:
    assert str(measured_distance([0, 0, 900], [0, 0, 1000], sigmas)) == text


def test_a_point_is_no_distance_from_itself() -> None:
    assert measured_distance([1, 2, 900], [1, 2, 900], (3.0, 4.0)).length == 0
