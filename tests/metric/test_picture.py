"""The picture of a depth map: its colours tell near from far, and what is missing is dark."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.metric.picture import MARGIN, MISSING, TITLE, depth_picture, ticks

DARK = tuple(bytes.fromhex(MISSING[1:]))


def ramp() -> np.ndarray:
    """Depths (40, 60) mm that grow to the right, with a hole."""
    depth = np.tile(np.linspace(500, 1500, 60, dtype=np.float32), (40, 1))
    depth[10:20, 30:40] = np.nan
    return depth


def test_near_is_bright_and_missing_is_dark() -> None:
    picture = depth_picture(ramp(), "a ramp", "mm").astype(int)
    times = 14  # 60 columns become 840
    line = picture[MARGIN + TITLE + 5, MARGIN : MARGIN + 60 * times]
    brightness = line.sum(axis=-1)
    assert brightness[times] > brightness[30 * times] > brightness[-times]
    assert tuple(picture[MARGIN + TITLE + 15 * times, MARGIN + 35 * times]) == DARK


def test_virtual_depth_is_bright_where_it_is_large() -> None:
    picture = depth_picture(ramp(), "a ramp", "virtual depth").astype(int)
    line = picture[MARGIN + TITLE + 5, MARGIN : MARGIN + 840].sum(axis=-1)
    assert line[20] < line[820]


def test_a_large_map_is_thinned_and_a_small_one_enlarged() -> None:
    assert depth_picture(np.ones((3000, 4000), np.float32), "", "mm").shape[1] < 1400
    assert depth_picture(np.ones((10, 20), np.float32), "", "mm").shape[1] > 800


def test_a_warning_stands_above_the_map() -> None:
    plain, warned = depth_picture(ramp(), "t", "mm"), depth_picture(ramp(), "t", "mm", warning="do not trust")
    assert len(warned) == len(plain) + TITLE
    red = (warned == np.array([0xB0, 0, 0x20])).all(axis=-1)
    assert red.mean() > 0.02
    assert not (plain == np.array([0xB0, 0, 0x20])).all(axis=-1).any()


def test_a_map_without_depth_says_so() -> None:
    picture = depth_picture(np.full((30, 40), np.nan, np.float32), "empty", "mm")
    inside = picture[MARGIN + TITLE : -MARGIN, MARGIN : MARGIN + 800]
    assert (inside == DARK).all(axis=-1).mean() > 0.9
    assert inside.max() > 200  # letters


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (873.0, 921.0, [880, 890, 900, 910, 920]),
        (2.1, 2.3, [2.1, 2.15, 2.2, 2.25, 2.3]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)
