"""What is near: the neighbours of a micro-image, and the window of a pixel inside its micro-image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.geometry import Lattice

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

FIRST_RING = 1.45  # pitches: the 6 neighbours of a hexagonal lattice, the 8 of an orthogonal one
WINDOW = 2  # px to each side inside a micro-image: 5 × 5
ROWS_AT_A_TIME = 4  # the temporaries of so many image rows stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Ring:
    """Micro-images around each micro-image."""

    index: Int64  # (m, rows, columns): flat index of each micro-image's i-th neighbour, −1 beyond the array
    unit: Float64  # (m, 2): the way to it in pitches, the same for all micro-images


def ring_of(lattice: Lattice, reach: float) -> Ring:
    """The neighbours within `reach` pitches of each micro-image."""
    k, l = lattice.indices()
    span = int(np.ceil(reach / np.sqrt(0.75)))
    dl, dk = (step.ravel() for step in np.mgrid[-span : span + 1, -span : span + 1])
    index: dict[tuple[float, float], Int64] = {}
    for parity_l in (0, 1):  # the shift of rows or columns makes steps depend on parity
        for parity_k in (0, 1):
            here = (l % 2 == parity_l) & (k % 2 == parity_k)
            ways = lattice.unit_node(parity_k + dk, parity_l + dl) - lattice.unit_node(parity_k, parity_l)
            for step_k, step_l, way in zip(dk, dl, ways, strict=True):
                if not 0 < way @ way <= reach**2:
                    continue
                towards = index.setdefault(
                    (round(float(way[0]), 6), round(float(way[1]), 6)), np.full(k.shape, -1, np.int64)
                )
                there = here & lattice.contains(k + step_k, l + step_l)
                towards[there] = ((l + step_l) * lattice.columns + k + step_k)[there]
    return Ring(np.stack(list(index.values())), np.array(list(index)))


def windows(v: Float32, owner: Int32) -> Iterator[tuple[slice, Float32, list[tuple[int, int]]]]:
    """Blocks of rows with their 25 shifted copies (25, rows, w), NaN where another micro-image begins."""
    width = v.shape[1]
    padded, around = np.pad(v, WINDOW, constant_values=np.nan), np.pad(owner, WINDOW, constant_values=-2)
    offsets = [(y, x) for y in range(-WINDOW, WINDOW + 1) for x in range(-WINDOW, WINDOW + 1)]
    for rows in row_blocks(len(v)):
        planes = np.empty((len(offsets), rows.stop - rows.start, width), np.float32)
        for plane, (y, x) in zip(planes, offsets, strict=True):
            there = (
                slice(rows.start + WINDOW + y, rows.stop + WINDOW + y),
                slice(WINDOW + x, WINDOW + x + width),
            )
            np.copyto(plane, padded[there])
            plane[around[there] != owner[rows]] = np.nan
        yield rows, planes, offsets


def row_blocks(height: int) -> Iterator[slice]:
    """All rows of an image, a few at a time."""
    return (slice(start, min(start + ROWS_AT_A_TIME, height)) for start in range(0, height, ROWS_AT_A_TIME))


def with_missing(per_lens: NDArray[np.floating]) -> Float32:
    """The values of all lenses in one row, and NaN at its end: the index −1 of a missing lens finds it there."""
    return np.append(per_lens.ravel(), np.nan).astype(np.float32)
