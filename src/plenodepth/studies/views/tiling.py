"""Patch tiling, the open converters' method, as a baseline: one patch of every micro-image, side by side.

Each micro-image gives the patch about its centre that is as large as its neighbours' are apart at its depth, found by
matching; the patches are enlarged and tiled. A converter puts them onto a regular grid; here they lie where the
calibrated camera sees them, which can only make the baseline better.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.metric.dense.places import lens_places, view_shape
from plenodepth.raw.image import RawImage

Float32 = NDArray[np.float32]

HYPOTHESES = 64  # of the depth between those found; places are interpolated
RIM = 1.0  # px: what lies nearer to the border of a micro-image is not taken


def tiled_view(
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    virtual_depth: Float32,
    *,
    scale: int = 2,
    lens_type: int | None = None,
) -> Float32:
    """The central view (h, w, channels) tiled of patches of a clean image, by the virtual depth (rows, columns).

    A lens without a depth has that of the nearest that has one. `lens_type`: of the lenses of one type alone, whose
    patches are larger.
    """
    grid = camera.micro_images
    k, l = (index.ravel() for index in grid.lattice.indices())
    center = grid.center(k, l)
    depth = np.asarray(virtual_depth, np.float64).ravel()
    known = np.flatnonzero(np.isfinite(depth))
    depth = depth[known[cKDTree(center[known]).query(center)[1]]]
    inverse = np.linspace((1 / depth).min(), (1 / depth).max() + 1e-6, HYPOTHESES).astype(np.float32)
    place = _own_places(lens_places(camera, inverse, scale), inverse, 1 / depth)
    size = np.array(image_size(camera))
    usable = np.all((center >= grid.radius) & (center <= size - 1 - grid.radius), axis=1)  # whole micro-images alone
    if lens_type is not None:
        usable &= grid.lens_type(k, l) == lens_type
    lenses = np.flatnonzero(usable)
    height, width = view_shape(camera, scale)
    row, column = np.indices((height, width), np.float32) + np.float32(0.5)
    pixels = np.stack([column.ravel(), row.ravel()], axis=-1)
    lens = lenses[cKDTree(place[lenses, :2]).query(pixels)[1]]
    offset = (pixels - place[lens, :2]) / place[lens, 2:]
    reach = grid.radius - RIM
    offset *= np.minimum(1, reach / np.maximum(np.linalg.norm(offset, axis=1), 1e-9))[:, None]
    source = (center[lens] + offset).astype(np.float32).reshape(height, width, 2)
    light = image.gray[..., None] if image.color is None else image.color
    tiled = cv2.remap(np.ascontiguousarray(light), source[..., 0], source[..., 1], cv2.INTER_LINEAR)
    return np.asarray(tiled.reshape(height, width, -1), np.float32)


def _own_places(places: Float32, inverse: Float32, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the places (J, n, 4) at 1/v (n,), those at each lens' own 1/v (J,): (J, 4)."""
    position = np.clip((own - inverse[0]) / (inverse[-1] - inverse[0]) * (len(inverse) - 1), 0, len(inverse) - 1.001)
    low = position.astype(int)
    share = (position - low)[:, None]
    lens = np.arange(len(places))
    return np.asarray((1 - share) * places[lens, low] + share * places[lens, low + 1], np.float64)
