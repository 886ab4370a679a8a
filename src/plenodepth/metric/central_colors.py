"""The central view in colour, and its pixels as points: what a pinhole at the main lens' centre would photograph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.metric.central_view import central_places
from plenodepth.metric.cloud import PointCloud

Float32 = NDArray[np.float32]

SAME_DEPTH = 0.05  # of the depth: points farther than this from what a pixel sees lie behind it, or are wrong


def central_image(cloud: PointCloud, depth: Float32, camera: PlenopticCamera, *, scale: int = 4) -> NDArray[np.uint8]:
    """sRGB (h, w, 3) of the central view whose depth (h, w) is given, mm: the mean colour of the points seen there.

    A pixel with a depth but no point takes the colour of those beside it. Black where there is no depth. Take the cloud
    of every pixel, `point_cloud(..., every_pixel=True)`: it leaves few gaps.
    """
    if cloud.colors is None:
        raise InputError("has no colours", field="cloud", fix="give `point_cloud` the raw image")
    place, seen = central_places(cloud.points, camera, scale)
    place, found = place[seen], cloud.points[seen, 2]
    with np.errstate(invalid="ignore"):  # no depth: no colour
        near = np.abs(found - depth.ravel()[place]) <= SAME_DEPTH * found
    place, colors = place[near], cloud.colors[seen][near]
    weights = (None, *colors.T)  # how many points, then the sums of their colours
    sums = np.array([np.bincount(place, weight, minlength=depth.size) for weight in weights], np.float64)
    sums = sums.reshape(-1, *depth.shape)
    around = ndimage.uniform_filter(sums, (0, 3, 3), mode="constant")
    sums = np.where((sums[0] == 0) & np.isfinite(depth), around, sums)
    mean = sums[1:] / np.where(sums[0] > 0, sums[0], 1)
    return np.moveaxis(mean, 0, -1).round().astype(np.uint8)


def central_points(depth: Float32, camera: PlenopticCamera, *, scale: int = 4) -> Float32:
    """What the pixels of a central view see, (h, w, 3) mm in the camera frame, by its depth (h, w) mm."""
    row, column = np.indices(depth.shape)
    middle = scale * np.stack([column, row], axis=-1) + (scale - 1) / 2  # px of the sensor
    direction = -camera.sensor.metric_from_image(middle) / camera.main_lens.focal_length
    return np.concatenate([direction * depth[..., None], depth[..., None]], axis=-1).astype(np.float32)
