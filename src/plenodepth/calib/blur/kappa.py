"""κ, the blur coefficient: σ = κ ρ, by views of board corners through lenses of different types.

The sharper of two views, blurred by σ_r = κ ρ_r with ρ_r² = |ρ_i² − ρ_j²|, shall equal the other. It is blurred with
the operator of depth estimation, which adds the variance σ_r² per axis, so κ² enters linearly.

A disc of radius ρ has the variance ρ²/4 per axis, which would be κ = 0.5. But κ is what makes views most equal *with
that operator*: its mixture of a sharp and a blurred copy has longer tails than a disc, and corners are equal at 0.57
to 0.61, the more the less both are blurred. Where the main lens' aperture clips the light it lessens the blur, but
magnifies what micro-images show: at f/4 the simulated R12-A has κ = 0.55.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.blur.pairs import BlurPairs, blur_pairs
from plenodepth.calib.features import Features
from plenodepth.camera.micro_lenses import require_blur
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.errors import InputError

MAD_TO_SIGMA = 1.4826
TUKEY = 4.685  # standard deviations beyond which a pair counts no more
ITERATIONS = 50
LEAST_PAIRS = 20
LEAST_GROUPS = 4  # frames that tell how much they differ


@dataclass(frozen=True, eq=False)
class BlurCoefficientFit:
    """κ with its standard error, and what it comes from."""

    kappa: float
    standard_error: float  # from the scatter of clusters, or of frames where that is larger
    pairs: BlurPairs
    weights: Array  # (m,) in [0, 1] of the pairs; 0: an outlier
    frame: Indices  # (f,)
    frame_kappa: Array  # (f,) κ by each frame alone; NaN where it tells none

    @property
    def outliers(self) -> float:
        """Share of the pairs that do not count."""
        return float(np.mean(self.weights == 0))


def fit_blur_coefficient(
    features: Features, images: Mapping[int, NDArray[np.float32]], camera: PlenopticCamera
) -> BlurCoefficientFit:
    """κ from features with clusters and blur radii, and the devignetted gray image (h, w) of each of their frames.

    Frames without an image are left out. Features must lie where the images show the corners, within some tenths of a
    pixel: each pair is aligned once more.
    """
    require_blur(camera)
    shape = (camera.sensor.height, camera.sensor.width)
    parts = []
    for frame in features.frames.tolist():
        if frame not in images:
            continue
        if images[frame].shape != shape:
            raise InputError(
                f"of frame {frame} has the shape {images[frame].shape}, the camera's is {shape}", field="image"
            )
        parts.append(blur_pairs(features.where(features.frame == frame), images[frame], camera))
    return kappa_of_pairs(BlurPairs.joined(parts))


def kappa_of_pairs(pairs: BlurPairs) -> BlurCoefficientFit:
    """κ by robust least squares over pairs."""
    if len(pairs) < LEAST_PAIRS:
        raise InputError(
            f"{len(pairs)} pairs of corners of different lens types tell a blur, needs {LEAST_PAIRS}",
            field="features",
            fix="give frames with sharp contrast, at distances where lens types differ in blur",
        )
    square, weights = _robust(pairs)
    if not square > 0:
        raise InputError(
            "blurrier views are not blurrier: κ² is negative",
            field="features",
            fix="check the lens types and blur radii of the features, and that the images are theirs",
        )
    _, cluster = np.unique(np.stack([pairs.frame, pairs.cluster], axis=1), axis=0, return_inverse=True)
    frames, frame = np.unique(pairs.frame, return_inverse=True)
    error = _standard_error(pairs, weights, square, cluster.reshape(-1))
    if len(frames) >= LEAST_GROUPS:
        # What the operator does not describe (the shape of the blur) is common to a frame.
        error = max(error, _standard_error(pairs, weights, square, frame))
    total, gain = (np.bincount(frame, weights * part) for part in (pairs.response, pairs.gain))
    with np.errstate(divide="ignore", invalid="ignore"):
        per_frame = np.sqrt(np.where(gain > 0, total / gain, np.nan))
    kappa = float(np.sqrt(square))
    return BlurCoefficientFit(kappa, error / (2 * kappa), pairs, weights, frames, per_frame)


def _robust(pairs: BlurPairs) -> tuple[float, Array]:
    """κ² and the pairs' weights, by Tukey's function from the median on."""
    size = pairs.gain / pairs.norm
    ratio = pairs.response / np.where(pairs.gain == 0, np.nan, pairs.gain)
    square = _weighted_median(ratio, size)
    weights = np.ones(len(pairs))
    for _ in range(ITERATIONS):
        residual = (pairs.response - square * pairs.gain) / pairs.norm
        spread = max(MAD_TO_SIGMA * float(np.median(np.abs(residual))), 1e-12)
        weights = np.maximum(1 - (residual / (TUKEY * spread)) ** 2, 0) ** 2
        before, square = square, float((weights * pairs.response).sum() / (weights * pairs.gain).sum())
        if abs(square - before) <= 1e-12 * abs(square):
            break
    return square, weights


def _weighted_median(values: Array, weights: Array) -> float:
    known = np.isfinite(values) & (weights > 0)
    order = np.argsort(values[known])
    share = np.cumsum(weights[known][order])
    return float(values[known][order][np.searchsorted(share, share[-1] / 2)])


def _standard_error(pairs: BlurPairs, weights: Array, square: float, group: Indices) -> float:
    """Standard error of κ². Pairs of a group share views and errors; groups are independent."""
    errors = np.bincount(group, weights * (pairs.response - square * pairs.gain))
    count = np.count_nonzero(np.bincount(group))
    return float(np.sqrt((errors**2).sum() * count / max(count - 1, 1)) / (weights * pairs.gain).sum())
