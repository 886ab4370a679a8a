"""What the views of one board corner tell together: where the main lens images it, and its virtual depth.

Lens (k, l), whose micro-image has the centre c, sees a point at virtual depth v at uv with
    uv − c = g (w − c),     g = (1 − λ) + λ/v
(the disparity of `camera.disparity`), where w is the pixel that the ray through the main lens' centre reaches.
So a cluster is a straight line in c, of one slope for both axes, and w is where it crosses zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plenodepth.calib.features import Features
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, Indices, PlenopticCamera

LEAST_VIEWS = 3
ITERATIONS = 12  # of the robust fit
OUTLYING = 2.5  # robust standard deviations


class Clusters(NamedTuple):
    """m clusters: corners of boards in frames, sorted by frame, board and corner."""

    frame: Indices  # (m,)
    board: Indices  # (m,)
    corner: Indices  # (m,)
    uv: Array  # (m, 2) px: w
    virtual_depth: Array  # (m,) NaN where too few views tell
    views: Indices  # (m,)


def cluster_views(features: Features, camera: PlenopticCamera) -> Clusters:
    """One row for each corner of a board in a frame; features without a corner are left out."""
    assigned = features.where(features.corner >= 0)
    keys = np.stack([assigned.frame, assigned.board, assigned.corner], axis=1)
    unique, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    count = len(unique)
    center = camera.micro_images.center(assigned.k, assigned.l)
    offset = assigned.uv - center
    weight = np.ones(len(assigned))
    mean = middle = np.zeros((count, 2))
    gain = np.zeros(count)
    for _ in range(ITERATIONS):
        mean, middle, gain = _lines(center, offset, weight, group, count)
        missed = offset - mean[group] + gain[group, None] * (center - middle[group])
        distance = np.hypot(missed[:, 0], missed[:, 1])
        spread = OUTLYING * max(1.48 * float(np.median(distance)), 1e-6)
        weight = 1 / (1 + (distance / spread) ** 2) ** 2
    views = np.bincount(group, minlength=count)
    pitch_ratio = float(lens_distances(camera).pitch_ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = pitch_ratio / (gain - (1 - pitch_ratio))
        crossing = middle + mean / gain[:, None]
    known = (views >= LEAST_VIEWS) & np.isfinite(crossing).all(axis=1)
    # Too few views for a line: their mean stands for the corner.
    uv = np.where(known[:, None], crossing, mean + middle)
    frame, board, corner = unique.T
    return Clusters(frame, board, corner, uv, np.where(known, depth, np.nan), views)


def _lines(center: Array, offset: Array, weight: Array, group: Indices, count: int) -> tuple[Array, Array, Array]:
    """Weighted means of the offsets and centres, (m, 2) each, and the gains g (m,) of the lines through them."""
    total = np.maximum(np.bincount(group, weight, count), 1e-12)

    def mean_of(values: Array) -> Array:
        return np.stack([np.bincount(group, weight * axis, count) for axis in values.T], axis=1) / total[:, None]

    mean, middle = mean_of(offset), mean_of(center)
    away, shift = center - middle[group], offset - mean[group]
    products = np.bincount(group, weight * (away * shift).sum(axis=1), count)
    squares = np.bincount(group, weight * (away**2).sum(axis=1), count)
    return mean, middle, -products / np.maximum(squares, 1e-12)
