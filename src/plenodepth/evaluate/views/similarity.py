"""How alike two pictures are: PSNR and SSIM."""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of linear light with the primaries of sRGB

# Wang, Bovik, Sheikh, Simoncelli: Image quality assessment: from error visibility to structural similarity, 2004.
WINDOW, WINDOW_SIGMA = 11, 1.5  # px
C1, C2 = 0.01**2, 0.03**2  # for a range of 1


def psnr(picture: NDArray[Any], truth: NDArray[Any]) -> float:
    """−10 log₁₀ of the mean squared difference, dB, for values in [0, 1] of any shape; NaN is left out."""
    difference = np.asarray(picture, np.float64) - truth
    mean = float(np.nanmean(difference**2)) if np.isfinite(difference).any() else math.nan
    return math.inf if mean == 0 else -10 * math.log10(mean)


def ssim(picture: NDArray[Any], truth: NDArray[Any]) -> float:
    """Structural similarity of gray pictures (h, w) in [0, 1]: the mean over all windows without a missing pixel.

    Gaussian windows of 11 × 11 px and σ = 1.5 px, as its authors use them. NaN where no window is whole.
    """
    x, y = (np.asarray(image, np.float64) for image in (picture, truth))
    missing = ~(np.isfinite(x) & np.isfinite(y))
    x, y = np.where(missing, 0, x), np.where(missing, 0, y)
    mean_x, mean_y = _smoothed(x), _smoothed(y)
    var_x, var_y = _smoothed(x * x) - mean_x**2, _smoothed(y * y) - mean_y**2
    covariance = _smoothed(x * y) - mean_x * mean_y
    similarity = (2 * mean_x * mean_y + C1) * (2 * covariance + C2)
    similarity /= (mean_x**2 + mean_y**2 + C1) * (var_x + var_y + C2)
    whole = cv2.dilate(missing.astype(np.uint8), np.ones((WINDOW, WINDOW), np.uint8)) == 0
    rim = WINDOW // 2
    inner = (slice(rim, len(x) - rim), slice(rim, x.shape[1] - rim))
    counted = similarity[inner][whole[inner]]
    return float(counted.mean()) if counted.size else math.nan


def _smoothed(image: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(cv2.GaussianBlur(image, (WINDOW, WINDOW), WINDOW_SIGMA))
