"""The lattice that explains the lines of a spectrum best, and how far it moves without a part of the image.

A scene pulls a lattice by what it shows, here one way and there another. How much that is cannot be told from the noise
beside the lines; it shows in how different parts of the image disagree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array
from plenodepth.raw.lattice_lines import Complex, Lines

PARTS = 4  # across and down: parts of the image, each of which is left out once
STEP = 0.1  # px at the corners: of derivatives
LARGEST = 0.5  # px at the corners: what one step may move
NEWTON_STEPS = 3


def best_nearby(lines: Lines, at: Array) -> Array:
    """The best lattice (4,): scale, angle, offset; near one that is less than a pixel off."""
    for _ in range(NEWTON_STEPS):
        at = at + _newton(lines, np.array([lines.amplitudes(place, True) for place in _places(lines, at)]))
    return at


def errors_of(lines: Lines, at: Array) -> Array:
    """Standard errors (4,) of the best lattice `at`, by what it becomes without each part of the image (jackknife)."""
    slabs = [(columns, rows) for columns in _slabs(lines.x, lines.size[0]) for rows in _slabs(lines.y, lines.size[1])]
    parts, places = [lines.part(columns, rows) for columns, rows in slabs], _places(lines, at)
    sums = np.array([[part.amplitudes(place, True) for place in places] for part in parts])  # (parts, m, n)
    moves = np.array([_newton(lines, sums.sum(axis=0) - one) for one in sums])
    return np.asarray(np.sqrt((len(moves) - 1) / len(moves) * ((moves - moves.mean(axis=0)) ** 2).sum(axis=0)))


def _places(lines: Lines, at: Array) -> Array:
    """Lattices (m, 4) about one."""
    return np.asarray(at + STEP * lines.unit * _stencil())


def _stencil() -> Array:
    """Places (m, 4), in steps, at which a function of four numbers shows its first and second derivatives."""
    axes = np.eye(4)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    corners = [s * axes[i] + t * axes[j] for i, j in pairs for s in (1, -1) for t in (1, -1)]
    return np.array([np.zeros(4), *axes, *-axes, *corners])


def _slabs(middles: Array, side: int) -> list[NDArray[np.bool_]]:
    index = np.clip(((middles / side + 0.5) * PARTS).astype(int), 0, PARTS - 1)
    return [index == one for one in range(PARTS)]


def _newton(lines: Lines, amplitudes: Complex) -> Array:
    """The step (4,) to the maximum of a parabola through the scores of amplitudes (m, n) at the stencil's places."""
    score = np.array([lines.score_of(one, True) for one in amplitudes])
    gradient = (score[1:5] - score[5:9]) / 2
    curvature = np.diag(score[1:5] + score[5:9] - 2 * score[0])
    corner = iter(score[9:].reshape(-1, 4))
    for i in range(4):
        for j in range(i):
            plus, down, up, minus = next(corner)
            curvature[i, j] = curvature[j, i] = (plus - down - up + minus) / 4
    step = -np.linalg.lstsq(curvature, gradient, rcond=None)[0] * STEP
    size = float(np.abs(step).max())
    return np.asarray(step * min(1.0, LARGEST / max(size, 1e-12)) * lines.unit)
