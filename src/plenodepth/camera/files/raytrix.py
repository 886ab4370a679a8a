"""The vendor's grid file as a camera without optics."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.files.lattices import PlacedLattice, arrangement_of, covering_lattice, image_center
from plenodepth.camera.model import Array, GridCamera, Indices, MicroImageArray, Provenance
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement
from plenodepth.io import RaytrixGrid, RaytrixLensType

UNDISTORTED = ("", "constant")
BROWN = "brown"
LARGEST_DISTORTION = 0.05  # px: one that moves no centre farther may be left out


def grid_camera_from_raytrix(grid: RaytrixGrid, image_size: tuple[int, int], name: str = "raytrix") -> GridCamera:
    """The micro-images of the vendor's grid in an image of `image_size` (width, height), px.

    The file counts y upwards from the image's centre, and lens types on a skewed lattice; here both become ours.
    """
    width, height = image_size
    if not 1 <= grid.diameter <= min(width, height):
        raise InputError(f"is {grid.diameter:g} px in an image of {width} × {height} px", field="diameter")
    arrangement, angle = arrangement_of(grid.rotation)
    origin = image_center(image_size) + grid.offset_from_centre * [1, -1]
    placed = covering_lattice(arrangement, np.full(2, grid.diameter), angle, origin, image_size)
    return GridCamera(
        name=name,
        width=width,
        height=height,
        micro_images=MicroImageArray(placed.lattice, placed.image_from_lattice, _type_pattern(grid, placed, origin)),
        virtual_depth_ranges=np.array([lens_type.depth_range for lens_type in _in_order(grid)]),
        provenance=Provenance(
            f"imported from the vendor's grid file {name}",
            (
                f"rim of a micro-image not to be used: {grid.lens_border:g} px",
                f"total covering plane: virtual depth {grid.total_covering_plane:g}",
                *_distortion_notes(grid, image_size),
            ),
        ),
    )


def _distortion_notes(grid: RaytrixGrid, image_size: tuple[int, int]) -> list[str]:
    """What is to be said of the grid's distortion; one that moves a centre is an error, for a lattice cannot hold it.

    Brown's function moves a point at radius r px from its centre by k₁r³ + k₂r⁵ + …
    """
    distortion = grid.distortion
    if distortion.function in UNDISTORTED:
        return []
    if distortion.function.lower() != BROWN:
        raise InputError(
            f"is '{distortion.function}', only an undistorted grid and Brown's function are known",
            field="distortion.function",
        )
    middle = image_center(image_size) + distortion.offset * [1, -1]
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]) * (np.array(image_size) - 1)
    radius = float(np.hypot(*(corners - middle).T).max())
    largest = float(np.abs(distortion.parameters) @ radius ** (2 * np.arange(len(distortion.parameters)) + 3.0))
    if not largest <= LARGEST_DISTORTION:
        raise InputError(
            f"moves micro-images by up to {largest:.3g} px, and only a regular lattice is supported",
            field="distortion.parameter",
            fix="find the grid in a white image: plenodepth calibrate white",
        )
    if not distortion.parameters.any():
        return ["distortion of the grid: Brown, all parameters 0, so there is none"]
    return [f"distortion of the grid: Brown, left out, since it moves micro-images by {largest:.2g} px at most"]


def _in_order(grid: RaytrixGrid) -> list[RaytrixLensType]:
    return sorted(grid.lens_types, key=lambda lens_type: lens_type.id)


def _type_pattern(grid: RaytrixGrid, placed: PlacedLattice, origin: Array) -> Indices:
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
    periods = (2, 3) if placed.lattice.arrangement is Arrangement.HEXAGONAL_ROWS else (3, 2)
    l, k = np.mgrid[: periods[0], : periods[1]]
    relative = (placed.center(k, l) - origin) * [1, -1] / grid.diameter
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
