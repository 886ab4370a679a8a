"""Point clouds and central views in plain NumPy, as slow as clear: the oracle of the compiled ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import (
    PlenopticCamera,
    apparent_position,
    corrected_disparity,
    lens_distances,
    pitch_ratio,
    unproject,
)
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.maps import VirtualDepthMap

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def plain_cloud(
    virtual_map: VirtualDepthMap, camera: PlenopticCamera, *, every_pixel: bool = False
) -> tuple[Float64, Int64]:
    """Points (n, 3) mm and their pixels (n, 2), as of `point_cloud`."""
    camera, v = scaled_for(camera, virtual_map.aperture_model), virtual_map.virtual_depth.ravel()
    owner = owner_map(camera.micro_images, camera.sensor.height, camera.sensor.width)
    if virtual_map.refined:
        row, column = np.nonzero(np.isfinite(virtual_map.virtual_depth) & (owner >= 0))
        entry = row * owner.shape[1] + column
    else:
        row, column = np.nonzero(np.append(np.isfinite(v), False)[owner])  # index −1, no lens, finds the last
        if not every_pixel:
            central = in_central_part(own_share(virtual_map, camera).ravel(), row, column, owner[row, column], camera)
            row, column = row[central], column[central]
        entry = owner[row, column].astype(np.int64)
    l, k = np.divmod(owner[row, column], camera.micro_images.lattice.columns)
    pixels = np.column_stack([column, row])
    points = unproject(pixels, k, l, v[entry], camera, apparent=virtual_map.aperture_model != "off")
    there = np.isfinite(points).all(axis=1)
    return points[there], pixels[there]


def own_share(virtual_map: VirtualDepthMap, camera: PlenopticCamera) -> Float64:
    """Size, relative to its cell of the lattice, of the part that a micro-image shows best of all; (rows, columns)."""
    lattice = camera.micro_images.lattice
    k, l = lattice.indices()
    v = virtual_map.virtual_depth.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(corrected_disparity([1.0], v, pitch_ratio(camera, lens_distances(camera, k, l)))[..., 0])
    share = np.maximum(share, 1e-6)
    if virtual_map.aperture_model == "off":
        return np.asarray(share)
    # Pixels of a clipped lens may look closer together than they stand: so more of them show the same part.
    reach = share[..., None] * lattice.pitch / 2 * [1, 0]
    center = camera.micro_images.center(k, l)
    left, right = (apparent_position(center + side * reach, k, l, v, camera) for side in (-1, 1))
    stretch = (right - left)[..., 0] / (2 * reach[..., 0])
    return np.where(np.isfinite(stretch), stretch, 1) * share


def in_central_part(
    share: Float64, row: Int64, column: Int64, lens: NDArray[np.int32], camera: PlenopticCamera
) -> NDArray[np.bool_]:
    """Whether pixels lie in their cell of the lattice made smaller by `share` of their lens, (n,), or on its centre."""
    micro_images = camera.micro_images
    k, l = micro_images.lattice.indices()
    center = micro_images.center(k, l).reshape(-1, 2)[lens]
    offset = np.column_stack([column, row]) - center
    enlarged = offset / share[lens, None] + center
    k, l = micro_images.lattice.nearest(micro_images.image_from_lattice.inverse()(enlarged))
    own = (k == lens % micro_images.lattice.columns) & (l == lens // micro_images.lattice.columns)
    return np.asarray(own | (np.abs(offset) <= 0.5).all(axis=1))


def plain_z_buffer(points: Float64, camera: PlenopticCamera, scale: int, *, median: bool) -> NDArray[np.float32]:
    """The depth that each pixel of a pinhole camera in place of the camera sees, mm; NaN for none."""
    height, width = camera.sensor.height // scale, camera.sensor.width // scale
    on_sensor = points[:, :2] * (-camera.main_lens.focal_length / points[:, 2])[:, None]
    column, row = np.floor((camera.sensor.image_from_metric(on_sensor) + 0.5) / scale).T
    depth = np.full((height, width), np.nan, np.float32)
    seen = (points[:, 2] > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    place = (row[seen] * width + column[seen]).astype(np.int64)
    order = np.lexsort((points[seen, 2], place))
    pixels, first, count = np.unique(place[order], return_index=True, return_counts=True)
    chosen = first + ((count - 1) // 2 if median else 0)
    depth.ravel()[pixels] = points[seen, 2][order][chosen]
    return depth
