"""Targets in an image: single corners that many micro-images show, and where they are in the camera frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.board_features import checked_gray
from plenodepth.calib.corners.board_views import Grid, refined_views, virtual_depth
from plenodepth.calib.corners.clusters import Clusters, find_clusters
from plenodepth.calib.corners.search import find_corners
from plenodepth.calib.corners.view_features import ViewFeatures, features_of_views
from plenodepth.calib.features import UNKNOWN, Features
from plenodepth.camera import PlenopticCamera, unproject
from plenodepth.camera.model import Array, Indices, MicroImageArray

LEAST_VIEWS = 5
SURE_VIEWS = 8
LEAST_SHARE = 0.35  # of the micro-images that should show a target
ENOUGH_SHARE = 0.8  # where fewer do, what else is nearby may be in the way, and a smaller window is tried
WINDOWS = (12.0, 6.0, 4.0)  # px about a corner that are fitted
VIRTUAL_RANGE = (1.5, 40.0)  # |v| that a target may have
MOST_TARGETS = 30
LEAST_SIGMA = 0.003  # of depth: what a calibration leaves open


@dataclass(frozen=True, eq=False)
class ImageTargets:
    """m corners, those with most views first; their features' `cluster` is their number."""

    points: Array  # (m, 3) mm, camera frame; without the camera's Γ
    depth_sigma: Array  # (m,) mm, along z
    features: Features
    sure: NDArray[np.bool_]  # (m,) many views, and nearly all that should be: a corner of a texture hardly has these

    def __len__(self) -> int:
        return len(self.points)


def find_image_targets(gray: NDArray[np.float32], camera: PlenopticCamera, *, frame: int = 0) -> ImageTargets:
    """Single corners in a devignetted image (h, w), NaN where unusable.

    What else looks like a corner to several micro-images, such as one of a texture, is among them.
    """
    camera, micro_images = replace(camera, depth_scale=None, depth_scale_model="off"), camera.micro_images
    gray = checked_gray(gray, micro_images)
    corners, noise = find_corners(gray, micro_images)
    clusters, label = find_clusters(corners, micro_images)
    chosen = _promising(clusters, camera)
    if not len(chosen):
        return _nothing()
    number = np.full(len(clusters) + 1, UNKNOWN, dtype=np.int64)  # the last entry: no cluster
    parts, shares = [], []
    for window in WINDOWS:
        number[:] = UNKNOWN
        number[chosen] = np.arange(len(chosen))
        # Each is a board of its own, of one corner.
        grid = Grid(np.arange(len(chosen)), np.zeros((len(chosen), 2), dtype=np.int64))
        views = refined_views(gray, micro_images, corners, number[label], grid, noise, camera, widest=window)
        seen = np.bincount(views.label, minlength=len(chosen))
        least = ENOUGH_SHARE if window > WINDOWS[-1] else LEAST_SHARE
        good = (seen >= LEAST_VIEWS) & (seen >= least * views.expected)
        zero = np.zeros(len(chosen), dtype=np.int64)
        if good.any():
            parts.append(features_of_views(views, good, corner=zero, board=zero, frame=frame, camera=camera))
            shares.append((seen / np.maximum(views.expected, 1))[good])
        chosen = chosen[~good]
        if not len(chosen):
            break
    return _placed(parts, shares, camera)


def _promising(clusters: Clusters, camera: PlenopticCamera) -> Indices:
    """Numbers of the clusters that are before the camera and that enough of the lenses see, at most so many."""
    micro_images = camera.micro_images
    with np.errstate(divide="ignore"):
        depth = np.abs(virtual_depth(clusters.factor, camera))
        # A point is seen by the lenses within radius/|g| of its w.
        lenses = np.pi * (micro_images.radius / clusters.factor) ** 2 / micro_images.lattice.diameter**2
    good = (clusters.views >= LEAST_VIEWS - 1) & (clusters.views > LEAST_SHARE / 2 * lenses)
    good &= (depth > VIRTUAL_RANGE[0]) & (depth < VIRTUAL_RANGE[1])
    found = np.flatnonzero(good)
    return np.asarray(found[np.argsort(-clusters.views[found], kind="stable")][:MOST_TARGETS], dtype=np.int64)


def _placed(parts: list[ViewFeatures], shares: list[Array], camera: PlenopticCamera) -> ImageTargets:
    """The corners' places, those with most views first, numbered in that order; `shares` of the views expected."""
    if not parts:
        return _nothing()
    places = [_places(part, camera) for part in parts]
    points, sigma = (np.concatenate(columns) for columns in zip(*places, strict=True))
    views = np.concatenate([part.clusters.views for part in parts])
    good = np.flatnonzero(np.isfinite(points).all(axis=1) & (points[:, 2] > camera.main_lens.focal_length))
    order = good[np.argsort(-views[good], kind="stable")]
    number = np.full(len(points), UNKNOWN, dtype=np.int64)
    number[order] = np.arange(len(order))
    first = np.cumsum([0, *(len(part.clusters) for part in parts)])
    features = Features.joined(
        [
            replace(part.features, cluster=number[part.features.cluster + start])
            for part, start in zip(parts, first, strict=False)
        ]
    )
    sure = (views >= SURE_VIEWS) & (np.concatenate(shares) >= ENOUGH_SHARE)
    return ImageTargets(points[order], sigma[order], features.where(features.cluster >= 0), sure[order])


def _places(found: ViewFeatures, camera: PlenopticCamera) -> tuple[Array, Array]:
    """Points (m, 3) mm by the lens nearest to each, and the standard deviations (m,) of their depths, mm."""
    center = found.clusters.center
    k, l = _nearest_lens(camera.micro_images, center)
    middle = camera.micro_images.center(k, l)
    pixel = middle + found.clusters.offset(np.arange(len(center)), middle)
    points, nearer = (
        unproject(pixel, k, l, depth, camera) for depth in (found.virtual_depth, 1.001 * found.virtual_depth)
    )
    slope = np.abs(nearer - points)[:, 2] / np.abs(0.001 * found.virtual_depth)
    return points, np.hypot(slope * found.virtual_depth_sigma, LEAST_SIGMA * points[:, 2])


def _nothing() -> ImageTargets:
    return ImageTargets(np.zeros((0, 3)), np.zeros(0), Features.joined([]), np.zeros(0, dtype=np.bool_))


def _nearest_lens(micro_images: MicroImageArray, center: Array) -> tuple[Indices, Indices]:
    k, l = (index.reshape(-1) for index in micro_images.lattice.indices())
    places = micro_images.center(k, l)
    nearest = [int(np.argmin(((places - one) ** 2).sum(axis=1))) for one in center]
    return k[nearest], l[nearest]
