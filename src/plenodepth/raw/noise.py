"""The noise of a clean image, from the image itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.raw.offsets import sampled_micro_images

LENSES_SAMPLED = 3000
# Blind to planes and to straight edges along rows and columns; the standard deviation of its answer to noise is 6 σ.
HIGH_PASS = ((1, -2, 1), (-2, 4, -2), (1, -2, 1))
MAD_TO_SIGMA = 1.4826
# Of the micro-images of middle brightness, those with the least texture tell the noise; of pure noise, this share of
# the micro-images is lower by the factor, for a micro-image of an R12 (about 90 pixels).
CALM_QUANTILE = 0.25
CALM_FACTOR = 0.92
DEMOSAICED_FACTOR = 0.55  # what the filter answers to noise that went through demosaicing, relative to white noise


def noise_level(gray: NDArray[np.float32], camera: PlenopticCamera | GridCamera, *, demosaiced: bool = False) -> float:
    """Standard deviation of `gray` within half a radius of the centres of micro-images; NaN without any pixel."""
    micro_images = camera.micro_images
    side = max(2, int(micro_images.radius / 2)) + 1  # one more for the filter
    k, l = sampled_micro_images(camera, LENSES_SAMPLED, side)
    if not len(k):
        return float("nan")
    center = np.rint(micro_images.center(k, l)).astype(np.int64)
    step = np.arange(-side, side + 1)
    block = gray[center[:, 1, None, None] + step[:, None], center[:, 0, None, None] + step]
    answer = sum(
        weight * block[:, row : row + 2 * side - 1, column : column + 2 * side - 1]
        for row, line in enumerate(HIGH_PASS)
        for column, weight in enumerate(line)
    )
    inner = block[:, 1:-1, 1:-1]
    usable = np.isfinite(answer).reshape(len(k), -1).mean(axis=1) > 0.5
    if not usable.any():
        return float("nan")
    sigma = np.nanmedian(np.abs(answer[usable]).reshape(usable.sum(), -1), axis=1) * MAD_TO_SIGMA / 6
    brightness = np.nanmean(inner[usable].reshape(usable.sum(), -1), axis=1)
    low, high = np.quantile(brightness, [0.25, 0.75])
    middle = (brightness >= low) & (brightness <= high)
    if not middle.any():  # of two micro-images neither is
        middle[:] = True
    factor = CALM_FACTOR * (DEMOSAICED_FACTOR if demosaiced else 1)
    return float(np.quantile(sigma[middle], CALM_QUANTILE) / factor)
