"""What the report of a frame shows: a picture of the scene, and depth, σ and confidence of the same pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.metric.central_colors import central_image
from plenodepth.metric.picture import srgb_picture
from plenodepth.metric.result import DepthResult
from plenodepth.raw.image import RawImage

Map = NDArray[np.float32]

SPOT = 1  # px to each side of a micro-image's centre, whose mean is its colour
DENSE = "the scene as a pinhole in place of the main lens sees it, all in focus"
CENTRAL = (
    "the scene as a pinhole in place of the main lens sees it, put together from the points of the cloud; --dense "
    "makes a better one, and fills its gaps"
)
LENSES = "one pixel for each micro-image, of its centre; --dense makes a picture that is all in focus"
RAW = "the raw image; --dense makes a picture of the scene that is all in focus"


@dataclass(frozen=True, eq=False)
class ShownMaps:
    """A picture and the depth of the same pixels. σ and confidence may be of other pixels, those of the frame's map."""

    picture: NDArray[np.uint8]  # (h, w, 3) sRGB
    depth: Map  # (h, w)
    sigma: Map
    confidence: Map  # 0 … 1; NaN where there is no depth
    metric: bool  # whether depth and σ are in mm
    what: str  # what the picture shows, in words

    @property
    def unit(self) -> str:
        """What depths are in."""
        return "mm" if self.metric else "virtual depth"


def shown_maps(result: DepthResult) -> ShownMaps:
    """The dense view, if there is one; else the best picture that the frame's depths allow."""
    if result.dense is not None:
        view = result.dense
        confidence = np.where(np.isfinite(view.depth), view.confidence, np.float32(np.nan))
        return ShownMaps(view.picture, view.depth, view.sigma, confidence, view.metric, DENSE)
    estimate = result.virtual if result.metric is None else result.metric
    depth = result.virtual.virtual_depth if result.metric is None else result.metric.depth
    own = (
        estimate.sigma,
        np.where(np.isfinite(depth), estimate.confidence, np.float32(np.nan)),
        result.metric is not None,
    )
    if isinstance(result.camera, PlenopticCamera) and result.cloud is not None and result.central is not None:
        picture = _without_gaps(central_image(result.cloud, result.central, result.camera))
        return ShownMaps(picture, result.central, *own, CENTRAL)
    if result.virtual.refined:
        return ShownMaps(srgb_picture(_light(result.image)), depth, *own, RAW)
    return ShownMaps(_of_micro_images(result), depth, *own, LENSES)


def _light(image: RawImage) -> NDArray[np.float32]:
    """Linear light (h, w, 3) of a clean image."""
    return np.repeat(image.gray[..., None], 3, axis=-1) if image.color is None else image.color


def _of_micro_images(result: DepthResult) -> NDArray[np.uint8]:
    """The colour of the middle of each micro-image, (rows, columns, 3); black where it is not in the image."""
    micro_images, light = result.camera.micro_images, _light(result.image)
    center = micro_images.center(*micro_images.lattice.indices()).round().astype(np.int64)
    height, width = light.shape[:2]
    around = range(-SPOT, SPOT + 1)
    total = np.zeros((*center.shape[:2], 3))
    for y in around:
        for x in around:
            u, v = center[..., 0] + x, center[..., 1] + y
            inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
            total += np.where(inside[..., None], light[v.clip(0, height - 1), u.clip(0, width - 1)], 0)
    return srgb_picture((total / len(around) ** 2).astype(np.float32))


def _without_gaps(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture (h, w, 3) whose single black pixels take the mean of what lies around them."""
    from scipy import ndimage

    gap = picture.max(axis=-1) == 0
    weight = ndimage.uniform_filter((~gap).astype(np.float32), 5)
    sums = ndimage.uniform_filter(picture.astype(np.float32), (5, 5, 1))
    filled = np.where(weight[..., None] > 0, sums / np.maximum(weight, 1e-6)[..., None], 0)
    return np.where(gap[..., None] & (weight > 0.3)[..., None], filled.round(), picture).astype(np.uint8)
