"""All views of a board: once its corners are known in space, each micro-image that should show one is looked at again.

With a camera whose focal lengths and f-number are known the fits take account of how the aperture clips the blur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.calib.corners.board_grid import apply_homography, grid_steps, homography
from plenodepth.calib.corners.clipping import (
    Clipping,
    apparent_positions,
    chief_ray_positions,
    clipping,
    knows_clipping,
    no_clipping,
)
from plenodepth.calib.corners.clusters import MISS, Clusters, fit_clusters
from plenodepth.calib.corners.fit import CORNER_RIM, Corners, Noise, fit_corners, measure_noise, parameters, plausible
from plenodepth.camera import PlenopticCamera, lens_distances, pitch_ratio
from plenodepth.camera.blur import blur_radius
from plenodepth.camera.micro_lenses import focal_length
from plenodepth.camera.model import Array, Indices, MicroImageArray

OPEN_WINDOW = 6.0  # px around a corner that are fitted, where nothing is known of the aperture
OPEN_SIGMA = 0.15  # px, by which corners are off where nothing is known of the aperture (R12 at f/4)
CLIPPED_WINDOW = 12.0  # px, where it is
LEAST_WINDOW = 2.8
ENOUGH_VIEWS = 3  # to tell where a cluster is from its own views
LEAST_VIEWS = 2  # of a corner on a board, whose place the others foretell
SHARE_OF_STEP = 0.8  # of the way to the next corner on the board
ROUNDS = 2
DEPTH_ROUNDS = 6
FACTOR_RANGE = (0.015, 0.8)  # |g|, kept within while a virtual depth is refined


@dataclass(frozen=True, eq=False)
class Grid:
    """Where m clusters stand on boards; some of them may not have been seen yet."""

    board: Indices  # (m,) which board
    place: Indices  # (m, 2) column and row


@dataclass(frozen=True, eq=False)
class BoardViews:
    """The views of m clusters."""

    corners: Corners
    label: Indices  # (n,) cluster 0 … m−1
    clusters: Clusters
    expected: Indices  # (m,) micro-images that should show each cluster


def virtual_depth(factor: Array, camera: PlenopticCamera) -> Array:
    """v (m,) of clusters with disparity factors g (m,)."""
    ratio = float(pitch_ratio(camera))
    return np.asarray(ratio / (factor - (1 - ratio)))


def expected_blur(k: Indices, l: Indices, virtual_depth: Array, camera: PlenopticCamera) -> Array:
    """Signed ρ (n,) px at virtual depths (n,), with each lens' own distance d to the sensor."""
    to_sensor = lens_distances(camera, k, l).to_sensor
    diameter, focal = camera.micro_lenses.lens_diameter, focal_length(k, l, camera)
    return blur_radius(diameter, to_sensor, focal, -virtual_depth * to_sensor) / camera.sensor.pixel_size


def refined_views(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    corners: Corners,
    label: Indices,
    grid: Grid,
    noise: Noise,
    camera: PlenopticCamera | None = None,
    *,
    widest: float = CLIPPED_WINDOW,
) -> BoardViews:
    """Fit all views of the m clusters of a grid; `label` (n,): those of the known ones, −1 for none.

    No more than `widest` px about a corner are fitted.
    """
    clips = camera if knows_clipping(camera) else None
    chosen = label >= 0
    views, label = corners.where(chosen), label[chosen]
    for turn in range(ROUNDS):
        clusters, step = _completed(_thin_clusters(views, label, micro_images, clips, len(grid.board)), grid)
        k, l, cluster, place = _expected(clusters, micro_images, clips)
        start = _starts(views, label, grid, micro_images, k, l, cluster, place, clusters, clips)
        widest = min(widest, OPEN_WINDOW if clips is None else CLIPPED_WINDOW)
        size = np.clip(np.abs(clusters.factor), *FACTOR_RANGE)
        window = np.clip(SHARE_OF_STEP * step * size, LEAST_WINDOW, widest)[cluster]
        clip = _clip(micro_images, k, l, cluster, clusters, clips, shaped=turn == ROUNDS - 1)
        fitted = fit_corners(gray, micro_images, k, l, start, window, noise, clip)
        good = plausible(fitted, micro_images, noise) & (np.linalg.norm(fitted.uv - place, axis=1) < MISS)
        good &= np.bincount(cluster[good], minlength=len(clusters))[cluster] >= LEAST_VIEWS
        views, label = fitted.where(good), cluster[good]
        if not good.any():
            break
        clip = _clip(micro_images, views.k, views.l, label, clusters, clips)
        noise = measure_noise(gray, micro_images, views, window[good], noise, clip)
    if clips is None:
        views = replace(views, covariance=views.covariance + OPEN_SIGMA**2 * np.eye(2))
    expected = np.bincount(cluster, minlength=len(clusters))
    return BoardViews(views, label, _thin_clusters(views, label, micro_images, clips, len(grid.board)), expected)


def _completed(clusters: Clusters, grid: Grid) -> tuple[Clusters, Array]:
    """Clusters of few views get the place and the factor that the rest of their board foretells; and the grid's steps.

    A homography takes the board to w. Thin lenses image planes to planes, so 1/g, nearly the virtual depth, is linear
    in w.
    """
    center, factor, step = clusters.center.copy(), clusters.factor.copy(), np.full(len(clusters), np.inf)
    for board in np.unique(grid.board):
        here = np.flatnonzero(grid.board == board)
        known = here[clusters.views[here] >= ENOUGH_VIEWS]
        if len(known) < 4 or np.ptp(grid.place[known], axis=0).min() < 1:
            continue
        matrix = homography(grid.place[known].astype(np.float64), clusters.center[known])
        step[here] = grid_steps(matrix, grid.place[here])
        missing = np.setdiff1d(here, known)
        center[missing] = apply_homography(matrix, grid.place[missing].astype(np.float64))
        middle = clusters.center[known].mean(axis=0)
        design = np.column_stack([np.ones(len(known)), clusters.center[known] - middle])
        plane = np.linalg.lstsq(design, 1 / clusters.factor[known], rcond=None)[0]
        factor[missing] = 1 / (np.column_stack([np.ones(len(missing)), center[missing] - middle]) @ plane)
    return replace(clusters, center=center, factor=factor), step


def _thin_clusters(
    views: Corners, label: Indices, micro_images: MicroImageArray, camera: PlenopticCamera | None, count: int = 0
) -> Clusters:
    """Clusters fitted to where the thin-lens model has the views, for which each one's own virtual depth is needed."""
    center = micro_images.center(views.k, views.l).reshape(-1, 2)
    clusters = fit_clusters(views, center, label, views.uv, count)
    if camera is None:
        return clusters
    for _ in range(DEPTH_ROUNDS):
        clip = _clip(micro_images, views.k, views.l, label, clusters, camera)
        clusters = fit_clusters(views, center, label, chief_ray_positions(clip, views.uv), count)
    return clusters


def _clip(
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    cluster: Indices,
    clusters: Clusters,
    camera: PlenopticCamera | None,
    shaped: bool = False,
) -> Clipping:
    if camera is None:
        return no_clipping(micro_images, k, l)
    size = np.clip(np.abs(clusters.factor), *FACTOR_RANGE)
    v = virtual_depth(np.copysign(size, clusters.factor), camera)[cluster]
    return clipping(k, l, v, camera, shaped=shaped)


def _expected(
    clusters: Clusters, micro_images: MicroImageArray, camera: PlenopticCamera | None
) -> tuple[Indices, Indices, Indices, Array]:
    """Micro-images k, l that should show a cluster, which cluster, and where it appears, (n, 2) px."""
    all_k, all_l = (index.reshape(-1) for index in micro_images.lattice.indices())
    tree = cKDTree(micro_images.center(all_k, all_l))
    reach = (micro_images.radius + 1) / np.clip(np.abs(clusters.factor), *FACTOR_RANGE)
    near = tree.query_ball_point(clusters.center, reach, return_sorted=True)
    lens = np.concatenate([np.array(one, dtype=np.int64) for one in near])
    cluster = np.repeat(np.arange(len(clusters)), [len(one) for one in near])
    k, l = all_k[lens], all_l[lens]
    center = micro_images.center(k, l)
    clip = _clip(micro_images, k, l, cluster, clusters, camera)
    place, _ = apparent_positions(clip, center + clusters.offset(cluster, center), np.zeros((len(k), 2, 2)))
    seen = np.linalg.norm(place - center, axis=1) < micro_images.radius - CORNER_RIM
    return k[seen], l[seen], cluster[seen], place[seen]


def _starts(
    views: Corners,
    label: Indices,
    grid: Grid,
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    cluster: Indices,
    place: Array,
    clusters: Clusters,
    camera: PlenopticCamera | None,
) -> Array:
    """Parameters (n, 7) to start from: what the cluster's best view looks like, at the expected place.

    A cluster without any view takes those of the nearest one of its board; neighbours have opposite contrast.
    """
    known = parameters(views)
    types, view_types = micro_images.lens_type(k, l), micro_images.lens_type(views.k, views.l)
    start = np.empty((len(k), 7))
    start[:, :2] = place
    seen = np.unique(label)
    for number in np.unique(cluster):
        wanted = np.flatnonzero(cluster == number)
        apart = np.abs(grid.place[seen] - grid.place[number]).sum(axis=1)
        apart += np.where(grid.board[seen] == grid.board[number], 0, 1000)
        model = seen[np.argmin(apart)]
        rows = np.flatnonzero(label == model)
        best = rows[np.argmin(np.trace(views.covariance[rows], axis1=1, axis2=2))]
        sign = 1 - 2 * (int(apart.min()) % 2)
        start[wanted, 2:] = known[best, 2:]
        start[wanted, 4] = sign * np.sign(known[best, 4]) * np.median(views.contrast[rows])
        start[wanted, 5] = np.median(views.offset[rows])
        for lens_type in np.unique(types[wanted]):
            alike = rows[view_types[rows] == lens_type]
            spread = np.median(views.spread[alike if len(alike) else rows])
            start[wanted[types[wanted] == lens_type], 6] = np.log(spread)
    if camera is not None:
        radius = expected_blur(k, l, virtual_depth(clusters.factor, camera)[cluster], camera)
        start[:, 6] = np.log(np.clip(np.abs(radius) / 2, 0.25, 6.0))
    return start
