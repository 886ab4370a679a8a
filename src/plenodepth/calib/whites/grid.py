"""The grid of micro-images from a white image, or from any raw image: pitch, arrangement, angle, offset, lens counts.

With no hint: the image's period first (`periodicity`), where in its cell the light is next, then the centres of the
discs from the middle of the image outwards, each time with the lattice through those found so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Centers
from plenodepth.calib.whites.disc_centers import discs_inside, measure_discs, unevenness
from plenodepth.calib.whites.grid_extent import cropped
from plenodepth.calib.whites.lattice_fit import LatticeFit, fitted_lattice
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.raw.periodicity import WINDOW, Float32, lattice_vectors, light_of

CELL = 24  # bins across the cell of the lattice that the image is folded into
FIRST_REACH = 8.0  # pitches about the middle of the image
FIRST_SLACK, LAST_SLACK = 0.2, 0.06  # of the pitch: how far off a disc may be while the lattice grows, and at last
SAME_ANGLE = np.pi / 12  # of a lattice direction to the axis of the image it is named after
LARGEST_RMS = 0.15  # of the pitch: discs that scatter more about a lattice are none
WHITE_RMS = 0.02  # of the pitch: discs of a white image scatter less,
WHITE_SHARE = 0.8  # so many of them lie on the lattice (texture moves the light of most discs),
WHITE_UNEVEN = 0.15  # and in brightness most of them differ less from the third next, which has the same lens type


@dataclass(frozen=True, eq=False)
class FoundGrid:
    """A grid, the centres it was fitted to, and whether they are those of a white image."""

    fit: LatticeFit  # its `inliers` are those of `centers`
    centers: Centers
    white: bool
    notes: tuple[str, ...]


def find_grid(
    image: NDArray[Any],
    *,
    columns: int | None = None,
    rows: int | None = None,
    shifted_parity: int | None = None,
    name: str = "image",
    threads: int = 1,
) -> FoundGrid:
    """The grid of a raw image (h, w) or (h, w, 3), best a white one; a mosaic of colour filters will do.

    By default the grid has the lenses whose centres are on the sensor. Where the lens counts are given it has so many,
    placed where they leave the sensor the least. `shifted_parity` is that of the smallest grid, unless it is given or a
    lens count is: then it is the usual one (see `Lattice`).
    """
    return grid_of_light(light_of(image, name), columns, rows, shifted_parity, name, threads)


def grid_of_light(
    light: Float32, columns: int | None, rows: int | None, shifted_parity: int | None, name: str, threads: int
) -> FoundGrid:
    """`find_grid` in the light (h, w) of `light_of`."""
    fit, centers, share, uneven = _grown(light, _start(light, name), name, threads)
    white = fit.rms < WHITE_RMS * fit.lattice.diameter and share > WHITE_SHARE and uneven < WHITE_UNEVEN
    notes: tuple[str, ...] = ()
    if not white:
        lattice = fit.lattice
        fit = fitted_lattice(centers, lattice.arrangement, lattice.columns, lattice.rows, same_pitch=True)
        centers = _chosen(centers, fit.inliers)
        fit = replace(fit, inliers=np.ones(len(centers), bool))
        notes = (
            f"the grid comes from the image itself, which is no white one: {share:.0%} of its micro-images lie on a "
            f"lattice, within {fit.rms:.2f} px, and neighbours differ in brightness by {uneven:.0%}",
        )
    fit, centers = cropped(fit, centers, (light.shape[1], light.shape[0]), columns, rows, shifted_parity)
    return FoundGrid(fit, centers, white, notes)


def _start(light: Float32, name: str) -> LatticeFit:
    """A lattice large enough for any grid of the image, right about the image's middle."""
    arrangement, pitch, angle = named_lattice(lattice_vectors(light, name))
    node = _lit_point(light, Lattice(arrangement, 1, 1, np.full(2, pitch)), angle)
    return lattice_over((light.shape[1], light.shape[0]), arrangement, pitch, angle, node)


def lattice_over(
    size: tuple[int, int], arrangement: Arrangement, pitch: float, angle: float, node: Array
) -> LatticeFit:
    """A lattice with a node (2,) px near the middle of an image of `size` = width, height, larger than the image."""
    across = Lattice(arrangement, 1, 1, np.full(2, pitch)).node(2, 2) / 2
    reach = np.hypot(*size) / 2
    columns, rows = (2 * int(np.ceil(reach / step / 2) + 2) for step in across)  # on either side; even, so is parity
    lattice = Lattice(arrangement, 2 * columns, 2 * rows, np.full(2, pitch))
    turned = PlanarPose(angle, np.zeros(2))(lattice.node(columns, rows))
    return LatticeFit(lattice, PlanarPose(angle, node - turned), np.zeros(0, bool), np.nan, np.full(5, np.nan))


def named_lattice(vectors: Array) -> tuple[Arrangement, float, float]:
    """Arrangement, pitch and angle of the lattice that two shortest vectors span."""
    first, second = vectors
    pitch = float(np.hypot(*vectors.T).mean())
    sign = 1.0 if first @ second >= 0 else -1.0
    square = abs(first @ second) < 0.25 * pitch**2
    directions = np.array([first, second] if square else [first, second, first - sign * second])
    directions = np.concatenate([directions, -directions])
    angles = np.arctan2(directions[:, 1], directions[:, 0])
    along_x = float(angles[np.argmin(np.abs(angles))])
    if square:
        return Arrangement.ORTHOGONAL, pitch, along_x
    if abs(along_x) <= SAME_ANGLE:
        return Arrangement.HEXAGONAL_ROWS, pitch, along_x
    return Arrangement.HEXAGONAL_COLUMNS, pitch, float((angles - np.pi / 2)[np.argmin(np.abs(angles - np.pi / 2))])


def _lit_point(light: Float32, lattice: Lattice, angle: float) -> Array:
    """The middle (2,) px of the micro-image nearest to the image's middle: the brightest place of the folded image."""
    height, width = light.shape
    side = min(WINDOW, height, width) // 2
    middle = np.array([width // 2, height // 2])
    part = light[middle[1] - side : middle[1] + side, middle[0] - side : middle[0] + side]
    v, u = (np.indices(part.shape) - side).astype(np.float64)
    turn = PlanarPose(angle, np.zeros(2))
    cell = np.array([turn(lattice.node(2, 2) - lattice.node(0, 2)), turn(lattice.node(2, 2) - lattice.node(2, 0))]) / 2
    if lattice.arrangement is Arrangement.HEXAGONAL_ROWS:
        cell[1] += cell[0] / 2
    elif lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS:
        cell[0] += cell[1] / 2
    share = np.stack([u, v], axis=-1) @ np.linalg.inv(cell)
    index = (np.floor(share * CELL).astype(np.int64) % CELL).reshape(-1, 2) @ [CELL, 1]
    count = np.bincount(index, minlength=CELL * CELL)
    folded = np.bincount(index, part.ravel(), CELL * CELL) / np.maximum(count, 1)
    tiled = np.tile(folded.reshape(CELL, CELL), (3, 3)).astype(np.float32)
    smooth = cv2.GaussianBlur(tiled, (0, 0), CELL / 8)[CELL : 2 * CELL, CELL : 2 * CELL]
    best = np.array(np.unravel_index(np.argmax(smooth), smooth.shape))
    return np.asarray(middle + ((best + 0.5) / CELL) @ cell, np.float64)


def _grown(light: Float32, start: LatticeFit, name: str, threads: int) -> tuple[LatticeFit, Centers, float, float]:
    """Lattice and centres from the middle of the image to its borders; the share of discs that lie on it; how uneven
    their brightness is.
    """
    lattice, fit = start.lattice, start
    k, l = (index.ravel() for index in lattice.indices())
    height, width = light.shape
    middle, pitch = np.array([width - 1, height - 1]) / 2, lattice.diameter
    reach, last, settled = FIRST_REACH * pitch, False, False
    while not last:
        last, settled = settled, reach >= np.hypot(width, height) / 2
        uv = fit.image_from_lattice(fit.lattice.node(k, l))
        slack = max(1.0, (LAST_SLACK if last else FIRST_SLACK) * pitch)
        chosen = discs_inside(light, uv, pitch, slack) & (np.hypot(*(uv - middle).T) <= reach)
        discs = measure_discs(light, uv[chosen], pitch, slack, rounds=4 if last else 3, threads=threads)
        known = np.isfinite(discs.uv[:, 0])
        centers = Centers(k[chosen][known], l[chosen][known], discs.uv[known], discs.covariance[known])
        fit = fitted_lattice(centers, lattice.arrangement, lattice.columns, lattice.rows)
        if not fit.rms <= LARGEST_RMS * pitch:
            raise InputError(
                f"shows no grid of micro-images: discs lie {fit.rms:.1f} px off a lattice of {pitch:.1f} px",
                file=name,
                fix="give a white image",
            )
        reach *= 2
    share = float(np.count_nonzero(fit.inliers)) / float(np.count_nonzero(chosen))
    kept = _chosen(centers, fit.inliers)
    uneven = unevenness(k[chosen], l[chosen], discs.gain)
    return replace(fit, inliers=np.ones(len(kept), bool)), kept, share, uneven


def _chosen(centers: Centers, chosen: NDArray[np.bool_]) -> Centers:
    return Centers(centers.k[chosen], centers.l[chosen], centers.uv[chosen], centers.covariance[chosen])
