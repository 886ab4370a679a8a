"""Coloured point clouds in the camera frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, apparent_position, corrected_disparity, lens_distances, unproject
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map
from plenodepth.raw.image import RawImage

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

POINTS_AT_A_TIME = 1 << 18


@dataclass(frozen=True, eq=False)
class PointCloud:
    """n points in the camera frame."""

    points: Float64  # (n, 3) mm
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
    camera = scaled_for(camera, virtual_map.aperture_model)
    metric = metric or metric_depth_map(virtual_map, camera)
    shape = (camera.sensor.height, camera.sensor.width)
    owner = owner_map(camera.micro_images, *shape)
    if virtual_map.refined:
        row, column = np.nonzero(np.isfinite(metric.depth))
        entry = row * shape[1] + column
    else:
        present = np.append(np.isfinite(metric.depth).ravel(), False)  # index −1, no lens, finds the last
        row, column = np.nonzero(present[owner])
        if not every_pixel:
            share = _own_share(virtual_map, camera).ravel()
            central = _in_central_part(share, row, column, owner[row, column], camera)
            row, column = row[central], column[central]
        entry = owner[row, column].astype(np.int64)
    lens = owner[row, column]
    v, clipped = virtual_map.virtual_depth.ravel(), virtual_map.aperture_model != "off"
    points = np.empty((len(row), 3))
    for start in range(0, len(row), POINTS_AT_A_TIME):
        part = slice(start, start + POINTS_AT_A_TIME)
        l, k = np.divmod(lens[part], camera.micro_images.lattice.columns)
        pixels = np.column_stack([column[part], row[part]])
        points[part] = unproject(pixels, k, l, v[entry[part]], camera, apparent=clipped)
    there = np.isfinite(points).all(axis=1)
    if not there.all():
        points, row, column, entry = points[there], row[there], column[there], entry[there]
    return PointCloud(
        points=points,
        colors=None if raw is None else _colors(raw, row, column, shape),
        confidence=metric.confidence.ravel()[entry],
        sigma=metric.sigma.ravel()[entry],
        pixels=np.column_stack([column, row]).astype(np.int32),
    )


def _own_share(virtual_map: VirtualDepthMap, camera: PlenopticCamera) -> Float64:
    """Size, relative to its cell of the lattice, of the part that a micro-image shows best of all; (rows, columns)."""
    lattice = camera.micro_images.lattice
    k, l = lattice.indices()
    v = virtual_map.virtual_depth.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(corrected_disparity([1.0], v, lens_distances(camera, k, l).pitch_ratio)[..., 0])
    share = np.maximum(share, 1e-6)
    if virtual_map.aperture_model == "off":
        return np.asarray(share)
    # Pixels of a clipped lens may look closer together than they stand: so more of them show the same part.
    reach = share[..., None] * lattice.pitch / 2 * [1, 0]
    center = camera.micro_images.center(k, l)
    left, right = (apparent_position(center + side * reach, k, l, v, camera) for side in (-1, 1))
    stretch = (right - left)[..., 0] / (2 * reach[..., 0])
    return np.where(np.isfinite(stretch), stretch, 1) * share


def _in_central_part(
    share: Float64, row: Int64, column: Int64, lens: NDArray[np.int32], camera: PlenopticCamera
) -> NDArray[np.bool_]:
    """Whether pixels lie in their cell of the lattice made smaller by `share` of their lens, (n,), or on its centre."""
    micro_images = camera.micro_images
    k, l = micro_images.lattice.indices()
    share = share[lens]
    center = micro_images.center(k, l).reshape(-1, 2)
    offset_u, offset_v = column - center[lens, 0], row - center[lens, 1]
    central: NDArray[np.bool_] = (np.abs(offset_u) <= 0.5) & (np.abs(offset_v) <= 0.5)
    # A cell reaches no farther than pitch/√2 (square) from its centre; few pixels are left for the exact test.
    near = np.flatnonzero(offset_u**2 + offset_v**2 <= (share * micro_images.lattice.pitch.max()) ** 2 / 2)
    enlarged = np.column_stack([offset_u[near], offset_v[near]]) / share[near, None] + center[lens[near]]
    # `nearest`, not `owner`: at the array's border the cells continue beyond it.
    k, l = micro_images.lattice.nearest(micro_images.image_from_lattice.inverse()(enlarged))
    central[near] |= (k == lens[near] % micro_images.lattice.columns) & (
        l == lens[near] // micro_images.lattice.columns
    )
    return central


def _colors(raw: RawImage, row: Int64, column: Int64, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """sRGB bytes of linear light; black where a pixel is unusable."""
    if raw.gray.shape != shape:
        raise InputError(f"is {raw.gray.shape}, the camera's is {shape}", file=raw.name, field="image")
    light = raw.gray if raw.color is None else raw.color
    linear = np.clip(np.nan_to_num(light[row, column], nan=0.0), 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    bytes_ = np.rint(255 * encoded).astype(np.uint8)
    return bytes_ if bytes_.ndim == 2 else np.repeat(bytes_[:, None], 3, axis=1)
