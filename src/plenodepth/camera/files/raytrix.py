"""The vendor's grid file as a camera without optics."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.model import Array, GridCamera, Indices, MicroImageArray, Provenance
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.geometry.lattice import SIN_60
from plenodepth.io import RaytrixGrid, RaytrixLensType

SIXTH = np.pi / 3  # a hexagonal lattice looks the same after a turn by 60°


def grid_camera_from_raytrix(grid: RaytrixGrid, image_size: tuple[int, int], name: str = "raytrix") -> GridCamera:
    """The micro-images of the vendor's grid in an image of `image_size` (width, height), px.

    The file counts y upwards from the image's centre, and lens types on a skewed lattice; here both become ours.
    """
    if grid.distortion not in ("", "constant"):
        raise InputError(f"is '{grid.distortion}', only an undistorted grid is supported", field="distortion.function")
    width, height = image_size
    if not 1 <= grid.diameter <= min(width, height):
        raise InputError(f"is {grid.diameter:g} px in an image of {width} × {height} px", field="diameter")
    # Rows at 0°, 60°, … are our row-aligned layout, rows at 30°, 90°, … our column-aligned one; y up flips the angle.
    turn = (-grid.rotation + SIXTH / 4) % SIXTH - SIXTH / 4
    by_rows = turn < SIXTH / 4
    arrangement = Arrangement.HEXAGONAL_ROWS if by_rows else Arrangement.HEXAGONAL_COLUMNS
    angle = turn if by_rows else turn - SIXTH / 2
    step = grid.diameter * (np.array([1, SIN_60]) if by_rows else np.array([SIN_60, 1]))
    middle = (np.array([width, height]) - 1) / 2
    origin = middle + grid.offset_from_centre * [1, -1]
    before = np.ceil(origin / step).astype(int)  # lenses left of and above the grid's origin
    before += before % 2  # an even number keeps the origin on a row (column) of the lattice's first kind
    after = np.ceil((np.array([width, height]) - origin) / step).astype(int)
    columns, rows = (int(count) for count in before + after + 1)
    lattice = Lattice(arrangement, columns, rows, np.full(2, grid.diameter))
    turned = PlanarPose(float(angle), np.zeros(2))
    pose = PlanarPose(float(angle), origin - turned(lattice.node(*before)))
    return GridCamera(
        name=name,
        width=width,
        height=height,
        micro_images=MicroImageArray(lattice, pose, _type_pattern(grid, lattice, pose, origin)),
        virtual_depth_ranges=np.array([lens_type.depth_range for lens_type in _in_order(grid)]),
        provenance=Provenance(
            f"imported from the vendor's grid file {name}",
            (
                f"rim of a micro-image not to be used: {grid.lens_border:g} px",
                f"total covering plane: virtual depth {grid.total_covering_plane:g}",
            ),
        ),
    )


def _in_order(grid: RaytrixGrid) -> list[RaytrixLensType]:
    return sorted(grid.lens_types, key=lambda lens_type: lens_type.id)


def _type_pattern(grid: RaytrixGrid, lattice: Lattice, pose: PlanarPose, origin: Array) -> Indices:
    """Lens types over one period of the lattice.

    In steps (a, b) of the file's base vectors from a lens of type 0, the type is (a·w_x + b·w_y) mod 3: neighbours
    differ in all directions.
    """
    types = _in_order(grid)
    if [lens_type.id for lens_type in types] != list(range(len(types))) or len(types) not in (1, 3):
        raise InputError("needs the ids 0, or 0, 1 and 2", field="lens_type.id")
    if len(types) == 1:
        return np.zeros((1, 1), dtype=np.int64)
    steps = _base_steps(grid, np.array([lens_type.offset for lens_type in types]), "lens_type.offset")
    # Base vectors 60° apart have a third neighbour at their difference, vectors 120° apart at their sum.
    acute = float(grid.lens_base_x @ grid.lens_base_y) > 0
    candidates = ([1, 2], [2, 1]) if acute else ([1, 1], [2, 2])
    weights = next((w for w in candidates if ((steps - steps[0]) @ w % 3 == range(3)).all()), None)
    if weights is None:
        raise InputError("the offsets do not make three interleaved grids", field="lens_type.offset")
    periods = (2, 3) if lattice.arrangement is Arrangement.HEXAGONAL_ROWS else (3, 2)
    l, k = np.mgrid[: periods[0], : periods[1]]
    relative = (pose(lattice.node(k, l)) - origin) * [1, -1] / grid.diameter
    pattern: Indices = (_base_steps(grid, relative, "lens_base_x, lens_base_y") - steps[0]) @ weights % 3
    return pattern


def _base_steps(grid: RaytrixGrid, positions: Array, field: str) -> Indices:
    """Whole numbers (..., 2) of steps along the base vectors to positions (..., 2) in lens diameters."""
    base = np.array([grid.lens_base_x, grid.lens_base_y])
    if abs(np.linalg.det(base)) < 0.5:  # sin 60° for a hexagonal lattice
        raise InputError("do not span a lattice", field="lens_base_x, lens_base_y")
    steps = positions @ np.linalg.inv(base)
    if not (np.abs(steps - np.rint(steps)) < 0.1).all():
        raise InputError("does not agree with diameter and rotation: lenses lie off the lattice", field=field)
    return np.rint(steps).astype(np.int64)
