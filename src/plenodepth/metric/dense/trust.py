"""How far a depth of the central view can be trusted: σ, and the probability that it is right at all.

Both were fitted to simulated scenes (R12-E at f/4: the figurines of examples/scenes, and the planes and figurines of
R12-ELP20 with another seed than the dataset's), and judged on others: benchmarks/bench_dense.py.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.metric.dense.surfaces import DenseSurface, Labels

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]

# σ² of 1/v = (SCATTER · standard deviation of the mean)² + LEVEL². The first is larger than 1 because neighbouring
# pixels share windows, views and micro-images; the second is what all depths of a surface are off together.
SCATTER = 5.0
LEVEL = 0.0011
FILLED_GROWTH = 0.5  # per px from what has texture: how much larger σ is where nothing has

# Log-odds that a depth is within 5 % of the truth: a constant, and what these add to it.
CONSTANT = -8.1
BY_AGREEMENT = 0.64  # share of the micro-images that have the same depth
BY_OUTLINE = -2.68  # a step in depth lies within `OUTLINE_REACH` px
BY_SPREAD = -2.02  # log of the standard deviation of the mean, relative to 1/v
BY_FILLING = -0.42  # no texture of its own
OUTLINE_REACH, OUTLINE_STEP = 3, 4  # px; hypotheses


def distance_to_others(filled: Bool) -> Float32:
    """Distance (h, w) in px of each pixel to the next that is not filled; 0 for those."""
    found = cv2.distanceTransform(filled.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    # Squares of distances are whole numbers; OpenCV's last bit depends on how it shares the work among threads.
    return np.asarray(np.sqrt(np.rint(np.square(found, dtype=np.float64))), np.float32)


def sigma_of(surface: DenseSurface, distance: Float32) -> Float32:
    """Standard deviation (h, w) of 1/v; `distance` (h, w) that of `distance_to_others`."""
    own = np.sqrt(SCATTER**2 * surface.variance + LEVEL**2)
    return np.asarray(own * (1 + FILLED_GROWTH * distance), np.float32)


def confidence_of(
    surface: DenseSurface, label: Labels, seen: NDArray[np.uint16], agreeing: NDArray[np.uint16], filled: Bool
) -> Float32:
    """Probability (h, w) that a depth is within 5 % of the truth; 0 where there is none."""
    share = agreeing / np.maximum(seen, 1)
    window = np.ones((2 * OUTLINE_REACH + 1,) * 2, np.uint8)
    values = label.astype(np.float32)
    outline = cv2.dilate(values, window) - cv2.erode(values, window) >= OUTLINE_STEP
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.log(np.sqrt(surface.variance) / np.abs(surface.inverse))
    odds = CONSTANT + BY_AGREEMENT * share + BY_OUTLINE * outline + BY_SPREAD * np.maximum(spread, -12.0)
    odds += BY_FILLING * filled
    with np.errstate(over="ignore"):
        probability = 1 / (1 + np.exp(-odds))
    return np.where(np.isfinite(surface.inverse), probability, 0).astype(np.float32)
