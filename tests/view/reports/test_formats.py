"""Numbers as people write them."""

from __future__ import annotations

import pytest

from plenodepth.view.reports.formats import cell_text, duration, with_sigma


@pytest.mark.parametrize(
    ("value", "sigma", "text"),
    [
        (49.88528, 0.0021, "49.8853 ± 0.0021"),
        (56.875, 0.287, "56.88 ± 0.29"),
        (1895.6, 90.4, "1896 ± 90"),
        (1895.6, 904.0, "1896 ± 904"),
        (-2.46e-4, 7.1e-6, "(-2.460 ± 0.071)·10⁻⁴"),
        (1.2e-9, 5e-9, "(1.2 ± 5.0)·10⁻⁹"),
        (0.0055, None, "0.0055"),
        (0.0, 0.1, "0.00 ± 0.10"),
        (3.0, 0.0, "3"),
    ],
)
def test_numbers_have_as_many_places_as_their_sigma(value: float, sigma: float | None, text: str) -> None:
    assert with_sigma(value, sigma) == text


def test_numbers_as_people_read_them() -> None:
    assert [cell_text(cell) for cell in (None, float("nan"), "B/C/S", 3, 2.10342, 12345.67, 1.2e-7, True)] == [
        "–", "–", "B/C/S", "3", "2.103", "12345.7", "1.2e-07", "yes",
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (None, 95.2, 720, 11100)] == ["–", "95 s", "12 min", "3 h 05 min"]
