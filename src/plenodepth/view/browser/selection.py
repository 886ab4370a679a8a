"""Which points are shown: those within the limits, thinned by level to as many as the browser is to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.view.browser.clouds import ShownCloud

DRAWN_POINTS = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What a point must keep to; None: no limit. A value that is not a number keeps to no limit."""

    least_confidence: float | None = None
    largest_sigma: float | None = None
    near: float | None = None
    far: float | None = None


@dataclass(frozen=True, eq=False)
class Selection:
    """The points that are shown."""

    index: NDArray[np.intp]  # into the cloud
    within: int  # number of points within the limits
    total: int  # of the cloud
    level: int  # 0: all of them; k: one of 2^k

    @property
    def sentence(self) -> str:
        """How many there are, and how many of them are drawn."""
        text = f"{self.within:,} of {self.total:,} points are within the limits"
        if not self.level:
            return f"{text}; all of them are drawn."
        return f"{text}; {len(self.index):,} are drawn: one in {2**self.level} (level {self.level})."


def select(cloud: ShownCloud, limits: Limits, most: int = DRAWN_POINTS) -> Selection:
    """The points of a cloud within the limits, at most about so many of them, evenly thinned."""
    keep: NDArray[np.bool_] | None = None
    for column, least, largest in (
        (cloud.confidence, limits.least_confidence, None),
        (cloud.sigma, None, limits.largest_sigma),
        (cloud.depth, limits.near, limits.far),
    ):
        if column is not None:
            keep = _within(keep, column, least, largest)
    index: NDArray[Any] = np.arange(len(cloud)) if keep is None else np.flatnonzero(keep)
    within, level = len(index), 0
    if within > most:
        levels = cloud.levels[index]
        while np.count_nonzero(levels >= level) > most and level < levels.max():
            level += 1
        index = index[levels >= level]
    return Selection(index, within, len(cloud), level)


def _within(
    keep: NDArray[np.bool_] | None, values: NDArray[np.float32], least: float | None, largest: float | None
) -> NDArray[np.bool_] | None:
    for limit, compare in ((least, np.greater_equal), (largest, np.less_equal)):
        if limit is not None:
            passes = compare(values, np.float32(limit))
            keep = passes if keep is None else keep & passes
    return keep
