"""The period of micro-images in a raw image, with no hint: two vectors of the lattice, from an autocorrelation."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]

WINDOW = 1024  # px in the middle of the image: some 40 micro-images of an R12 in either direction
SHORTEST = 5.0  # px: no lattice is looked for below
DARK = 0.02  # of the bright pixels: what is darker looks alike in the logarithm
BACKGROUND = 3.0  # times the local mean of the spectrum counts as no line of it
LEAST_PEAK = 0.5  # of the highest peak: what counts as a repetition of the image
LEAST_CORRELATION = 0.15  # of zero lag: below it nothing repeats
SNAP = 0.12  # of the vector: how far scene content that repeats at another period may have pulled it
STEEPEST_ANGLE = 0.2  # rad from 60° or 90° between two vectors


def light_of(image: NDArray[Any], name: str = "image") -> Float32:
    """Gray light (h, w), 1 = bright, of a raw image (h, w) or (h, w, 3), colour filters evened out.

    The four sites of a possible Bayer pattern get the same mean each; in a gray image they have it already.
    """
    if image.ndim not in (2, 3) or min(image.shape[:2]) < 8 * SHORTEST:
        raise InputError(f"has shape {image.shape}, too small or no image", file=name)
    light: Float32
    if image.ndim == 3:  # channel by channel: a mean over the last axis runs in loops of three
        light = image[..., 0].astype(np.float32)
        for channel in range(1, image.shape[2]):
            light += image[..., channel].astype(np.float32)
        light /= image.shape[2]
    else:
        light = image.astype(np.float32)
    if not np.isfinite(light).all():
        raise InputError("holds numbers that are not finite", file=name)
    for row in (0, 1):
        for column in (0, 1):
            light[row::2, column::2] /= max(float(light[row::2, column::2].mean()), 1e-9)
    bright = float(np.quantile(light[::3, ::5], 0.99))
    if not bright > 0:
        raise InputError("is dark", file=name, fix="expose it longer")
    light /= np.float32(bright)
    return np.maximum(light, 0, out=light)


def lattice_vectors(light: Float32, name: str = "image") -> Array:
    """The two shortest vectors (2, 2) px, one per row, of the lattice at which the image repeats.

    They are at 60° (to 120°) or 90° to each other. Lens types give the image a longer period as well, scene content a
    slightly shorter or longer one: the lines of a power spectrum are dominated by the lattice, those of an amplitude
    spectrum are sharp, so the first tells which vectors and the second tells them exactly.
    """
    power, amplitude = _autocorrelations(light)
    lags, heights = _peaks(power)
    if not len(lags) or heights.max() < LEAST_CORRELATION:
        raise InputError("shows no micro-images: nothing in it repeats", file=name, fix="give a raw plenoptic image")
    lags = lags[heights >= LEAST_PEAK * heights.max()]
    first = lags[np.argmin(np.hypot(*lags.T))]
    cross = np.abs(lags @ [-first[1], first[0]]) / np.hypot(*first)
    others = lags[cross > 0.5 * np.hypot(*first)]
    if not len(others):
        raise InputError("repeats in one direction only: no micro-images", file=name, fix="give a raw plenoptic image")
    second = others[np.argmin(np.hypot(*others.T))]
    vectors = np.array([_snapped(vector, amplitude) for vector in (first, second)])
    _require_lattice(vectors, name)
    return vectors


def _autocorrelations(light: Float32) -> tuple[Array, Array]:
    """Autocorrelations (n, n) from the power and from the amplitude of the spectrum, with zero lag in the middle."""
    side = min(WINDOW, *light.shape)
    top, left = (light.shape[0] - side) // 2, (light.shape[1] - side) // 2
    part = np.log(light[top : top + side, left : left + side] + DARK)
    taper = np.hanning(side)
    amplitude = np.abs(np.fft.fft2((part - part.mean()) * np.outer(taper, taper))).astype(np.float32)
    amplitude = np.fft.fftshift(amplitude)
    local = cv2.medianBlur(amplitude, 5)
    results = []
    for power in (2, 1):
        lines = np.maximum(amplitude**power - BACKGROUND * cv2.blur(local**power, (9, 9)), 0)
        results.append(np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(lines)).real))
    return results[0], results[1]


def _peaks(correlation: Array) -> tuple[Array, Array]:
    """Lags (n, 2) px as (x, y) with x ≥ 0, up to a quarter of the window, and heights (n,), 1 at zero lag."""
    middle = len(correlation) // 2
    reach = middle // 2
    part = correlation[middle - reach : middle + reach + 1, middle - reach : middle + reach + 1].astype(np.float32)
    highest = cv2.dilate(part, np.ones((5, 5), np.uint8)) == part
    y, x = np.nonzero(highest)
    lags = np.column_stack([x, y]) - reach
    half = (lags[:, 0] > 0) | ((lags[:, 0] == 0) & (lags[:, 1] > 0))
    inside = (np.abs(lags) < reach - 2).all(axis=1)
    chosen = half & inside & (np.hypot(*lags.T) >= SHORTEST)
    total = max(float(part[reach, reach]), 1e-30)  # 0 for an image without any contrast
    return lags[chosen].astype(np.float64), (part[y, x][chosen] / total).astype(np.float64)


def _snapped(vector: Array, correlation: Array) -> Array:
    """The vector to a fraction of a pixel: its nearest peak first, then peaks of its multiples, which tell more."""
    middle = len(correlation) // 2
    found, reach = vector, max(1.5, SNAP * float(np.hypot(*vector)))
    multiple = 1
    while multiple * np.hypot(*found) + reach + 2 < middle / 2:
        found = _highest_near(correlation, found * multiple, reach) / multiple
        reach, multiple = 1.5, 2 * multiple
    return found


def _highest_near(correlation: Array, lag: Array, reach: float) -> Array:
    """The highest point within `reach` px of a lag, to a fraction of a pixel by parabolas."""
    middle = len(correlation) // 2
    span = np.arange(-int(np.ceil(reach)), int(np.ceil(reach)) + 1)
    x, y = np.meshgrid(np.rint(lag[0]).astype(int) + span, np.rint(lag[1]).astype(int) + span)
    height = correlation[y + middle, x + middle]
    near = np.hypot(x - lag[0], y - lag[1]) <= reach + 0.5
    best = np.unravel_index(np.argmax(np.where(near, height, -np.inf)), height.shape)
    column, row = int(x[best]), int(y[best])
    around = correlation[row + middle - 1 : row + middle + 2, column + middle - 1 : column + middle + 2]
    return np.array([column + _vertex(around[1]), row + _vertex(around[:, 1])])


def _vertex(three: Array) -> float:
    """Where the parabola through values at −1, 0, 1 is highest, within ±½."""
    curve = three[0] - 2 * three[1] + three[2]
    return 0.0 if curve >= 0 else float(np.clip((three[0] - three[2]) / (2 * curve), -0.5, 0.5))


def _require_lattice(vectors: Array, name: str) -> None:
    lengths = np.hypot(*vectors.T)
    angle = np.arccos(np.clip(abs(vectors[0] @ vectors[1]) / lengths.prod(), 0, 1))
    regular = min(abs(angle - np.pi / 3), abs(angle - np.pi / 2)) < STEEPEST_ANGLE
    if not regular or lengths.max() > 1.2 * lengths.min():
        raise InputError(
            "repeats every ({:.1f}, {:.1f}) and ({:.1f}, {:.1f}) px, ".format(*vectors.ravel())
            + "which is neither a hexagonal nor a square array of micro-images",
            file=name,
            fix="give a raw plenoptic image",
        )
