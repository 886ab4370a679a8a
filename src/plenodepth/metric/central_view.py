"""The central sub-aperture depth map (CSAD): the cloud as a pinhole at the main lens' centre would see it.

The paper's four steps: back-project every pixel that has a virtual depth (`point_cloud(..., every_pixel=True)`);
a pinhole in place of the plenoptic camera, sensor at distance F, pixels S times as large; project every point
with a z-buffer, keeping the minimum or the median per pixel; a median filter and a morphological erosion.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from plenodepth.camera import PlenopticCamera
from plenodepth.depth.filters.smoothing import median_of_present
from plenodepth.errors import InputError
from plenodepth.metric.cloud import PointCloud

Float32 = NDArray[np.float32]
Rule = Literal["minimum", "median"]

CROSS = 2  # px to each side: the arms of the eroding cross, 5 × 5


def central_depth(
    cloud: PointCloud | ArrayLike,
    camera: PlenopticCamera,
    *,
    scale: int = 4,
    rule: Rule = "minimum",
    median_size: int = 5,
    erosion: bool = True,
) -> Float32:
    """CSAD (height // scale, width // scale) in mm, NaN where there is none, of a cloud or points (n, 3) mm.

    `rule`: the nearest point of a pixel, or the median for noisy data (of two middle ones the nearer).
    `median_size` px, odd; 1 switches the median filter off; `erosion=False` the erosion.
    """
    if median_size < 1 or median_size % 2 == 0:
        raise InputError(f"is {median_size}, needs an odd number ≥ 1", field="median_size")
    depth = z_buffer(cloud, camera, scale=scale, rule=rule)
    if median_size > 1:
        depth = median_filtered(depth, median_size)
    return eroded(depth) if erosion else depth


def z_buffer(
    cloud: PointCloud | ArrayLike, camera: PlenopticCamera, *, scale: int = 4, rule: Rule = "minimum"
) -> Float32:
    """Steps two and three: the depth that each pixel of the pinhole camera sees; NaN for none."""
    if rule not in ("minimum", "median"):
        raise InputError(f"is '{rule}'", field="rule", fix="use minimum or median")
    if not 1 <= scale <= min(camera.sensor.height, camera.sensor.width):
        raise InputError(f"is {scale}, needs a whole number ≥ 1 that leaves pixels", field="scale")
    points = np.asarray(cloud.points if isinstance(cloud, PointCloud) else cloud, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"have shape {points.shape}, need (n, 3)", field="points")
    height, width = camera.sensor.height // scale, camera.sensor.width // scale
    depth = np.full(height * width, np.nan, np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        on_sensor = points[:, :2] * (-camera.main_lens.focal_length / points[:, 2])[:, None]
        # A large pixel covers scale × scale small ones; the centre of the first small one is at 0, its edge at −½.
        position = np.floor((camera.sensor.image_from_metric(on_sensor) + 0.5) / scale)
        column, row = position[:, 0], position[:, 1]
        seen = (points[:, 2] > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixel = (row[seen] * width + column[seen]).astype(np.uint64)
    # One sort by pixel, then by depth: floats > 0 order as their bits do.
    order = np.sort(pixel << np.uint64(32) | points[seen, 2].astype(np.float32).view(np.uint32))
    pixels, first, count = np.unique(order >> np.uint64(32), return_index=True, return_counts=True)
    chosen = first if rule == "minimum" else first + (count - 1) // 2
    depth[pixels.astype(np.int64)] = order[chosen].astype(np.uint32).view(np.float32)
    return depth.reshape(height, width)


def median_filtered(depth: Float32, size: int = 5) -> Float32:
    """Median of what is there in the size × size window, where that is at least half of the window; else NaN.

    So small holes are filled and lone pixels removed, and no missing value enters a median. At the border the
    window is what lies within the map.
    """
    reach = size // 2
    padded = np.pad(depth, reach, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, depth.shape).reshape(-1, *depth.shape)
    present = ndimage.uniform_filter(np.isfinite(depth).astype(np.float64), size, mode="constant")
    within = ndimage.uniform_filter(np.ones(depth.shape), size, mode="constant")
    enough = present >= 0.5 * within - 1e-6
    median = np.empty_like(depth)
    for start in range(0, len(depth), 16):  # a few rows at a time: their temporaries stay in the cache
        rows = slice(start, start + 16)
        median[rows] = median_of_present(windows[:, rows], depth[rows])
    return np.where(enough, median, np.float32(np.nan))


def eroded(depth: Float32) -> Float32:
    """Without the pixels that have a hole among the two to each side, above or below; the map's border is none.

    Depths stay as they are: a minimum over the cross, as for grey images, would draw every slope nearer.
    """
    cross = np.zeros((2 * CROSS + 1, 2 * CROSS + 1), np.bool_)
    cross[CROSS], cross[:, CROSS] = True, True
    solid = ndimage.binary_erosion(np.isfinite(depth), cross, border_value=1)
    return np.where(solid, depth, np.float32(np.nan))
