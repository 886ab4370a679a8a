"""The light of the central view, all in focus as far as the camera's lenses are, and the edges in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
from plenodepth.camera.micro_lenses import focal_length
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.views import Views
from plenodepth.metric.dense.places import nearest_lenses
from plenodepth.metric.kernels.sharp_view import BLOCK, gather_light
from plenodepth.raw.image import RawImage
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]
Counts = NDArray[np.uint16]

SHOWN_RADIUS = (
    0.65  # of the micro-image's radius: what lies nearer to its rim is not shown; less would leave gaps at v = 2
)
LEAST_KNOWN = 0.3  # share of the lenses around a pixel that must have a depth, else there is nothing to match
BLUR = 1.0  # px: standard deviation of the blur before differences are taken


class ShownLenses(NamedTuple):
    """What the lenses show of the central view, J in all."""

    views: Views
    places: Float32  # (J, n, 4): see `find_lens_places`
    nearest: NDArray[np.int32]  # to each block of pixels
    center: NDArray[np.float64]  # (J, 2) px
    focus: Float32  # (J,): 1/v0
    depth: Float32  # (J,): virtual depth in the middle, NaN for none
    sigma: Float32  # (J,): its standard deviation
    confidence: Float32  # (J,)
    radius: np.float32  # px about the centre


def shown_lenses(
    camera: PlenopticCamera | GridCamera,
    virtual_map: VirtualDepthMap,
    views: Views,
    places: Float32,
    shape: tuple[int, int],
) -> ShownLenses:
    """The lenses of a camera with the depths of a map, for a view (h, w)."""
    grid = camera.micro_images
    k, l = (index.ravel() for index in grid.lattice.indices())
    center = grid.center(k, l)
    maps = [virtual_map.virtual_depth, virtual_map.sigma, virtual_map.confidence]
    if virtual_map.refined:
        column, row = (np.clip(np.rint(center[:, axis]).astype(int), 0, maps[0].shape[1 - axis] - 1) for axis in (0, 1))
        maps = [values[row, column] for values in maps]
    depth, sigma, confidence = (np.ascontiguousarray(values, np.float32).ravel() for values in maps)
    focus = np.zeros(len(k))
    if isinstance(camera, PlenopticCamera) and camera.type_count:
        focus = 1 - lens_distances(camera, k, l).to_sensor / focal_length(k, l, camera)
    return ShownLenses(
        views,
        places,
        nearest_lenses(places, shape),
        np.ascontiguousarray(center),
        focus.astype(np.float32),
        depth,
        sigma,
        confidence,
        np.float32(SHOWN_RADIUS * grid.radius),
    )


def sharp_light(image: RawImage, lenses: ShownLenses, label: NDArray[np.int32]) -> tuple[Float32, Counts, Counts]:
    """Light (h, w, channels) of the view with hypotheses label (h, w); lenses with a depth there, and with the same."""
    light = image.gray[..., None] if image.color is None else image.color
    out = np.empty((*label.shape, light.shape[2]), np.float32)
    seen, agreeing = (np.empty(label.shape, np.uint16) for _ in range(2))
    of_lenses = lenses.nearest, lenses.center, lenses.focus, lenses.depth
    given = label, np.ascontiguousarray(light), lenses.places, lenses.views, of_lenses, lenses.views.inverse_depths

    def gather(rows: slice) -> None:
        gather_light(rows.start, rows.stop, *given, lenses.radius, out, seen, agreeing)

    each_band(len(label), gather)
    return out, seen, agreeing


def edges_of(light: Float32) -> Float32:
    """How steep (h, w) the view is: per px, of the root of its light (h, w, channels), summed over the channels."""
    root = np.sqrt(np.maximum(np.nan_to_num(light), 0))
    smooth = cv2.GaussianBlur(root, (0, 0), BLUR).reshape(light.shape)
    down, across = np.gradient(smooth, axis=(0, 1))
    return np.asarray(np.hypot(down, across).sum(axis=2), np.float32)


def textured(lenses: ShownLenses, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Whether the lenses around each pixel of a view (h, w) have found depths: without texture they find none."""
    known = np.isfinite(lenses.depth)[lenses.nearest].astype(np.float32)
    around = cv2.blur(known, (3, 3)) >= LEAST_KNOWN
    return in_pixels(around, shape)


def in_pixels(blocks: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    """The values of blocks of `BLOCK` × `BLOCK` pixels for each pixel of a view (h, w)."""
    return np.ascontiguousarray(blocks.repeat(BLOCK, axis=0).repeat(BLOCK, axis=1)[: shape[0], : shape[1]])
