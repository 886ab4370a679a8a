"""Do the colour filters that are stated fit the image? A mosaic taken for gray has errors that look like texture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.raw.demosaicing import sites
from plenodepth.raw.levels import Levels

GREEN = 1
MOST_UNLIKE = 0.03  # difference of the mean light of pixels that have the same filter; of gray images it is below 0.005


def said_of_filters(numbers: NDArray[Any], pattern: str | None, levels: Levels) -> list[str]:
    """What speaks against a pattern of filters, or against none, in an image (h, w); an image in colour has none.

    The mean light of pixels in even and odd rows and columns differs where filters of unlike colours stand there. So it
    must not where there are no filters, nor between the two greens of a pattern.
    """
    if numbers.ndim != 2:
        return []
    light = {
        (row, column): float(np.mean(numbers[row::2, column::2], dtype=np.float64)) - levels.black
        for row in (0, 1)
        for column in (0, 1)
    }
    mean = float(np.mean(list(light.values())))
    places = [(row, column) for row, column, channel in sites(pattern) if channel == GREEN] if pattern else list(light)
    same = [light[place] for place in places]
    unlike = (max(same) - min(same)) / mean if mean > 0 and np.isfinite(mean) else 0.0
    if not unlike > MOST_UNLIKE:
        return []
    if pattern is None:
        return [
            f"pixels of even and odd rows and columns differ in brightness by {100 * unlike:.0f} %, as those of a "
            "mosaic of colour filters do: name its filters (--bayer), else depth is up to several per cent off"
        ]
    return [
        f"the two greens of {pattern} differ in brightness by {100 * unlike:.0f} %: the filters have another order "
        "(--bayer), and depth is up to several per cent off"
    ]
