"""A lattice to a small part of a pixel, from the lines of the spectrum of whole images: pitch, angle and offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from plenodepth.camera.model import Array
from plenodepth.raw.lattice_lines import Lines, around, lines_of, moved
from plenodepth.raw.line_errors import errors_of
from plenodepth.raw.periodicity import Float32

REACH = 3.0  # bins of the spectrum that the first guess comes from: how far off it may be
STEPS = 0.25  # bins of the spectrum of the whole image: steps of the search
CELL = 24  # places across the lattice's cell at which the offset is tried


@dataclass(frozen=True, eq=False)
class LineFit:
    """A lattice by the lines of a spectrum."""

    frequencies: Array  # (2, 2) 1/px, two of the lowest; at 120° or 90°
    node: Array  # (2,) px: one of its nodes, near the middle of the image
    strength: float  # of its lowest lines, in standard deviations of the background
    consistency: float  # 0 … 1: how well the phases of its lowest lines agree on one node
    errors: Array  # (4,) standard errors of scale (relative), angle (rad), node (px)

    def corner_error(self, size: tuple[int, int]) -> float:
        """Standard error, px, of the lattice's place at the corners of the image of `size` = width, height."""
        reach = np.hypot(*size) / 2
        return float(
            np.sqrt((reach * self.errors[0]) ** 2 + (reach * self.errors[1]) ** 2 + (self.errors[2:] ** 2).sum())
        )


def fit_lines(lights: Sequence[Float32], frequencies: Array, bins: int) -> LineFit:
    """The lattice near two lowest `frequencies` (2, 2) that come from a spectrum of `bins` bins along an axis."""
    lines = lines_of(lights, frequencies)
    scale, angle = _by_power(lines, bins)
    lines = moved(lines, scale, angle)
    found = np.array([0.0, 0.0, *_by_phase(lines)])
    for flat in (False, True):
        found = _best(lines, found, flat)
    amplitudes = lines.amplitudes(found, True)
    sums = lines.group_sums(amplitudes, True)
    decides = lines.deciding_group(amplitudes, True)
    lowest = amplitudes[lines.group == decides]
    return LineFit(
        lines.frequencies(found[0], found[1]),
        np.asarray((np.array(lines.size) - 1) / 2 + found[2:]),
        float(np.hypot.reduce(sums[lines.lowest_groups])) if sums[decides] > 0 else 0.0,
        max(0.0, float(lowest.real.sum() / max(np.abs(lowest).sum(), 1e-30))),
        errors_of(lines, found),
    )


def _best(lines: Lines, at: Array, flat: bool) -> Array:
    """The lattice (4,) with the highest score near one that may be some pixels off."""

    def cost(step: Array) -> float:
        return -lines.score(at + step * lines.unit, flat)

    simplex = np.vstack([np.zeros(4), 0.3 * np.eye(4)])
    best = minimize(
        cost,
        np.zeros(4),
        method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-3, "initial_simplex": simplex},
    )
    return np.asarray(at + best.x * lines.unit)


def _by_power(lines: Lines, bins: int) -> tuple[float, float]:
    """Scale and angle at which the two lowest orders have the most power."""
    lowest = float(np.hypot(*lines.start[0]))
    size = np.hypot(*(lines.orders @ lines.start).T) / lowest
    used = np.flatnonzero(size < 1.8)
    reach = REACH / bins
    count = int(np.ceil(1.9 * reach * max(lines.size) / STEPS))
    away = np.linspace(-1.9 * reach, 1.9 * reach, 2 * count + 1)
    power = np.abs(around(lines.blocks[used], away, away, lines.x, lines.y, lines.size)) ** 2
    power /= lines.noise[lines.group[used]][:, None, None] ** 2
    share = np.linspace(-reach, reach, 2 * count + 1) / lowest
    scale, angle = np.meshgrid(share, share, indexing="ij")
    total = np.zeros_like(scale)
    for index, one in zip(used, power, strict=True):
        fx, fy = lines.orders[index] @ lines.start
        cos, sin = np.cos(angle) / np.exp(scale), np.sin(angle) / np.exp(scale)
        moved = cos * fx - sin * fy - fx, sin * fx + cos * fy - fy
        column, row = (np.rint((part - away[0]) / (away[1] - away[0])).astype(int) for part in moved)
        total += one[np.clip(row, 0, len(away) - 1), np.clip(column, 0, len(away) - 1)]
    best = np.unravel_index(np.argmax(total), total.shape)
    return float(scale[best]), float(angle[best])


def _by_phase(lines: Lines) -> Array:
    """The node (2,) px about the middle of the image at which the lines are real."""
    cell = np.linalg.inv(lines.start)  # columns are steps of the lattice
    amplitudes = lines.amplitudes(np.zeros(4), False)
    share = (np.arange(CELL) - CELL // 2) / CELL
    places = np.array([cell @ [a, b] for a in share for b in share])
    turned = amplitudes * np.exp(2j * np.pi * places @ (lines.orders @ lines.start).T)
    return np.asarray(places[int(np.argmax([lines.score_of(one, False) for one in turned]))])
