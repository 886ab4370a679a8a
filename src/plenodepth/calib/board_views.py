"""All views of a board: once its corners are known in space, each micro-image that should show one is looked at again.

With a camera whose focal lengths and f-number are known the fits take account of how the aperture clips the blur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.calib.clipping import Clipping, appears_at, clipping, knows_clipping, looks_at, no_clipping
from plenodepth.calib.clusters import MISS, Clusters, fit_clusters
from plenodepth.calib.corners import CORNER_RIM, Corners, Noise, fit_corners, measured_noise, parameters, plausible
from plenodepth.camera import PlenopticCamera, lens_distances
from plenodepth.camera.blur import blur_line
from plenodepth.camera.model import Array, Indices, MicroImageArray

OPEN_WINDOW = 6.0  # px around a corner that are fitted, where nothing is known of the aperture
CLIPPED_WINDOW = 12.0  # px, where it is
LEAST_WINDOW = 2.8
SHARE_OF_STEP = 0.6  # of the way to the next corner on the board
ROUNDS = 2
DEPTH_ROUNDS = 6
FACTOR_RANGE = (0.015, 0.8)  # |g|, kept within while a virtual depth is refined


@dataclass(frozen=True, eq=False)
class BoardViews:
    """The views of m clusters."""

    corners: Corners
    label: Indices  # (n,) cluster 0 … m−1
    clusters: Clusters
    noise: Noise


def virtual_depth(camera: PlenopticCamera, factor: Array) -> Array:
    """v (m,) of clusters with disparity factors g (m,)."""
    ratio = float(lens_distances(camera).pitch_ratio)
    return np.asarray(ratio / (factor - (1 - ratio)))


def refined_views(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    corners: Corners,
    label: Indices,
    step: Array,
    noise: Noise,
    camera: PlenopticCamera | None = None,
) -> BoardViews:
    """Fit all views of m clusters; `label` (n,) of the known ones, `step` (m,) px from w to that of the next corner."""
    clips = camera if knows_clipping(camera) else None
    chosen = label >= 0
    views = corners.where(chosen)
    label = label[chosen]
    clusters = _thin_clusters(views, label, micro_images, clips)
    for round_ in range(ROUNDS):
        k, l, cluster = _expected(clusters, micro_images)
        clip = _clip(micro_images, k, l, cluster, clusters, clips)
        thin = micro_images.center(k, l) + clusters.offset(cluster, micro_images.center(k, l))
        place, _ = appears_at(clip, thin, np.zeros((len(k), 2, 2)))
        away = np.linalg.norm(place - micro_images.center(k, l), axis=1)
        seen = away < micro_images.radius - CORNER_RIM
        k, l, cluster, place = k[seen], l[seen], cluster[seen], place[seen]
        start = _starts(views, label, micro_images, k, l, cluster, place, clusters, clips)
        widest = OPEN_WINDOW if clips is None else CLIPPED_WINDOW
        window = np.clip(SHARE_OF_STEP * step * np.abs(clusters.factor), LEAST_WINDOW, widest)[cluster]
        clip = _clip(micro_images, k, l, cluster, clusters, clips)
        fitted = fit_corners(gray, micro_images, k, l, start, window, noise, clip)
        good = plausible(fitted, micro_images, noise) & (np.linalg.norm(fitted.uv - place, axis=1) < MISS)
        views, label = fitted.where(good), cluster[good]
        if round_ + 1 < ROUNDS:
            clip = _clip(micro_images, views.k, views.l, label, clusters, clips)
            noise = measured_noise(gray, micro_images, views, window[good], noise, clip)
            clusters = _updated(clusters, _thin_clusters(views, label, micro_images, clips, len(clusters)))
    return BoardViews(views, label, _thin_clusters(views, label, micro_images, clips, len(clusters)), noise)


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
        clusters = fit_clusters(views, center, label, looks_at(clip, views.uv), count)
    return clusters


def _updated(before: Clusters, after: Clusters) -> Clusters:
    """The new fits, and the old ones of clusters that have lost nearly all views."""
    poor = after.views < 3
    after.center[poor], after.factor[poor], after.bright[poor] = (
        before.center[poor],
        before.factor[poor],
        before.bright[poor],
    )
    return after


def _clip(
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    cluster: Indices,
    clusters: Clusters,
    camera: PlenopticCamera | None,
) -> Clipping:
    if camera is None:
        return no_clipping(micro_images, k, l)
    size = np.clip(np.abs(clusters.factor), *FACTOR_RANGE)
    return clipping(camera, k, l, virtual_depth(camera, np.copysign(size, clusters.factor))[cluster])


def _expected(clusters: Clusters, micro_images: MicroImageArray) -> tuple[Indices, Indices, Indices]:
    """Micro-images k, l that may show each cluster, and the cluster."""
    all_k, all_l = (index.reshape(-1) for index in micro_images.lattice.indices())
    tree = cKDTree(micro_images.center(all_k, all_l))
    reach = (micro_images.radius + 1) / np.clip(np.abs(clusters.factor), *FACTOR_RANGE)
    near = tree.query_ball_point(clusters.center, reach, return_sorted=True)
    lens = np.concatenate([np.array(one, dtype=np.int64) for one in near])
    cluster = np.repeat(np.arange(len(clusters)), [len(one) for one in near])
    return all_k[lens], all_l[lens], cluster


def _starts(
    views: Corners,
    label: Indices,
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    cluster: Indices,
    place: Array,
    clusters: Clusters,
    camera: PlenopticCamera | None,
) -> Array:
    """Parameters (n, 7) to start from: what the cluster's other views look like, at the expected place."""
    known = parameters(views)
    types = micro_images.lens_type(k, l)
    start = np.empty((len(k), 7))
    start[:, :2] = place
    for number in range(len(clusters)):
        rows = np.flatnonzero(label == number)
        wanted = np.flatnonzero(cluster == number)
        if not len(rows) or not len(wanted):
            start[wanted, 2:] = np.median(known[:, 2:], axis=0)
            continue
        # The same corner can be told with either normal turned round or both exchanged: align all with the sharpest.
        best = rows[np.argmin(views.covariance[rows, 0, 0] + views.covariance[rows, 1, 1])]
        start[wanted, 2:] = known[best, 2:]
        start[wanted, 4] = np.sign(known[best, 4]) * np.median(views.contrast[rows])
        start[wanted, 5] = np.median(views.offset[rows])
        row_types = micro_images.lens_type(views.k[rows], views.l[rows])
        for lens_type in np.unique(types[wanted]):
            alike = rows[row_types == lens_type] if (row_types == lens_type).any() else rows
            start[wanted[types[wanted] == lens_type], 6] = np.log(np.median(views.spread[alike]))
    if camera is not None:
        line = blur_line(camera)
        radius = line.radius(virtual_depth(camera, clusters.factor)[cluster], types)
        start[:, 6] = np.log(np.clip(np.abs(radius) / 2, 0.25, 6.0))
    return start


def nearest_steps(center: Array, label_count: int) -> Array:
    """Distance (m,) px from each centre w to the nearest other one; a board's corners."""
    if label_count < 2:
        return np.full(label_count, np.inf)
    distance = np.asarray(cKDTree(center).query(center, k=2)[0])
    return np.asarray(distance[:, 1])
