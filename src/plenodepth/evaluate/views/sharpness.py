"""Sharpness from a slanted edge, after ISO 12233: the modulation transfer function and where it falls to one half.

An edge that crosses the pixel grid at a slant is sampled finer than the grid by its rows together. Each row tells
where the edge is; a line through those places gives every pixel its distance from the edge; the means over quarter
pixels of distance are the edge-spread function. Its derivative is the line-spread function, whose Fourier transform,
relative to that at zero, is the modulation transfer function.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal.windows import tukey

Float64 = NDArray[np.float64]

OVERSAMPLING = 4  # bins per px
LEAST_CONTRAST = 0.1  # of the light: (bright − dark)/(bright + dark)
LEAST_SLANT = 1.5  # px that the edge must move sideways from the first row to the last: quarter pixels of all phases


class SlantedEdge(NamedTuple):
    """The line of an edge in a window: column = offset + slope · row, or with rows and columns exchanged."""

    slope: float
    offset: float
    residual: float  # px, root mean square of the rows' places about the line
    upright: bool  # nearer to the columns' direction than to the rows'


class Sharpness(NamedTuple):
    """The modulation transfer function (n,) at frequencies (n,) in cycles per px, and where it first falls to ½."""

    frequency: Float64
    modulation: Float64
    mtf50: float  # cycles per px; NaN where it does not fall to ½


def edge_line(window: NDArray[Any]) -> SlantedEdge | None:
    """The line of the edge in a window (h, w) of linear light; None where rows do not agree on one."""
    down, across = (np.abs(np.diff(window, axis=axis)).sum() for axis in (0, 1))
    upright = bool(across >= down)
    rows = np.asarray(window if upright else window.T, np.float64)
    weight = np.diff(rows, axis=1)
    weight = weight * np.hanning(rows.shape[1] + 1)[1:-1]  # what is near the window's border counts less
    total = weight.sum(axis=1)
    if not (np.abs(total) > 1e-9).all() or (np.sign(total) != np.sign(total[0])).any():
        return None
    place = (weight * (np.arange(rows.shape[1] - 1) + 0.5)).sum(axis=1) / total
    row = np.arange(len(rows))
    slope, offset = np.polyfit(row, place, 1)
    # Again, with each row's border as far from its edge as that of the others.
    reach = rows.shape[1] / 2 - abs(slope) * len(rows) / 2 - 1
    if reach < 2:
        return None
    distance = np.arange(rows.shape[1] - 1) + 0.5 - (offset + slope * row)[:, None]
    weight = np.diff(rows, axis=1) * np.where(np.abs(distance) < reach, np.cos(np.pi / 2 * distance / reach) ** 2, 0)
    total = weight.sum(axis=1)
    if not (np.abs(total) > 1e-9).all():
        return None
    place = (weight * (np.arange(rows.shape[1] - 1) + 0.5)).sum(axis=1) / total
    slope, offset = np.polyfit(row, place, 1)
    residual = float(np.sqrt(np.mean((place - offset - slope * row) ** 2)))
    return SlantedEdge(float(slope), float(offset), residual, upright)


def edge_sharpness(window: NDArray[Any], edge: SlantedEdge | None = None) -> Sharpness | None:
    """The sharpness of a slanted edge in a window (h, w) of linear light; None where there is none to be measured.

    `edge`: its line, where it is known better from another picture of the same window.
    """
    if not np.isfinite(window).all():
        return None
    edge = edge_line(window) if edge is None else edge
    if edge is None:
        return None
    rows = np.asarray(window if edge.upright else window.T, np.float64)
    if abs(edge.slope) * len(rows) < LEAST_SLANT:
        return None
    dark, bright = np.percentile(rows, (5, 95))
    if not bright - dark > LEAST_CONTRAST * (bright + dark):
        return None
    row, column = np.indices(rows.shape)
    along = 1 / math.hypot(1, edge.slope)  # of the edge's normal, per column
    distance = np.asarray((column - edge.offset - edge.slope * row) * along, np.float64)
    spread = _edge_spread(distance, rows)
    if spread is None:
        return None
    line = np.diff(spread) * tukey(len(spread) - 1)  # ISO's Hamming window would make a soft edge look sharper
    transform = np.abs(np.fft.rfft(line, 8 * len(line)))
    frequency = np.fft.rfftfreq(8 * len(line), 1 / OVERSAMPLING).astype(np.float64)
    kept = frequency <= 1
    frequency = frequency[kept]
    # A bin is the mean over a quarter pixel, and the derivative a difference of two of them: neither is the edge's.
    undone = np.sinc(frequency / OVERSAMPLING) ** 2
    modulation = transform[kept] / transform[0] / undone
    below = np.flatnonzero(modulation < 0.5)
    if not below.size or below[0] == 0:
        return Sharpness(frequency, modulation, math.nan)
    last = below[0]
    share = (modulation[last - 1] - 0.5) / (modulation[last - 1] - modulation[last])
    mtf50 = frequency[last - 1] + share * (frequency[last] - frequency[last - 1])
    return Sharpness(frequency, modulation, float(mtf50))


def _edge_spread(distance: Float64, rows: Float64) -> Float64 | None:
    """Means of the light in bins of a quarter pixel of the distance from the edge, as far as every row reaches."""
    reach = min(-distance[:, 0].max(), distance[:, -1].min())
    half = int(OVERSAMPLING * reach)
    if half < 2 * OVERSAMPLING:
        return None
    place = np.floor(OVERSAMPLING * distance).astype(int) + half
    there = (place >= 0) & (place < 2 * half)
    count = np.bincount(place[there], minlength=2 * half)
    light = np.bincount(place[there], rows[there], minlength=2 * half)
    filled = count > 0
    if not filled[[0, -1]].all() or filled.mean() < 0.75:
        return None
    bins = np.arange(2 * half)
    return np.interp(bins, bins[filled], light[filled] / count[filled])
