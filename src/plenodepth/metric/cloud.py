"""Coloured point clouds in the camera frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, corrected_disparity, lens_distances, pitch_ratio
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.metric.kernels.optics import PixelOptics, pixel_optics
from plenodepth.raw.image import RawImage
from plenodepth.threads import ROWS_AT_A_TIME, each_band

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

Columns = tuple[NDArray[Any], ...]  # points, pixels, σ, confidence

POINTS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class PointCloud:
    """n points in the camera frame."""

    points: Float32  # (n, 3) mm
    colors: NDArray[np.uint8] | None  # (n, 3) sRGB
    confidence: Float32  # (n,) in [0, 1]
    sigma: Float32  # (n,) standard deviation of z, mm
    pixels: NDArray[np.int32]  # (n, 2): the (u, v) of the raw image that each point comes from

    def __len__(self) -> int:
        return len(self.points)


def point_cloud(
    virtual_map: VirtualDepthMap,
    camera: PlenopticCamera,
    raw: RawImage | None = None,
    *,
    metric: MetricDepthMap | None = None,
    every_pixel: bool = False,
) -> PointCloud:
    """The points that the pixels see (whole points scaled by Γ), in the order of the pixels.

    Refined: every pixel with a depth. Coarse: a point lies in some |v|² micro-images, so taking each of their pixels
    would cover the scene as often. From one micro-image to the next it moves by the disparity, g pitches: the part
    of a micro-image that no other shows nearer to its centre is its cell of the lattice made smaller by |g| ≈ 1/|v|,
    a radius of pitch/(2|v|). These parts tile the scene once; each holds at least the pixel on the centre.
    `every_pixel` takes all the same, as the central sub-aperture map wants. `metric` is the map in mm, if it is there.

    Where an aperture model has made the map, a point lies where its pixel looks through the clipped lens, and pixels
    that the model has dark give none; a plain map (off) takes every pixel to look through its lens' centre.
    """
    from plenodepth.camera.kernels.owners import grid_in_image
    from plenodepth.metric.kernels.clouds import find_points
    from plenodepth.metric.kernels.points import empty_row

    camera = scaled_for(camera, virtual_map.aperture_model)
    metric = metric or metric_depth_map(virtual_map, camera)
    refined, shape = virtual_map.refined, (camera.sensor.height, camera.sensor.width)
    if raw is not None and raw.gray.shape != shape:
        raise InputError(f"is {raw.gray.shape}, the camera's is {shape}", file=raw.name, field="image")
    owner, grid = owner_map(camera.micro_images, *shape), grid_in_image(camera.micro_images)
    optics = pixel_optics(camera, clipped=virtual_map.aperture_model != "off")
    center = camera.micro_images.center(*camera.micro_images.lattice.indices()).reshape(-1, 2)
    share = np.empty(0) if refined or every_pixel else _shares(virtual_map, camera, optics, center)
    maps = tuple(values.ravel() for values in (metric.depth, metric.sigma, metric.confidence))
    given = owner, virtual_map.virtual_depth.ravel(), refined, maps, optics, grid, np.ascontiguousarray(center), share
    width = shape[1]

    def find(first: int, last: int, columns: Columns) -> int:
        return int(find_points(first, last, *given, empty_row(width), np.arange(width, dtype=np.int32), columns))

    columns = _refined_columns(virtual_map.virtual_depth, find) if refined else _coarse_columns(shape, find)
    points, pixels, sigma, confidence = columns
    return PointCloud(points, None if raw is None else _colors(raw, pixels), confidence, sigma, pixels)


def _empty_columns(count: int) -> Columns:
    """Room for the points, pixels, σ and confidence of so many points."""
    return (
        np.empty((count, 3), np.float32),
        np.empty((count, 2), np.int32),
        np.empty(count, np.float32),
        np.empty(count, np.float32),
    )


def _coarse_columns(shape: tuple[int, int], find: Callable[[int, int, Columns], int]) -> Columns:
    """The columns of a coarse map's cloud: few of the pixels give points, so each band's are copied together."""

    def of_band(rows: slice) -> Columns:
        columns = _empty_columns((rows.stop - rows.start) * shape[1])
        count = find(rows.start, rows.stop, columns)
        return tuple(column[:count].copy() for column in columns)  # the rest of the memory is free again

    parts = each_band(shape[0], of_band)
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _refined_columns(depth: Float32, find: Callable[[int, int, Columns], int]) -> Columns:
    """The columns of a refined map's cloud: nearly every depth gives a point, so bands write where theirs will be."""
    height = len(depth)
    known = np.concatenate(each_band(height, lambda rows: np.isfinite(depth[rows]).sum(axis=1)))
    before = np.concatenate([[0], np.cumsum(known)]).tolist()  # each row
    columns = _empty_columns(before[-1])

    def of_band(rows: slice) -> int:
        return find(rows.start, rows.stop, tuple(column[before[rows.start] : before[rows.stop]] for column in columns))

    counts, starts = each_band(height, of_band), before[:height:ROWS_AT_A_TIME]
    return tuple(_without_gaps(column, starts, counts) for column in columns)


def _without_gaps(column: NDArray[Any], starts: list[int], counts: list[int]) -> NDArray[Any]:
    """The rows (n, ...) of an array that are filled, so many from each start on, moved together in the same memory."""
    end = 0
    for start, count in zip(starts, counts, strict=True):
        if start > end:
            column[end : end + count] = column[start : start + count]
        end += count
    return column[:end]


def _shares(virtual_map: VirtualDepthMap, camera: PlenopticCamera, optics: PixelOptics, center: Float64) -> Float64:
    """Size (J,), relative to its cell of the lattice, of the part that each micro-image shows best of all."""
    from plenodepth.metric.kernels.clouds import find_shares

    lattice = camera.micro_images.lattice
    k, l = (index.ravel() for index in lattice.indices())
    v = virtual_map.virtual_depth.ravel().astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(corrected_disparity([1.0], v, pitch_ratio(camera, lens_distances(camera, k, l)))[..., 0])
    share = np.maximum(share, 1e-6)
    if optics.clipped:
        find_shares(optics, center, v, share * lattice.pitch[0] / 2, share)
    return share


def _colors(raw: RawImage, pixels: NDArray[np.int32]) -> NDArray[np.uint8]:
    """sRGB bytes (n, 3) of linear light at pixels (n, 2); black where a pixel is unusable."""
    from plenodepth.metric.kernels.clouds import color_starts, find_colors

    light = raw.gray[..., None] if raw.color is None else raw.color
    # The least light of each byte: the inverse of rounding 255 times the encoded light.
    encoded = (np.arange(256) - 0.5) / 255
    least = np.where(encoded <= 0.04045, encoded / 12.92, ((np.maximum(encoded, 0) + 0.055) / 1.055) ** 2.4)
    colors = np.empty((len(pixels), 3), np.uint8)
    least_light = least.astype(np.float32)
    arrays = light, pixels, least_light, color_starts(least_light), colors
    each_band(len(pixels), lambda part: find_colors(part.start, part.stop, *arrays), rows=POINTS_AT_A_TIME)
    return colors
