"""BAP features: corners of boards as the micro-images show them, with their uncertainty."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.model import Array, Indices, MicroImageArray, PlenopticCamera
from plenodepth.errors import InputError

BOARD = re.compile(r"\s*([1-9]\d{0,3})\s*[x×X]\s*([1-9]\d{0,3})\s*:\s*(.+)")
LENGTH = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?\d+)?)\s*([a-zµμ]*)\s*")
MILLIMETRES = {"nm": 1e-6, "um": 1e-3, "µm": 1e-3, "μm": 1e-3, "mm": 1.0, "cm": 10.0, "m": 1000.0}
OUTSIDE = 2.0  # px beyond the rim of its micro-image, at which a feature belongs to no such camera
MOST_OUTSIDE = 0.1  # of the features; a few may be wrong
BoardView = tuple[int, int]  # frame, board: one board in one frame
UNKNOWN = -1  # a cluster or board corner that is not assigned


def parse_length(text: str, field: str, unit: str = "mm") -> float:
    """mm of a length such as 5.5um; without a unit it is in `unit`. "inf" is infinite. Errors name the `field`."""
    if text.strip().lower() in ("inf", "infinity", "∞"):
        return float("inf")
    match = LENGTH.fullmatch(text)
    if match is None or (match[2] or unit) not in MILLIMETRES:
        raise InputError(f"is '{text}'", field=field, fix="give a number and a unit (um, mm, cm, m), as in 5.5um")
    return float(match[1]) * MILLIMETRES[match[2] or unit]


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

    @classmethod
    def from_text(cls, text: str, field: str = "board") -> Board:
        """`"9x5:10mm"`: inner corners along x and y, and the side of a square. Errors name the `field`."""
        match = BOARD.fullmatch(text)
        if match is None:
            raise InputError(f"is '{text}'", field=field, fix="give inner corners and square, as in 9x5:10mm")
        return cls(int(match[1]), int(match[2]), parse_length(match[3], field))

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


def require_features_of(features: Features, camera: PlenopticCamera) -> None:
    """Refuse features whose indices the camera does not have, or which lie outside the micro-images they name."""
    if not len(features):
        raise InputError("holds no features", fix="detect them first: plenodepth calibrate features")
    lattice = camera.micro_images.lattice
    for name, index, count in (("k", features.k, lattice.columns), ("l", features.l, lattice.rows)):
        wrong = (index < 0) | (index >= count)
        if wrong.any():
            raise InputError(
                f"{name} = {index[wrong][0]}, camera '{camera.name}' has 0 … {count - 1}",
                field="features",
                fix="give the camera that the features were found with",
            )
    away = np.linalg.norm(features.uv - camera.micro_images.center(features.k, features.l), axis=1)
    share = float(np.mean(~(away <= camera.micro_images.radius + OUTSIDE)))
    if share > MOST_OUTSIDE:
        raise InputError(
            f"{100 * share:.0f} % lie outside their micro-images in camera '{camera.name}'",
            field="features",
            fix="give the camera that the features were found with",
        )


def renumbered(features: Features, given: MicroImageArray, wanted: MicroImageArray) -> Features:
    """Features of micro-images that the grid `given` counts, as `wanted` counts the same ones; less those it lacks.

    A grid that was found in an image may begin with another lens than that of a camera file.
    """
    k, l = wanted.owner(given.center(features.k, features.l))
    return replace(features, k=k, l=l).where(k >= 0)


def require_corners_of(board: Board, features: Features) -> None:
    """Refuse features none of which belongs to a board, or whose corners the board does not have."""
    if not (features.corner >= 0).any():
        raise InputError(
            "have no feature that belongs to a board", field="features", fix="find them with the board's size"
        )
    if features.corner.max() >= board.corner_count:
        raise InputError(
            f"have a corner {features.corner.max()}, the board has {board.columns} × {board.rows}",
            field="features",
            fix="give the board's inner corners as columns x rows",
        )
