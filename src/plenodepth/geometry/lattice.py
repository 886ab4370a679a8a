"""Hexagonal and orthogonal lattices: node (k column, l row) ↔ position, in the lattice's own frame."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SIN_60 = np.sqrt(3.0) / 2.0


class Arrangement(StrEnum):
    """How neighbouring rows or columns stand to each other."""

    ORTHOGONAL = "orthogonal"
    HEXAGONAL_ROWS = "hexagonal_rows"  # straight rows; every other row shifted by half a pitch
    HEXAGONAL_COLUMNS = "hexagonal_columns"  # straight columns; every other column shifted by half a pitch


@dataclass(frozen=True, eq=False)
class Lattice:
    """A finite lattice of `columns` × `rows` nodes with pitch (2,) along x and y, in any one unit.

    - orthogonal:         (p_x k, p_y l)
    - hexagonal_rows:     (p_x (k + ½ [l is shifted]), p_y l sin 60°)
    - hexagonal_columns:  (p_x k sin 60°, p_y (l − ½ [k is shifted]))

    A row (column) is shifted when its index modulo 2 equals `shifted_parity`; by default even rows and odd columns
    are, which is libpleno's layout.
    """

    arrangement: Arrangement
    columns: int
    rows: int
    pitch: Array
    shifted_parity: int | None = None

    def __post_init__(self) -> None:
        arrangement = Arrangement(self.arrangement)
        pitch = np.array(self.pitch, dtype=np.float64)
        if pitch.shape != (2,) or not np.isfinite(pitch).all() or (pitch <= 0).any():
            raise InputError("needs two numbers > 0", field="pitch")
        for name, count in (("columns", self.columns), ("rows", self.rows)):
            if count < 1:
                raise InputError(f"is {count}, needs at least 1", field=name)
        default = 1 if arrangement is Arrangement.HEXAGONAL_COLUMNS else 0
        parity = default if self.shifted_parity is None else self.shifted_parity
        if parity not in (0, 1):
            raise InputError(f"is {parity}, needs 0 or 1", field="shifted_parity")
        pitch.flags.writeable = False
        object.__setattr__(self, "arrangement", arrangement)
        object.__setattr__(self, "pitch", pitch)
        object.__setattr__(self, "shifted_parity", parity)

    @property
    def diameter(self) -> float:
        """The mean of the two pitches: the diameter of the disc that belongs to a node."""
        return float(self.pitch.mean())

    def half_turned(self) -> Lattice:
        """The lattice that, seen turned by 180° and indexed (columns−1−k, rows−1−l), has the layout of this one.

        A shift by +½ becomes one by −½, that is, the *other* rows are shifted; and row l is now row rows−1−l.
        """
        assert self.shifted_parity is not None
        turned = self.columns if self.arrangement is Arrangement.HEXAGONAL_COLUMNS else self.rows
        return Lattice(self.arrangement, self.columns, self.rows, self.pitch, (turned - self.shifted_parity) % 2)

    def unit_node(self, k: ArrayLike, l: ArrayLike) -> Array:
        """Position of node (k, l) for unit pitches, (..., 2): `node = pitch * unit_node`, so also ∂node/∂pitch."""
        k, l = np.broadcast_arrays(np.asarray(k), np.asarray(l))
        x, y = k.astype(np.float64), l.astype(np.float64)
        if self.arrangement is Arrangement.HEXAGONAL_ROWS:
            x += 0.5 * (l % 2 == self.shifted_parity)
            y *= SIN_60
        elif self.arrangement is Arrangement.HEXAGONAL_COLUMNS:
            y -= 0.5 * (k % 2 == self.shifted_parity)
            x *= SIN_60
        return np.moveaxis(np.stack([x, y]), 0, -1)  # x and y each contiguous: long inner loops for what follows

    def node(self, k: ArrayLike, l: ArrayLike) -> Array:
        """Position (..., 2) of node (k, l); indices beyond the lattice continue it."""
        return self.unit_node(k, l) * self.pitch

    def indices(self) -> tuple[Indices, Indices]:
        """The indices k, l of every node, each (rows, columns)."""
        l, k = np.mgrid[: self.rows, : self.columns]
        return k, l

    def contains(self, k: ArrayLike, l: ArrayLike) -> NDArray[np.bool_]:
        """Whether (k, l) is a node of this finite lattice."""
        k, l = np.asarray(k), np.asarray(l)
        return (k >= 0) & (k < self.columns) & (l >= 0) & (l < self.rows)

    def nearest(self, points: ArrayLike) -> tuple[Indices, Indices]:
        """Indices k, l of the node nearest to each of the points (..., 2), exact; they may lie beyond the lattice.

        Rows two apart have the same shift, so the nearest node is in one of the two rows around the point.
        """
        p = np.asarray(points, dtype=np.float64)
        if self.arrangement is Arrangement.ORTHOGONAL:
            index = np.rint(p / self.pitch).astype(np.int64)
            return index[..., 0], index[..., 1]
        rows = self.arrangement is Arrangement.HEXAGONAL_ROWS
        across, along = (1, 0) if rows else (0, 1)
        shift = 0.5 if rows else -0.5
        first = np.floor(p[..., across] / (self.pitch[across] * SIN_60)).astype(np.int64)
        best_line, best_step, best_distance = first, first, np.full(first.shape, np.inf)
        for line in (first, first + 1):
            offset = shift * (line % 2 == self.shifted_parity)
            step = np.rint(p[..., along] / self.pitch[along] - offset).astype(np.int64)
            distance = ((step + offset) * self.pitch[along] - p[..., along]) ** 2 + (
                line * (self.pitch[across] * SIN_60) - p[..., across]
            ) ** 2
            nearer = distance < best_distance
            best_line = np.where(nearer, line, best_line)
            best_step = np.where(nearer, step, best_step)
            best_distance = np.where(nearer, distance, best_distance)
        return (best_step, best_line) if rows else (best_line, best_step)
