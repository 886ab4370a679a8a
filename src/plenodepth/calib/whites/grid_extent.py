"""Which lenses a grid has, and how they are counted: the part of an endless lattice that lies on the sensor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.calib.features import Centers
from plenodepth.calib.whites.lattice_fit import LatticeFit
from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose


def cropped(
    fit: LatticeFit,
    centers: Centers,
    size: tuple[int, int],
    columns: int | None = None,
    rows: int | None = None,
    shifted_parity: int | None = None,
) -> tuple[LatticeFit, Centers]:
    """The lattice (larger than the image of `size` = width, height) cut to the sensor, counted from its top left.

    Without lens counts: every lens whose centre is on the sensor, and what completes the rectangle of indices. Both
    ways to count the half-shifted rows (columns) are tried, and that with fewer lenses taken. With a lens count the
    shifted parity is the usual one (see `Lattice`) unless given.
    """
    lattice = fit.lattice
    if shifted_parity is None and (columns or rows):
        shifted_parity = Lattice(lattice.arrangement, 1, 1, lattice.pitch).shifted_parity
    hexagonal = lattice.arrangement is not Arrangement.ORTHOGONAL
    best: tuple[float, LatticeFit, Centers] | None = None
    for other in (False, True) if hexagonal else (False,):
        candidate = _recounted(fit, centers, other)
        for cut in _cuts(candidate[0], size, columns, rows):
            moved_fit, moved = _moved(*candidate, cut)
            if shifted_parity is not None and hexagonal and moved_fit.lattice.shifted_parity != shifted_parity:
                continue
            cost = _overhang(moved_fit, size) + moved_fit.lattice.columns * moved_fit.lattice.rows
            if best is None or cost < best[0]:
                best = cost, moved_fit, moved
    if best is None:
        raise InputError("leaves no grid on the sensor", field="shifted_parity")
    return best[1], best[2]


def _recounted(fit: LatticeFit, centers: Centers, other: bool) -> tuple[LatticeFit, Centers]:
    """The same nodes, with the other rows (columns) called shifted, and the origin half a pitch before."""
    lattice = fit.lattice
    if not other:
        return fit, centers
    in_rows = lattice.arrangement is Arrangement.HEXAGONAL_ROWS
    step = np.array([-0.5, 0.0]) if in_rows else np.array([0.0, -0.5])
    pose = fit.image_from_lattice
    assert lattice.shifted_parity is not None
    flipped = Lattice(lattice.arrangement, lattice.columns, lattice.rows, lattice.pitch, 1 - lattice.shifted_parity)
    moved = replace(fit, lattice=flipped, image_from_lattice=PlanarPose(pose.angle, pose(step * lattice.pitch)))
    k, l = _other_count(lattice, centers.k, centers.l)
    return moved, replace(centers, k=k, l=l)


def _other_count(lattice: Lattice, k: Indices, l: Indices) -> tuple[Indices, Indices]:
    if lattice.arrangement is Arrangement.HEXAGONAL_ROWS:
        return k + (l % 2 == lattice.shifted_parity), l
    return k, l + (k % 2 != lattice.shifted_parity)


def _cuts(
    fit: LatticeFit, size: tuple[int, int], columns: int | None, rows: int | None
) -> list[tuple[int, int, int, int]]:
    """First column and row, columns and rows, of grids to try."""
    k, l = (index.ravel() for index in fit.lattice.indices())
    uv = fit.image_from_lattice(fit.lattice.node(k, l))
    inside = ((uv >= -0.5) & (uv < np.array(size) - 0.5)).all(axis=1)
    first_k, last_k = int(k[inside].min()), int(k[inside].max())
    first_l, last_l = int(l[inside].min()), int(l[inside].max())
    found_columns, found_rows = last_k - first_k + 1, last_l - first_l + 1
    return [
        (first_k + more_k, first_l + more_l, columns or found_columns, rows or found_rows)
        for more_k in _shifts(found_columns, columns)
        for more_l in _shifts(found_rows, rows)
    ]


def _shifts(found: int, wanted: int | None) -> range:
    """How far the first index of a grid may be from that of the lenses on the sensor."""
    spare = 0 if wanted is None else wanted - found
    return range(min(0, -spare), max(0, -spare) + 1)


def _moved(fit: LatticeFit, centers: Centers, cut: tuple[int, int, int, int]) -> tuple[LatticeFit, Centers]:
    first_k, first_l, columns, rows = cut
    old = fit.lattice
    assert old.shifted_parity is not None
    shift = {Arrangement.HEXAGONAL_ROWS: first_l, Arrangement.HEXAGONAL_COLUMNS: first_k}.get(old.arrangement, 0)
    lattice = Lattice(old.arrangement, columns, rows, old.pitch, (old.shifted_parity - shift) % 2)
    pose = fit.image_from_lattice
    at_first = pose(old.node(first_k, first_l))
    turned = PlanarPose(pose.angle, np.zeros(2))(lattice.node(0, 0))
    k, l = centers.k - first_k, centers.l - first_l
    inside = lattice.contains(k, l)
    kept = Centers(k[inside], l[inside], centers.uv[inside], centers.covariance[inside])
    placed = PlanarPose(pose.angle, at_first - turned)
    return replace(fit, lattice=lattice, image_from_lattice=placed, inliers=fit.inliers[inside]), kept


def _overhang(fit: LatticeFit, size: tuple[int, int]) -> float:
    """How far the grid's centres are beyond the sensor, in pitches, summed; lenses missing on it count alike."""
    uv: Array = fit.image_from_lattice(fit.lattice.node(*fit.lattice.indices())).reshape(-1, 2)
    beyond = np.maximum(np.maximum(-0.5 - uv, uv - np.array(size) + 0.5), 0)
    return float(beyond.sum() / fit.lattice.diameter)
