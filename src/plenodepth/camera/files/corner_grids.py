"""Grids of TSPC's and TLCT's files as cameras without optics."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.files.lattices import (
    PlacedLattice,
    arrangement_of,
    covering_lattice,
    image_center,
    lattice_through_corners,
    spacing,
)
from plenodepth.camera.model import Array, Configuration, GridCamera, Indices, MicroImageArray, Provenance
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement
from plenodepth.io import TlctGrid, TspcGrid

ONE_TYPE = np.zeros((1, 1), dtype=np.int64)
UNKNOWN_RANGES = np.zeros((0, 2))


def grid_camera_from_tspc(grid: TspcGrid, image_size: tuple[int, int], name: str = "tspc") -> GridCamera:
    """The micro-images of a TSPC camera, which has one lens type, in an image of `image_size` (width, height), px.

    The file does not tell the sign of virtual depth.
    """
    _require_diameter(grid.diameter, image_size, "diameter")
    arrangement, _ = arrangement_of(grid.rotation)
    placed, note = _through_corners(grid.corners, grid.diameter, arrangement, image_size)
    return GridCamera(
        name=name,
        width=image_size[0],
        height=image_size[1],
        micro_images=MicroImageArray(placed.lattice, placed.image_from_lattice, ONE_TYPE),
        virtual_depth_ranges=UNKNOWN_RANGES,
        provenance=Provenance(f"imported from the TSPC grid file {name}", (note,)),
    )


def grid_camera_from_tlct(grid: TlctGrid, name: str = "tlct") -> GridCamera:
    """The micro-images of TLCT's calibration.

    TLCT's `IsKepler` is 1 where content moves against the micro-images from one to the next, by −pitch/|v|. That is
    what Galilean means here (v > 0), so the names are exchanged.
    """
    size = (grid.width, grid.height)
    _require_diameter(grid.diameter, size, "MIDiameter")
    arrangement = Arrangement.HEXAGONAL_COLUMNS if grid.by_columns else Arrangement.HEXAGONAL_ROWS
    notes = list[str]()
    if grid.corners is not None:
        placed, note = _through_corners(grid.corners, grid.diameter, arrangement, size)
        notes.append(note)
        start, first = grid.corners[0], 0
    else:
        assert grid.offset_from_centre is not None
        start = image_center(size) + grid.offset_from_centre * [1, -1]
        placed = covering_lattice(arrangement, np.full(2, grid.diameter), 0.0, start, size)
        first = _central_type(grid)
    pattern = ONE_TYPE
    if grid.near_focal_type is not None:
        pattern = _type_pattern(placed, start, first)
        notes.append(f"lens type {grid.near_focal_type} is focused nearest, as TLCT counts lens types")
    if grid.is_kepler is not None:
        notes.append(
            f"IsKepler is {int(grid.is_kepler)}, so content moves {'against' if grid.is_kepler else 'with'} "
            "the micro-images"
        )
    return GridCamera(
        name=name,
        width=grid.width,
        height=grid.height,
        micro_images=MicroImageArray(placed.lattice, placed.image_from_lattice, pattern),
        virtual_depth_ranges=UNKNOWN_RANGES,
        provenance=Provenance(f"imported from TLCT's calibration {name}", tuple(notes)),
        configuration=(
            None if grid.is_kepler is None else Configuration.GALILEAN if grid.is_kepler else Configuration.KEPLERIAN
        ),
    )


def _require_diameter(diameter: float, image_size: tuple[int, int], field: str) -> None:
    if not 1 <= diameter <= min(image_size):
        raise InputError(f"is {diameter:g} px in an image of {image_size[0]} × {image_size[1]} px", field=field)


def _through_corners(
    corners: Array, diameter: float, arrangement: Arrangement, image_size: tuple[int, int]
) -> tuple[PlacedLattice, str]:
    """The lattice through four corners, over the whole image, and a note of how well it passes them."""
    fit = lattice_through_corners(corners, diameter, arrangement)
    placed = covering_lattice(arrangement, fit.pitch, fit.angle, fit.left_top, image_size)
    return placed, (
        "the grid is the lattice nearest to the four corner centres of the file, which lie within "
        f"{fit.residual:.2f} px of it; its pitch is {fit.pitch[0]:.3f}, {fit.pitch[1]:.3f} px, "
        f"the file's diameter {diameter:g} px"
    )


def _central_type(grid: TlctGrid) -> int:
    """TLCT's type of the central micro-image; TLCT counts types from the first whole micro-image, which has type 0.

    Along a line of lenses types go 0, 1, 2, 0 …; a line shifted by half a pitch to the right begins with 2, one that is
    shifted to the left with 1.
    """
    assert grid.offset_from_centre is not None
    center = np.array([grid.width, grid.height]) / 2 + grid.offset_from_centre * [1, -1]  # as TLCT computes it
    along, across = center[::-1] if grid.by_columns else center
    steps = int((along - grid.diameter / 2) / grid.diameter)
    lines = int((across - grid.diameter / 2) / (grid.diameter * spacing(Arrangement.HEXAGONAL_ROWS)[1]))
    if lines % 2 == 0:
        return steps % 3
    first_is_whole = along - steps * grid.diameter > grid.diameter
    return (steps + (2 if first_is_whole else 1)) % 3


def _type_pattern(placed: PlacedLattice, start: Array, first: int) -> Indices:
    """Three lens types over one period, of which the micro-image at `start` has the type `first`.

    Half a pitch along the lines of lenses, and one line on, the type goes up by 2: neighbours differ in all directions.
    """
    by_rows = placed.lattice.arrangement is Arrangement.HEXAGONAL_ROWS
    l, k = np.mgrid[: 2 if by_rows else 3, : 3 if by_rows else 2]
    along = 0 if by_rows else 1
    straight = placed.image_from_lattice.inverse()
    halves = 2 * (placed.lattice.node(k, l) - straight(start))[..., along] / placed.lattice.pitch[along]
    pattern: Indices = (first + 2 * np.rint(halves).astype(np.int64)) % 3
    return pattern
