"""A frame at a glance."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_figures import drawn, texts

from plenodepth.view.figures.overview import overview_figure

TRUTH = np.full((30, 40), 800, np.float32)
COLORS = np.full((30, 40, 3), 120, np.uint8)
PART = slice(4, 10), slice(8, 16)


@pytest.mark.parametrize("channels", [(), (3,)])
def test_the_titles_say_how_far_off_the_maps_are(channels: tuple[int, ...]) -> None:
    raw = np.random.default_rng(0).integers(0, 4000, (60, 80, *channels), np.uint16)
    found = {"coarse": 1.01 * TRUTH, "refined": np.where(np.arange(40) < 20, 0.97 * TRUTH, np.float32(np.nan))}
    figure = overview_figure(raw, PART, COLORS, COLORS, TRUTH, found, "one frame")
    assert drawn(figure)
    said = texts(figure)
    for text in ("one frame", "coarse: 1.0 % off", "refined: 3.0 % off", "refined: error"):
        assert text in said


def test_maps_without_depth_have_an_overview() -> None:
    nothing = np.full_like(TRUTH, np.nan)
    figure = overview_figure(np.ones((60, 80)), PART, COLORS, COLORS, TRUTH, {"coarse": nothing}, "dark")
    assert drawn(figure)
    assert "coarse: no depth" in texts(figure)
