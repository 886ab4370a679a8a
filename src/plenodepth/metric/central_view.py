"""The central sub-aperture depth map (CSAD): the cloud as a pinhole at the main lens' centre would see it.

The paper's four steps: back-project every pixel that has a virtual depth (`point_cloud(..., every_pixel=True)`);
a pinhole in place of the plenoptic camera, sensor at distance F, pixels S times as large; project every point
with a z-buffer, keeping the minimum or the median per pixel; a median filter and a morphological erosion.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.filters.smoothing import sorting_exchanges
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.metric.kernels.optics import pixel_optics
from plenodepth.threads import each_band, thread_count

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
    _require_odd(median_size)
    return _smoothed(z_buffer(cloud, camera, scale=scale, rule=rule), median_size, erosion)


def central_view(
    virtual_map: VirtualDepthMap,
    camera: PlenopticCamera,
    *,
    metric: MetricDepthMap | None = None,
    scale: int = 4,
    rule: Rule = "median",
    median_size: int = 5,
    erosion: bool = True,
) -> Float32:
    """CSAD of a map: that of the cloud of every pixel that has a depth, without the cloud. `metric`: the map in mm.

    Every pixel, also of a coarse map, leaves no holes between micro-images. The median by default: the nearest of many
    noisy points would be too near.
    """
    from plenodepth.metric.kernels.central import find_places
    from plenodepth.metric.kernels.points import empty_row

    _require_odd(median_size)
    _require_choices(camera, scale, rule)
    camera = scaled_for(camera, virtual_map.aperture_model)
    metric = metric or metric_depth_map(virtual_map, camera)
    sensor = camera.sensor
    owner = owner_map(camera.micro_images, sensor.height, sensor.width)
    optics = pixel_optics(camera, clipped=virtual_map.aperture_model != "off")
    view = pinhole_of(camera, scale)
    place, depth = np.empty(owner.shape, np.int32), virtual_map.virtual_depth.ravel()
    given, width = (owner, depth, virtual_map.refined, optics, view), owner.shape[1]
    each_band(len(owner), lambda rows: find_places(rows.start, rows.stop, *given, empty_row(width), place))
    shape = (sensor.height // scale, sensor.width // scale)
    nearest = _depth_per_pixel(place, owner, metric.depth.ravel(), virtual_map.refined, shape, rule)
    return _smoothed(nearest, median_size, erosion)


def pinhole_of(camera: PlenopticCamera, scale: float) -> NDArray[np.float64]:
    """The pinhole camera of the central view: height and width of its image, its axis' column and row, and F; px."""
    sensor = camera.sensor
    # A large pixel covers scale × scale small ones; the centre of the first small one is at 0, its edge at −½.
    axis, focal = (sensor.principal_point + 0.5) / scale, camera.main_lens.focal_length / sensor.pixel_size / scale
    return np.array([sensor.height // scale, sensor.width // scale, *axis, focal])


def z_buffer(
    cloud: PointCloud | ArrayLike, camera: PlenopticCamera, *, scale: int = 4, rule: Rule = "minimum"
) -> Float32:
    """Steps two and three: the depth that each pixel of the pinhole camera sees; NaN for none."""
    _require_choices(camera, scale, rule)
    points = np.asarray(cloud.points if isinstance(cloud, PointCloud) else cloud, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError(f"have shape {points.shape}, need (n, 3)", field="points")
    place, seen = central_places(points, camera, scale)
    shape = (camera.sensor.height // scale, camera.sensor.width // scale)
    place = place[seen][None]
    return _depth_per_pixel(place, place, points[seen, 2].astype(np.float32), True, shape, rule)


def central_places(
    points: NDArray[np.floating[Any]], camera: PlenopticCamera, scale: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """In which pixel of the central view, row by row, points (n, 3) mm lie (n,), and whether they lie in one (n,)."""
    height, width = camera.sensor.height // scale, camera.sensor.width // scale
    with np.errstate(divide="ignore", invalid="ignore"):
        on_sensor = points[:, :2] * (-camera.main_lens.focal_length / points[:, 2])[:, None]
        position = np.floor((camera.sensor.image_from_metric(on_sensor) + 0.5) / scale)
        column, row = position[:, 0], position[:, 1]
        seen = (points[:, 2] > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    return np.where(seen, row * width + column, -1).astype(np.int32), seen


def _depth_per_pixel(
    place: NDArray[np.int32],
    owner: NDArray[np.int32],
    depth: Float32,
    refined: bool,
    shape: tuple[int, int],
    rule: Rule,
) -> Float32:
    """One depth (h, w) for each pixel of the central view, of the pixels or points whose `place` it is."""
    from plenodepth.metric.kernels.central import MOST_SORTED, PIXELS_AT_A_TIME, choose_depths, count_depths

    chosen = np.full(shape[0] * shape[1], np.nan, np.float32)
    given, exchanges = (place, owner, depth, refined), np.array(sorting_exchanges(MOST_SORTED))

    def choose(pixels: slice) -> None:
        ends, starts = (pixels.start, pixels.stop), np.zeros(pixels.stop - pixels.start + 1, np.int64)
        count_depths(*ends, *given, starts)
        values = np.empty(starts[-1], np.float32)
        buffers = starts.copy(), values, np.empty((MOST_SORTED, PIXELS_AT_A_TIME), np.float32)
        choose_depths(*ends, *given, rule == "median", exchanges, starts, *buffers, chosen)

    # Each thread goes through all places, so there are as many parts as threads.
    part = -(-len(chosen) // thread_count())
    each_band(len(chosen), choose, rows=part)
    return chosen.reshape(shape)


def _smoothed(depth: Float32, median_size: int, erosion: bool) -> Float32:
    """The map after a median of `median_size` px, which drops stray depths, and an erosion of its outlines."""
    if median_size > 1:
        depth = median_filtered(depth, median_size)
    return eroded(depth) if erosion else depth


def _require_odd(median_size: int) -> None:
    if median_size < 1 or median_size % 2 == 0:
        raise InputError(f"is {median_size}, needs an odd number ≥ 1", field="median_size")


def _require_choices(camera: PlenopticCamera, scale: int, rule: Rule) -> None:
    if rule not in ("minimum", "median"):
        raise InputError(f"is '{rule}'", field="rule", fix="use minimum or median")
    if not 1 <= scale <= min(camera.sensor.height, camera.sensor.width):
        raise InputError(f"is {scale}, needs a whole number ≥ 1 that leaves pixels", field="scale")


def median_filtered(depth: Float32, size: int = 5) -> Float32:
    """Median of what is there in the size × size window, where that is at least half of the window; else NaN.

    So small holes are filled and lone pixels removed, and no missing value enters a median. At the border the
    window is what lies within the map.
    """
    from plenodepth.metric.kernels.smoothing import filter_rows

    median, exchanges = np.empty(depth.shape, np.float32), np.array(sorting_exchanges(size * size))
    given, width = (np.ascontiguousarray(depth), size // 2, exchanges), depth.shape[1]

    def fill(rows: slice) -> None:
        buffers = np.empty((size * size, width), np.float32), np.empty(width, np.int32)
        filter_rows(rows.start, rows.stop, *given, *buffers, median)

    each_band(len(depth), fill)
    return median


def eroded(depth: Float32) -> Float32:
    """Without the pixels that have a hole among the two to each side, above or below; the map's border is none.

    Depths stay as they are: a minimum over the cross, as for grey images, would draw every slope nearer.
    """
    present = np.isfinite(depth)
    solid = present.copy()
    for step in range(1, CROSS + 1):
        solid[step:] &= present[:-step]
        solid[:-step] &= present[step:]
        solid[:, step:] &= present[:, :-step]
        solid[:, :-step] &= present[:, step:]
    return np.where(solid, depth, np.float32(np.nan))
