"""The depth scale Γ from boards, by the paper's scale error: distances between their corners against the true ones.

Each view of a corner is unprojected with the virtual depth that was estimated there; a corner's place is a robust mean
of its views, and the scale error of a frame is the mean over all pairs of corners of 1 − found/true distance: positive
where things come out too small. Γ rescales each corner by γ = Γ(z)/z and is fitted to the errors of all pairs of all
frames, every frame counting the same; that pairs and frames may be wrong is allowed for.

Noise of depth makes distances longer, short ones and those of far boards most of all (by percents, where the scale is
asked to hundredths of one). But boards are flat: the corners of a board are first put onto the plane that fits them,
each along its line of sight. That takes most of the noise away, and leaves the scale as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.calib.features import Board, Features
from plenodepth.calib.scale.fit import (
    LEAST_SPREAD,
    MAD_TO_SIGMA,
    POWERS,
    TUKEY,
    DepthScaleFit,
    ScaleOrder,
    checked_scale,
)
from plenodepth.camera import PlenopticCamera, unproject
from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError

LEAST_CORNERS = 4  # of a frame
ITERATIONS = 30
CONVERGED = 1e-10
AS_GOOD = 2e-4  # mean scale errors that differ by less are the same; the paper's best median error is 1.4e-4
ORDERS: tuple[ScaleOrder, ...] = ("constant", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class BoardCorners:
    """m corners of boards, where they are found without Γ and where they are on their board, mm."""

    view: Indices  # (m,) which frame and board, 0 … f − 1
    frame: Indices  # (f,) number of the frame
    found: Array  # (m, 3) camera frame
    true: Array  # (m, 3) board frame

    @property
    def distances(self) -> Array:
        """Median depth (f,) of each view's corners, without Γ, mm."""
        return np.array([np.median(self.found[self.view == view, 2]) for view in range(len(self.frame))])


@dataclass(frozen=True, eq=False)
class BoardScaleFit:
    """Γ by boards; scale errors of f views (a board in a frame) in parts: 0.01 = found 1 % too small."""

    scale: DepthScaleFit  # its residuals and weights are those of the views
    frame: Indices  # (f,)
    distance: Array  # (f,) mm, uncorrected
    before: Array  # (f,) scale error without Γ
    after: Array  # (f,) with Γ
    held_out: Mapping[ScaleOrder, Array]  # (f,) each, with the Γ of all other frames; NaN where that had none
    best_order: ScaleOrder  # by cross-validation

    @property
    def median_before(self) -> float:
        """Median scale error of the frames without Γ, as the paper has it: of signed errors."""
        return float(np.median(self.before))

    @property
    def median_after(self) -> float:
        """Median scale error of the frames with Γ, of signed errors."""
        return float(np.median(self.after))

    @property
    def size_before(self) -> float:
        """Median |scale error| of the frames without Γ: how far off a frame is, not all of them together."""
        return float(np.median(np.abs(self.before)))

    @property
    def size_after(self) -> float:
        """Median |scale error| of the frames with Γ."""
        return float(np.median(np.abs(self.after)))


def fit_board_scale(
    features: Features,
    virtual_depth: ArrayLike,
    boards: Mapping[int, Board] | Board,
    camera: PlenopticCamera,
    order: ScaleOrder | None = None,
    *,
    apparent: bool = False,
) -> BoardScaleFit:
    """Γ from features (n,) with corners of boards and virtual depths (n,), NaN where none was estimated.

    `order` None takes the one that cross-validation names. A Γ of the camera is left aside. `apparent` where the
    features lie as they appear through the camera's aperture and the virtual depths are corrected for it.
    """
    corners = board_corners(features, virtual_depth, boards, camera, apparent=apparent)
    pairs = _all_pairs(corners)
    frames = len(np.unique(corners.frame))
    held_out = {kind: _held_out(corners, pairs, kind) for kind in ORDERS if frames > len(POWERS[kind]) + 1}
    best = _best_order(held_out)
    scale = _fit(corners, pairs, best if order is None else order)
    after = scale_errors(corners, scale.coefficients)
    return BoardScaleFit(scale, corners.frame, corners.distances, scale_errors(corners), after, held_out, best)


def board_corners(
    features: Features,
    virtual_depth: ArrayLike,
    boards: Mapping[int, Board] | Board,
    camera: PlenopticCamera,
    *,
    apparent: bool = False,
) -> BoardCorners:
    """Where the corners of boards are found, without Γ; views with too few of them are left out."""
    v = np.asarray(virtual_depth, dtype=np.float64)
    if v.shape != (len(features),):
        raise InputError(f"has shape {v.shape}, needs one for each of {len(features)} features", field="virtual_depth")
    points = unproject(features.uv, features.k, features.l, v, camera, depth_scale=False, apparent=apparent)
    there = (features.corner >= 0) & np.isfinite(points).all(axis=1)
    features, v, points = features.where(there), v[there], points[there]
    keys, row = np.unique(
        np.stack([features.frame, features.board, features.corner], axis=1), axis=0, return_inverse=True
    )
    row = row.reshape(-1)
    views, view, number = np.unique(keys[:, :2], axis=0, return_inverse=True, return_counts=True)
    view = view.reshape(-1)
    enough = number >= LEAST_CORNERS
    if not enough.any():
        raise InputError(
            f"no frame has depth at {LEAST_CORNERS} corners of a board or more", field="virtual_depth", fix="see boards"
        )
    weight = _near_the_median(1 / v, row, view[row])
    total = np.bincount(row, weight)
    found = np.stack([np.bincount(row, weight * axis) for axis in points.T], axis=1) / total[:, None]
    if isinstance(boards, Board):
        true = boards.points(keys[:, 2])
    else:
        true = np.array([boards[board].points(corner) for _, board, corner in keys.tolist()]).reshape(-1, 3)
    keep = enough[view]
    _, view = np.unique(view[keep], return_inverse=True)
    return BoardCorners(view.reshape(-1), views[enough, 0], _flattened(found[keep], view.reshape(-1)), true[keep])


def _flattened(points: Array, view: Indices) -> Array:
    """Points (m, 3) moved along their lines of sight onto the plane of all those of the same view (m,).

    In 1/z, which is about linear in virtual depth and so in its noise, and on a plane linear in x/z and y/z.
    """
    flat = points.copy()
    for number in np.unique(view):
        mine = np.flatnonzero(view == number)
        sight = points[mine] / points[mine, 2:]
        inverse = 1 / points[mine, 2]
        design = sight - [*sight[:, :2].mean(axis=0), 0.0]
        weight = np.ones(len(mine))
        for _ in range(ITERATIONS):
            root = np.sqrt(weight)
            plane = np.linalg.lstsq(design * root[:, None], inverse * root, rcond=None)[0]
            away = inverse - design @ plane
            spread = MAD_TO_SIGMA * float(np.median(np.abs(away)))
            weight, before = _tukey(away / max(spread, 1e-9 * float(np.median(inverse)))), weight
            if np.abs(weight - before).max() < 1e-6:
                break
        flat[mine] = sight / (design @ plane)[:, None]
    return flat


def scale_errors(corners: BoardCorners, coefficients: ArrayLike = (0.0, 1.0, 0.0)) -> Array:
    """The paper's scale error (f,) of each view with Γ = (γ0, γ1, γ2): the mean over all pairs of corners."""
    errors, view = pair_scale_errors(corners, coefficients)
    return np.asarray(np.bincount(view, errors) / np.bincount(view))


def pair_scale_errors(corners: BoardCorners, coefficients: ArrayLike = (0.0, 1.0, 0.0)) -> tuple[Array, Indices]:
    """1 − found/true distance (p,) of every pair of corners of one view, with Γ = (γ0, γ1, γ2), and that view (p,)."""
    pairs = _all_pairs(corners)
    errors, _ = _pair_errors(corners, pairs, np.asarray(coefficients, dtype=np.float64), (0, 1, 2))
    return errors, pairs.view


class _Pairs(NamedTuple):
    """All pairs of corners of one view: rows (p,) of either, the view (p,), true distance (p,)."""

    one: Indices
    other: Indices
    view: Indices
    length: Array


def _all_pairs(corners: BoardCorners) -> _Pairs:
    one, other = [], []
    for view in range(len(corners.frame)):
        rows = np.flatnonzero(corners.view == view)
        first, second = np.triu_indices(len(rows), 1)
        one.append(rows[first])
        other.append(rows[second])
    a, b = np.concatenate(one), np.concatenate(other)
    return _Pairs(a, b, corners.view[a], np.linalg.norm(corners.true[a] - corners.true[b], axis=1))


def _pair_errors(
    corners: BoardCorners, pairs: _Pairs, coefficients: Array, powers: tuple[int, ...]
) -> tuple[Array, Array]:
    """1 − found/true (p,) with Γ of given coefficients, one per power of z, and the derivatives (p, q) by these."""
    depth = corners.found[:, 2]
    terms = np.stack([corners.found * (depth ** (power - 1))[:, None] for power in powers], axis=2)  # (m, 3, q)
    apart = terms[pairs.one] - terms[pairs.other]
    line = apart @ coefficients
    length = np.maximum(np.linalg.norm(line, axis=1), 1e-12)
    slopes = np.einsum("pc,pcq->pq", line, apart) / length[:, None]
    return 1 - length / pairs.length, -slopes / pairs.length[:, None]


def _fit(corners: BoardCorners, pairs: _Pairs, order: ScaleOrder) -> DepthScaleFit:
    """Gauss-Newton with weights by Tukey's function, of pairs within their view and of views."""
    if order not in POWERS:
        raise InputError(f"is {order!r}", field="order", fix=f"one of {', '.join(POWERS)}")
    powers = POWERS[order]
    depth = corners.distances[np.unique(pairs.view)]
    if len(np.unique(depth)) < len(powers):
        raise InputError(
            f"'{order}' needs boards at {len(powers)} or more distances, there are {len(np.unique(depth))}",
            field="order",
            fix="add distances or take a lower order",
        )
    unit = float(np.median(depth)) ** (np.array(powers) - 1.0)  # so that coefficients are of one size
    solution = np.where(np.array(powers) == 1, 1.0, 0.0)
    for turn in range(ITERATIONS):
        errors, slopes = _pair_errors(corners, pairs, solution / unit, powers)
        slopes = slopes / unit
        within, of_view = _weights(errors, pairs, len(corners.frame), first=turn == 0)
        weight = within * of_view[pairs.view]
        normal = (slopes * weight[:, None]).T @ slopes
        step = np.linalg.solve(normal, -(slopes * weight[:, None]).T @ errors)
        solution = solution + step
        if turn > 1 and np.abs(step).max() < CONVERGED:
            break
    errors, slopes = _pair_errors(corners, pairs, solution / unit, powers)
    gradient = slopes / unit * (weight * errors)[:, None]
    of_views = np.stack([np.bincount(pairs.view, axis, len(corners.frame)) for axis in gradient.T], axis=1)
    count = len(np.unique(pairs.view))
    inverse = np.linalg.inv(normal)
    spare = count - len(powers)
    covariance = inverse @ (of_views.T @ of_views) @ inverse * (count / spare if spare > 0 else np.nan)
    full, sigma = np.zeros(3), np.zeros(3)
    full[list(powers)], sigma[list(powers)] = solution / unit, np.sqrt(np.diag(covariance)) / unit
    chosen = np.unique(pairs.view)
    residuals = -(np.bincount(pairs.view, errors, len(corners.frame))[chosen] / np.bincount(pairs.view)[chosen])
    limits = corners.found[np.isin(corners.view, chosen), 2]
    spread = (float(limits.min()), float(limits.max()))
    return checked_scale(DepthScaleFit(full, sigma, residuals, of_view[chosen], spread, order))


def _weights(errors: Array, pairs: _Pairs, count: int, *, first: bool) -> tuple[Array, Array]:
    """Weights of pairs (p,), summing up to 1 in each view, and of the views (f,)."""
    middle = np.zeros(count)
    within = np.zeros(len(errors))
    there = np.unique(pairs.view)
    for number in there:
        mine = pairs.view == number
        middle[number] = np.median(errors[mine])
        away = errors[mine] - middle[number]
        within[mine] = _tukey(away / max(MAD_TO_SIGMA * float(np.median(np.abs(away))), 1e-9))
        within[mine] /= within[mine].sum()
    spread = max(MAD_TO_SIGMA * float(np.median(np.abs(middle[there]))), LEAST_SPREAD)
    return within, np.ones(count) if first else _tukey(middle / spread)


def _tukey(residuals: Array) -> Array:
    return np.asarray(np.maximum(1 - (residuals / TUKEY) ** 2, 0) ** 2)


def _near_the_median(values: Array, corner: Indices, view: Indices) -> Array:
    """Tukey's weights (n,) of values about the median of their corner (n,), in standard deviations of their view (n,).

    Of the depths of a far board a tenth or more may be wrong, and on one side: which of them a filter takes away must
    not move the corner. The standard deviation is that of a view, since depths of near and far boards differ in it.
    """
    order = np.lexsort((values, corner))
    first, size = np.searchsorted(corner[order], np.arange(corner.max() + 1)), np.bincount(corner)
    away = values - values[order][first + size // 2][corner]
    spread = np.array([np.median(np.abs(away[view == number])) for number in range(view.max() + 1)])
    return _tukey(away / np.maximum(MAD_TO_SIGMA * spread[view], 1e-9 * np.abs(values)))


def _held_out(corners: BoardCorners, pairs: _Pairs, order: ScaleOrder) -> Array:
    """Scale errors (f,) of the views of each frame with the Γ of all others; NaN where there is none that grows.

    Pairs count as in the fit: corners whose depth is wrong, or noise, must not decide which order is the best.
    """
    errors = np.full(len(corners.frame), np.nan)
    for frame in np.unique(corners.frame):
        mine = corners.frame == frame
        rest = ~mine[pairs.view]
        try:
            gamma = _fit(corners, _Pairs(*(part[rest] for part in pairs)), order)
        except (InputError, np.linalg.LinAlgError):
            continue
        missed, _ = _pair_errors(corners, pairs, gamma.coefficients, (0, 1, 2))
        within, _ = _weights(missed, pairs, len(corners.frame), first=True)
        errors[mine] = np.bincount(pairs.view, within * missed)[mine]
    return errors


def _best_order(held_out: Mapping[ScaleOrder, Array]) -> ScaleOrder:
    """The simplest order that predicts frames it has not seen as well as any other, up to a standard error."""
    known = {order: np.abs(errors) for order, errors in held_out.items() if np.isfinite(errors).all()}
    if not known:
        return "constant"
    best = min(known.values(), key=lambda errors: float(errors.mean()))
    for order, errors in known.items():  # simplest first
        worse = errors - best
        if worse.mean() <= max(worse.std(ddof=1) / np.sqrt(len(worse)), AS_GOOD):
            return order
    raise AssertionError("the best order is as good as itself")
