"""BAP features: corners of boards as the micro-images show them, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError

UNKNOWN = -1  # a cluster or board corner that is not assigned


@dataclass(frozen=True, eq=False)
class Board:
    """A checkerboard of `columns` × `rows` inner corners, squares of `square` mm.

    Its frame: origin at corner (0, 0), x along the columns, y along the rows, z into the board, away from who looks.
    """

    columns: int
    rows: int
    square: float

    def __post_init__(self) -> None:
        if self.columns < 2 or self.rows < 2:
            raise InputError(f"is {self.columns} × {self.rows} inner corners, needs at least 2 × 2", field="board")
        if not (np.isfinite(self.square) and self.square > 0):
            raise InputError(f"has squares of {self.square:g} mm, needs a number > 0", field="board")

    @property
    def corner_count(self) -> int:
        """Inner corners of the board."""
        return self.columns * self.rows

    def points(self, corner: ArrayLike) -> Array:
        """(..., 3) mm in the board's frame, of corners numbered row by row: corner = row · columns + column."""
        row, column = np.divmod(np.asarray(corner), self.columns)
        return self.square * np.stack([column, row, np.zeros_like(row)], axis=-1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Centers:
    """Micro-image centres measured in a white image: indices (n,), positions (n, 2) px, covariance (n, 2, 2) px²."""

    k: Indices
    l: Indices
    uv: Array
    covariance: Array

    def __len__(self) -> int:
        return len(self.k)


@dataclass(frozen=True, eq=False)
class Features:
    """One row for each board corner that a micro-image shows, n rows in all.

    A cluster is one corner of a board in one frame, seen by many lenses; clusters count from 0 in each frame.
    """

    frame: Indices  # (n,) number of the image
    k: Indices  # (n,) micro-image
    l: Indices  # (n,)
    uv: Array  # (n, 2) px
    covariance: Array  # (n, 2, 2) px², of uv
    rho: Array  # (n,) px, signed blur radius; NaN where it is unknown (pinholes)
    rho_sigma: Array  # (n,) px, its standard deviation
    cluster: Indices  # (n,) −1: none
    corner: Indices  # (n,) of its board, row by row; −1: not assigned
    board: Indices  # (n,) which board of the frame; −1: not assigned

    def __post_init__(self) -> None:
        count = len(self.k)
        shapes = {"uv": (count, 2), "covariance": (count, 2, 2)}
        for member in fields(self):
            shape = np.shape(getattr(self, member.name))
            if shape != shapes.get(member.name, (count,)):
                raise InputError(f"has shape {shape}, needs {shapes.get(member.name, (count,))}", field=member.name)

    def __len__(self) -> int:
        return len(self.k)

    def where(self, chosen: NDArray[np.bool_] | Indices) -> Features:
        """The chosen rows."""
        return replace(self, **{member.name: getattr(self, member.name)[chosen] for member in fields(self)})

    @property
    def frames(self) -> Indices:
        """The numbers of its frames, ascending, each once."""
        return np.unique(self.frame)

    @staticmethod
    def joined(parts: list[Features]) -> Features:
        """The rows of all parts, in order; an empty list gives none."""
        empty = np.zeros(0, dtype=np.int64)
        none = Features(
            empty, empty, empty, np.zeros((0, 2)), np.zeros((0, 2, 2)), np.zeros(0), np.zeros(0), empty, empty, empty
        )
        names = [member.name for member in fields(Features)]
        return Features(**{name: np.concatenate([getattr(part, name) for part in [none, *parts]]) for name in names})
