"""Which corner of a board each cluster is: by the structure of the board, not by its extreme corners.

The corners of a checkerboard form a grid that perspective bends little from one corner to the next, and neighbours have
opposite polarity. A grid grows from one corner to the next along the edges, and is then checked as a whole: thin
lenses map planes to planes, so one homography takes the board to the centres w of the clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.clusters import Clusters
from plenodepth.calib.features import UNKNOWN, Board
from plenodepth.camera.model import Array, Indices

OPPOSITE = -0.5  # cosine of twice the angle between the bright diagonals of neighbours on the board
ALONG = np.cos(np.radians(25))  # a neighbour lies along an edge
LEAST_SHARE = 0.2  # of the corners of a board: fewer are no board
TOLERANCE = 0.22  # steps of the grid that a corner may be off the place which the others foretell
ROUNDS = 8


@dataclass(frozen=True, eq=False)
class FoundBoard:
    """A board in a frame: which clusters are corners of it, and which ones."""

    cluster: Indices  # (n,) number of the cluster
    corner: Indices  # (n,) number of the corner, row by row
    whole: bool  # all rows and columns are there; otherwise the numbers may be shifted by rows and columns


def find_boards(clusters: Clusters, edges: Array, board: Board) -> list[FoundBoard]:
    """All boards, the one with most corners first. `edges` (m, 2) rad: directions of the two edges at each cluster."""
    free = np.ones(len(clusters), dtype=np.bool_)
    tried = np.zeros(len(clusters), dtype=np.bool_)
    neighbour = _neighbours(clusters, edges)
    least = least_corners(board)
    found: list[FoundBoard] = []
    order = np.argsort(-(neighbour >= 0).sum(axis=1) * 1000 - clusters.views, kind="stable")
    for seed in order:
        if not free[seed] or tried[seed]:
            continue
        members, place = _grown(int(seed), neighbour, clusters, free)
        tried[members] = True
        members, place = _completed(members, place, clusters, free)
        members, place = _cut_to_board(members, place, clusters, board)
        if len(members) < least or np.ptp(place, axis=0).min() < 1:
            continue
        members, corner, whole = _numbered(members, place, clusters, board)
        free[members] = False
        found.append(FoundBoard(members, corner, whole))
    return sorted(found, key=lambda one: -len(one.cluster))


def least_corners(board: Board) -> int:
    """How many corners must be seen of a board. Four in a square are soon found in any texture, six are not."""
    return min(board.corner_count, max(6, int(np.ceil(LEAST_SHARE * board.corner_count))))


def grid_error(place: Indices, center: Array) -> float:
    """How far centres w (n, 2) are from a homography of their places (n, 2), in steps of the grid, root mean square."""
    matrix = homography(place.astype(np.float64), center)
    return float(np.sqrt(np.mean(_misses(matrix, place, center)[0] ** 2)))


def _neighbours(clusters: Clusters, edges: Array) -> Indices:
    """The nearest cluster (m, 4) of opposite polarity along each edge, forth (0, 1) and back (2, 3); −1 for none."""
    count = len(clusters)
    neighbour = np.full((count, 4), UNKNOWN, dtype=np.int64)
    if count < 2:
        return neighbour
    step = clusters.center[None] - clusters.center[:, None]  # [from, to]
    distance = np.linalg.norm(step, axis=2)
    opposite = clusters.bright @ clusters.bright.T < OPPOSITE
    with np.errstate(invalid="ignore", divide="ignore"):
        towards = step / distance[:, :, None]
    for side in range(4):
        direction = np.stack([np.cos(edges[:, side % 2]), np.sin(edges[:, side % 2])], axis=1) * (1 - 2 * (side // 2))
        cosine = (towards * direction[:, None]).sum(axis=2)
        fit = opposite & (cosine > ALONG)
        cost = np.where(fit, distance * (1 + 8 * (1 - np.where(fit, cosine, 0))), np.inf)
        best = np.argmin(cost, axis=1)
        neighbour[:, side] = np.where(np.isfinite(cost[np.arange(count), best]), best, UNKNOWN)
    # Only what is mutual: the neighbour has this cluster as one of its own neighbours.
    for side in range(4):
        other = neighbour[:, side]
        mutual = (neighbour[other] == np.arange(count)[:, None]).any(axis=1)
        neighbour[:, side] = np.where((other >= 0) & mutual, other, UNKNOWN)
    return neighbour


def _grown(seed: int, neighbour: Indices, clusters: Clusters, free: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Clusters that are reached from the seed, and their places (n, 2) on a grid whose axes are the seed's edges."""
    center = clusters.center
    frame: dict[int, Array] = {seed: _axes(seed, neighbour, center)}
    place = {seed: (0, 0)}
    taken = {(0, 0)}
    queue = [seed]
    while queue:
        here = queue.pop(0)
        axes = frame[here]
        if not np.isfinite(axes).all():
            continue
        inverse = np.linalg.inv(axes.T)
        for other in neighbour[here]:
            if other < 0 or not free[other] or int(other) in place:
                continue
            move = inverse @ (center[other] - center[here])
            step = np.rint(move)
            if np.abs(step).sum() != 1 or np.abs(move - step).max() > 0.4:
                continue
            spot = (place[here][0] + int(step[0]), place[here][1] + int(step[1]))
            if spot in taken:
                continue
            taken.add(spot)
            place[int(other)] = spot
            # The step just made replaces the axis it is along: the grid bends and shrinks from corner to corner.
            bent = axes.copy()
            axis = int(np.argmax(np.abs(step)))
            bent[axis] = (center[other] - center[here]) * step[axis]
            frame[int(other)] = bent
            queue.append(int(other))
    members = np.array(list(place), dtype=np.int64)
    return members, np.array([place[int(member)] for member in members], dtype=np.int64).reshape(-1, 2)


def _axes(seed: int, neighbour: Indices, center: Array) -> Array:
    """Steps (2, 2) px along the two edges at a cluster; NaN where a neighbour is missing."""
    axes = np.full((2, 2), np.nan)
    for axis in range(2):
        steps = [
            sign * (center[neighbour[seed, side]] - center[seed])
            for side, sign in ((axis, 1), (axis + 2, -1))
            if neighbour[seed, side] >= 0
        ]
        if steps:
            axes[axis] = min(steps, key=lambda step: float(np.linalg.norm(step)))
    if np.isfinite(axes).all() and abs(np.linalg.det(axes)) < 0.2 * np.prod(np.linalg.norm(axes, axis=1)):
        axes[:] = np.nan
    return axes


def homography(place: Array, image: Array) -> Array:
    """The 3 × 3 matrix that takes places (n, 2) on a board to the image (n, 2), n ≥ 4: least squares."""
    shift, scale = image.mean(axis=0), max(float(np.std(image)), 1e-9)
    middle, size = place.mean(axis=0), max(float(np.std(place)), 1e-9)
    x, y = ((place - middle) / size).T
    u, v = ((image - shift) / scale).T
    zero, one = np.zeros_like(x), np.ones_like(x)
    rows = np.concatenate(
        [
            np.stack([x, y, one, zero, zero, zero, -u * x, -u * y, -u], axis=1),
            np.stack([zero, zero, zero, x, y, one, -v * x, -v * y, -v], axis=1),
        ]
    )
    matrix = np.linalg.svd(rows, full_matrices=True)[2][-1].reshape(3, 3)
    to_unit = np.array([[1 / size, 0, -middle[0] / size], [0, 1 / size, -middle[1] / size], [0, 0, 1]])
    from_unit = np.array([[scale, 0, shift[0]], [0, scale, shift[1]], [0, 0, 1]])
    result: Array = from_unit @ matrix @ to_unit
    return result


def apply_homography(matrix: Array, place: Array) -> Array:
    """Places (n, 2) through a homography, (n, 2)."""
    through = np.column_stack([place, np.ones(len(place))]) @ matrix.T
    with np.errstate(divide="ignore", invalid="ignore"):
        image: Array = through[:, :2] / through[:, 2:]
    return image


def _completed(
    members: Indices, place: Indices, clusters: Clusters, free: NDArray[np.bool_]
) -> tuple[Indices, Indices]:
    """Leave out what is off the grid as a whole, and take in what lies at places of the grid not reached yet."""
    for _ in range(ROUNDS):
        if len(members) < 4 or np.ptp(place, axis=0).min() < 1:
            return members, place
        matrix = homography(place.astype(np.float64), clusters.center[members])
        miss, _ = _misses(matrix, place, clusters.center[members])
        good = miss < max(TOLERANCE, 3 * float(np.median(miss)) if len(members) < 9 else TOLERANCE)
        if good.sum() < 4 or np.ptp(place[good], axis=0).min() < 1:
            return members[good], place[good]
        matrix = homography(place[good].astype(np.float64), clusters.center[members[good]])
        low, high = place[good].min(axis=0) - 1, place[good].max(axis=0) + 1
        spots = np.stack(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(low, high, strict=True))), -1).reshape(-1, 2)
        image = apply_homography(matrix, spots.astype(np.float64))
        _, step = _misses(matrix, spots, image)
        polarity = np.where(place[good].sum(axis=1) % 2 == 0, 1.0, -1.0) @ clusters.bright[members[good]]
        candidates = np.flatnonzero(free)
        gap = np.linalg.norm(image[:, None] - clusters.center[candidates][None], axis=2)
        sign = np.where(spots.sum(axis=1) % 2 == 0, 1.0, -1.0)
        fits = sign[:, None] * (clusters.bright[candidates] @ polarity)[None] > 0
        gap = np.where(fits, gap, np.inf)
        best = np.argmin(gap, axis=1)
        near = gap[np.arange(len(spots)), best] < TOLERANCE * step
        chosen, first = np.unique(candidates[best[near]], return_index=True)
        where = spots[near][first]
        same = len(chosen) == len(members) and set(chosen.tolist()) == set(members.tolist())
        members, place = chosen, where
        if same:
            break
    return members, place


def _misses(matrix: Array, place: Indices, image: Array) -> tuple[Array, Array]:
    """How far each image is from where the homography puts its place, in steps of the grid there, and that step px."""
    step = grid_steps(matrix, place)
    foretold = apply_homography(matrix, place.astype(np.float64))
    return np.linalg.norm(image - foretold, axis=1) / np.maximum(step, 1e-9), step


def grid_steps(matrix: Array, place: Indices) -> Array:
    """The shorter step (n,) px of the grid at places (n, 2)."""
    at = place.astype(np.float64)
    ahead, behind = (
        np.array([apply_homography(matrix, at + sign * unit) for unit in np.eye(2)]) for sign in (0.5, -0.5)
    )
    return np.asarray(np.linalg.norm(ahead - behind, axis=2).min(axis=0))


def _cut_to_board(members: Indices, place: Indices, clusters: Clusters, board: Board) -> tuple[Indices, Indices]:
    """The part of a grid that fits the board, upright or lying, with the most views."""
    if not len(members):
        return members, place
    best: tuple[int, NDArray[np.bool_]] = (-1, np.zeros(len(members), dtype=np.bool_))
    for size in ((board.columns, board.rows), (board.rows, board.columns)):
        low, high = place.min(axis=0), place.max(axis=0)
        for a in range(low[0], max(low[0], high[0] - size[0] + 1) + 1):
            for b in range(low[1], max(low[1], high[1] - size[1] + 1) + 1):
                inside: NDArray[np.bool_] = np.all((place >= [a, b]) & (place < [a + size[0], b + size[1]]), axis=1)
                score = int(clusters.views[members[inside]].sum())
                if score > best[0]:
                    best = score, inside
    return members[best[1]], place[best[1]]


def _numbered(members: Indices, place: Indices, clusters: Clusters, board: Board) -> tuple[Indices, Indices, bool]:
    """Clusters, their corner numbers, and whether all rows and columns are there.

    Of the quarter turns that fit the board the one is taken whose x is most along +u; x × y points away from who looks.
    """
    place = place - place.min(axis=0)
    matrix = homography(place.astype(np.float64), clusters.center[members])
    middle = place.mean(axis=0)[None]
    first, second = (
        apply_homography(matrix, middle + unit)[0] - apply_homography(matrix, middle)[0] for unit in np.eye(2)
    )
    if first[0] * second[1] - first[1] * second[0] < 0:
        place, first, second = place[:, ::-1], second, first
    best, along = place, -np.inf
    for _ in range(4):
        extent = place.max(axis=0)
        if extent[0] < board.columns and extent[1] < board.rows and first[0] > along:
            best, along = place, float(first[0])
        # A quarter turn: the new x is the old y, the new y the old −x.
        place = np.stack([place[:, 1], place[:, 0].max() - place[:, 0]], axis=1)
        first, second = second, -first
    corner = best[:, 1] * board.columns + best[:, 0]
    order = np.argsort(corner)
    whole = bool((best.max(axis=0) == [board.columns - 1, board.rows - 1]).all())
    return members[order], corner[order], whole
