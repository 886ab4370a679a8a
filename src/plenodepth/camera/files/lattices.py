"""Lattices of micro-images from what grid files tell: a rotation and one centre, or the centres of four corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.geometry.lattice import SIN_60

SIXTH = np.pi / 3  # a hexagonal lattice looks the same after a turn by 60°
ROUNDING = 0.3  # pitches: how far the distance of two corners may be from a whole number of them
MOST_LENSES = 100_000  # in a row or column
# Of the pitch, but at least a pixel: how far a corner may lie off the lattice. Corners are picked by hand: those of the
# one real file known lie 2.8 px (4 %) off their own lattice, and up to 7 px off the one that its images show.
LARGEST_RESIDUAL = 0.05


@dataclass(frozen=True, eq=False)
class PlacedLattice:
    """A lattice and where it lies in the image."""

    lattice: Lattice
    image_from_lattice: PlanarPose

    def center(self, k: int | Indices, l: int | Indices) -> Array:
        """Centre (..., 2) px of micro-image (k, l)."""
        return self.image_from_lattice(self.lattice.node(k, l))


def arrangement_of(rotation: float) -> tuple[Arrangement, float]:
    """Arrangement and angle (rad, y down) of a hexagonal lattice whose rows are turned by `rotation` rad, y up.

    Rows at 0°, 60°, … are our row-aligned layout, rows at 30°, 90°, … our column-aligned one.
    """
    turn = (-rotation + SIXTH / 4) % SIXTH - SIXTH / 4
    by_rows = turn < SIXTH / 4
    arrangement = Arrangement.HEXAGONAL_ROWS if by_rows else Arrangement.HEXAGONAL_COLUMNS
    return arrangement, float(turn if by_rows else turn - SIXTH / 2)


def spacing(arrangement: Arrangement) -> Array:
    """Distance (2,) of neighbouring columns and rows of a hexagonal lattice, in pitches."""
    return np.array([1, SIN_60]) if arrangement is Arrangement.HEXAGONAL_ROWS else np.array([SIN_60, 1])


def image_center(image_size: tuple[int, int]) -> Array:
    """The middle (2,) px of an image (width, height), from which the vendor's and TLCT's files count offsets.

    In the R5's images the micro-images lie within 0.1 px of where this puts them, not of half a pixel beside it.
    """
    return (np.array(image_size) - 1) / 2


def covering_lattice(
    arrangement: Arrangement, pitch: Array, angle: float, center: Array, image_size: tuple[int, int]
) -> PlacedLattice:
    """The hexagonal lattice with a micro-image centred at `center` (2,) px that covers an image (width, height)."""
    step = pitch * spacing(arrangement)
    before = np.ceil(center / step).astype(int)  # lenses left of and above the given one
    before += before % 2  # an even number keeps it on a row (column) of the lattice's first kind
    after = np.ceil((np.array(image_size) - center) / step).astype(int)
    columns, rows = (int(count) for count in before + after + 1)
    lattice = Lattice(arrangement, columns, rows, pitch)
    turned = PlanarPose(angle, np.zeros(2))
    return PlacedLattice(lattice, PlanarPose(angle, center - turned(lattice.node(*before))))


@dataclass(frozen=True, eq=False)
class CornerLattice:
    """The lattice nearest to four corner centres: two pitches (2,) px, angle and the left top centre (2,) px."""

    pitch: Array
    angle: float
    left_top: Array
    residual: float  # px: how far the corner that fits worst lies off the lattice


def lattice_through_corners(corners: Array, diameter: float, arrangement: Arrangement) -> CornerLattice:
    """The lattice nearest (least squares) to the centres (4, 2) px of its four corners, the top ones first.

    The number of lenses between the corners follows from the nominal `diameter`. Along the side with fewer lenses its
    error counts the least, so that side corrects it for the other one.
    """
    units = spacing(arrangement)
    left_top, right_top, left_bottom, right_bottom = corners
    sides = np.array(
        [
            np.hypot(*(right_top - left_top)) + np.hypot(*(right_bottom - left_bottom)),
            np.hypot(*(left_bottom - left_top)) + np.hypot(*(right_bottom - right_top)),
        ]
    )
    counts, pitch = np.zeros(2, dtype=np.int64), diameter
    for axis in np.argsort(sides / units):
        steps = sides[axis] / 2 / (pitch * units[axis])
        counts[axis] = np.rint(np.clip(steps, 0, 2 * MOST_LENSES))
        if not 1 <= counts[axis] <= MOST_LENSES or abs(steps - counts[axis]) > ROUNDING:
            raise InputError(
                f"are {steps:.2f} rows or columns of lenses apart, not a whole number of them",
                field="corner centres",
                fix="correct the corners or the diameter",
            )
        pitch = sides[axis] / 2 / (counts[axis] * units[axis])
    unit = _unit_corners(corners, counts, pitch, arrangement)
    fit = _fitted(unit, corners, pitch)
    limit = max(1.0, LARGEST_RESIDUAL * diameter)
    if not fit.residual <= limit:
        raise InputError(
            f"lie up to {fit.residual:.1f} px off the nearest lattice, more than {limit:.1f} px",
            field="corner centres",
            fix="correct the corners, or find the grid in a white image: plenodepth calibrate white",
        )
    return fit


def _unit_corners(corners: Array, counts: Indices, pitch: float, arrangement: Arrangement) -> Array:
    """Places (4, 2) of the corners in a lattice of unit pitch.

    After an odd number of rows (columns) a corner is shifted by half a pitch; to which side, its own position tells.
    """
    lattice = Lattice(arrangement, 1, 1, np.ones(2))
    along = 0 if arrangement is Arrangement.HEXAGONAL_ROWS else 1
    index = np.array([[0, 0], [counts[0], 0], [0, counts[1]], counts])
    unit = lattice.unit_node(*index.T) - lattice.unit_node(0, 0)
    off = (corners - corners[0])[:, along] / pitch - unit[:, along]
    unit[:, along] += np.where(index[:, 1 - along] % 2, np.rint(off), 0)
    return unit


def _fitted(unit: Array, corners: Array, pitch: float) -> CornerLattice:
    """Least squares by Gauss and Newton; the start is so near that three steps settle it."""
    along = corners[1] - corners[0] + corners[3] - corners[2]
    across = unit[1] - unit[0] + unit[3] - unit[2]
    angle = float(np.arctan2(along[1], along[0]) - np.arctan2(across[1], across[0]))
    pitches, origin, zero = np.full(2, pitch), corners[0], np.zeros(len(unit))
    for _ in range(4):
        turn = PlanarPose(angle, np.zeros(2))
        placed = turn(unit * pitches)
        error = corners - placed - origin
        residual = float(np.hypot(*error.T).max())
        columns = [turn(np.stack([unit[:, 0], zero], axis=1)), turn(np.stack([zero, unit[:, 1]], axis=1))]
        columns += [placed[:, ::-1] * [-1, 1], *np.broadcast_to(np.eye(2)[:, None], (2, len(unit), 2))]
        step = np.linalg.lstsq(np.stack(columns, axis=-1).reshape(-1, 5), error.ravel(), rcond=None)[0]
        pitches, angle, origin = pitches + step[:2], angle + float(step[2]), origin + step[3:]
    return CornerLattice(pitches, angle, origin, residual)
