"""A point cloud small enough for a page: fewer points, coordinates of 16 bits."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.picture import color_table, depth_colors

MOST_POINTS = 120_000
STEPS = 65535  # of a coordinate, from one end of the cloud to the other
SEEN_QUANTILES = (0.01, 0.99)  # of the points fill the first picture; stray ones may lie outside
SPREAD = 1.6  # a point is drawn this much larger than its share of the picture, so that surfaces close


def embedded_cloud(cloud: PointCloud) -> str | None:
    """What `turntable.js` reads, as JSON; None for a cloud without points."""
    if not len(cloud):
        return None
    chosen = thinned_points(cloud)
    points = cloud.points[chosen].astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    coordinates = np.round(STEPS * (points - low) / np.maximum(high - low, 1e-9)).astype("<u2")
    shades = np.empty((len(chosen), 4), np.uint8)
    shades[:, :3] = 160 if cloud.colors is None else cloud.colors[chosen]
    shades[:, 3] = (255 * np.clip(cloud.confidence[chosen], 0, 1)).round()
    directions = points[:, :2] / np.maximum(points[:, 2:], 1e-9)
    first, last = np.quantile(directions, SEEN_QUANTILES, axis=0)
    middle, half = (first + last) / 2, np.maximum((last - first) / 2, 1e-6)
    near = float(1 / np.mean(1 / np.maximum(points[:, 2], 1e-9)))  # the harmonic mean: what is near fills the picture
    pivot = np.array([*(near * middle), near])
    depths = depth_colors(cloud.points[:, 2])
    content: dict[str, Any] = {
        "count": len(chosen),
        "low": low.tolist(),
        "high": high.tolist(),
        "pivot": pivot.tolist(),
        "middle": middle.tolist(),
        "half": half.tolist(),
        "spacing": SPREAD * float(np.sqrt(4 * half.prod() / len(chosen))),
        "near": depths["vmin"],
        "far": depths["vmax"],
        "colors": _text(color_table().tobytes()),
        "points": _text(coordinates.tobytes() + shades.tobytes()),
    }
    return json.dumps(content)


def thinned_points(cloud: PointCloud) -> NDArray[np.int64]:
    """Which points are embedded: all of a small cloud, else the most confident one of each square of pixels."""
    if len(cloud) <= MOST_POINTS:
        return np.arange(len(cloud))
    pixels = cloud.pixels.astype(np.int64)
    pixels -= pixels.min(axis=0)
    step = max(int(np.gcd.reduce(pixels, axis=None)), 1)  # of a dense view, whose pixels are several of the sensor's
    surest = np.argsort(-cloud.confidence, kind="stable")
    side = step
    while True:
        squares = pixels // side
        square = squares[:, 1] * (int(squares[:, 0].max()) + 1) + squares[:, 0]
        _, first = np.unique(square[surest], return_index=True)
        if len(first) <= MOST_POINTS:
            return np.asarray(np.sort(surest[first]), np.int64)
        side += max(step, side // 8)


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
