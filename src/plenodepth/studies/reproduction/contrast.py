"""How much texture each micro-image shows: where there is none, nothing can be matched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import MicroImageArray

MARGIN = 2.5  # px kept from the rim, where devignetting leaves more noise than light
LEAST_SHARE = 0.5  # of the pixels of a micro-image that must be usable


def micro_image_contrast(
    gray: NDArray[np.float32], micro_images: MicroImageArray, margin: float = MARGIN
) -> NDArray[np.float32]:
    """Standard deviation of a clean image's `gray` (h, w) inside each micro-image, (rows, columns).

    Noise is in it: a blank micro-image has the noise's. NaN where less than half of the pixels are usable (beyond the
    sensor, or NaN).
    """
    height, width = gray.shape
    center = np.rint(micro_images.center(*micro_images.lattice.indices())).astype(np.int64)
    reach = max(micro_images.radius - margin, 1.0)
    step = np.arange(-int(reach), int(reach) + 1)
    disc = [(dv, du) for dv in step.tolist() for du in step.tolist() if dv**2 + du**2 <= reach**2]
    count, total, squares = (np.zeros(center.shape[:-1]) for _ in range(3))
    for dv, du in disc:  # a few hundred steps over all micro-images at once
        v, u = center[..., 1] + dv, center[..., 0] + du
        value = gray[np.clip(v, 0, height - 1), np.clip(u, 0, width - 1)].astype(np.float64)
        usable = (v >= 0) & (v < height) & (u >= 0) & (u < width) & np.isfinite(value)
        value = np.where(usable, value, 0)
        count += usable
        total += value
        squares += value**2
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        contrast = np.sqrt(np.maximum(squares / count - mean**2, 0))
    contrast[count < LEAST_SHARE * len(disc)] = np.nan
    return contrast.astype(np.float32)
