"""The search for corners of checkerboards in all micro-images: saddles of the brightness, then fits.

Nothing is known here of what the corners belong to: a texture has saddles, too. `calib.corners.clusters` and
`calib.corners.board_grid` choose among them.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.fit import CORNER_RIM, Corners, Noise, fit_corners, measure_noise, parameters, plausible
from plenodepth.calib.corners.kernels.saddles import find_saddles
from plenodepth.camera.model import Array, Indices, MicroImageArray

SADDLE_RIM = 2.4  # px off the radius: the noisy pixels beyond make no saddles
SMOOTHING = 1.8  # px, spread before derivatives are taken
SADDLES_PER_LENS = 12
LEAST_OF_STRONGEST = 0.35  # saddles of a micro-image that are weaker than its strongest one are noise
LEAST_SADDLE = 4.0  # curvature of a saddle over that of noise
LEAST_SHARE = 0.015  # px⁻², curvature over the range of brightness of its micro-image
LEAST_RANGE = 0.8  # of a micro-image with corners, over the brightness of what is bright
LEAST_NOISE = 0.05  # of the bright level: what no model of a corner tells, such as how the aperture clips its blur
SAMPLED = 2000  # micro-images that tell how far they are usable
GROUPS, CALM, CALM_FACTOR = 12, 0.25, 0.8
WINDOW = 6.0  # px around a corner that are fitted, where no other corner is near
LEAST_WINDOW = 2.8
SMALLER = (0.7, 0.5)  # windows that are tried where nothing like a corner fits the whole one
START_SPREAD = 1.5  # px, of the edges before it is fitted


def find_corners(gray: NDArray[np.float32], micro_images: MicroImageArray) -> tuple[Corners, Noise]:
    """All corners of the micro-images of a devignetted image (h, w), NaN where unusable, and the image's noise."""
    noise = estimate_noise(gray, micro_images)
    k, l, place, hessian = _saddles(gray, micro_images, noise)
    start = _start(gray, place, hessian)
    window = _windows(k, l, place, micro_images)
    fitted = fit_corners(gray, micro_images, k, l, start, window, noise)
    good = plausible(fitted, micro_images, noise)
    for smaller in SMALLER:  # there may be a corner nearby that is no saddle, beyond the rim
        rest = np.flatnonzero(~good & (window * smaller >= LEAST_WINDOW))
        parts = fit_corners(gray, micro_images, k[rest], l[rest], start[rest], window[rest] * smaller, noise)
        better = plausible(parts, micro_images, noise)
        window[rest[better]] *= smaller
        good[rest[better]] = True
        fitted = fitted.replaced(rest[better], parts.where(better))
    noise = measure_noise(gray, micro_images, fitted.where(good), window[good], noise)
    again = fit_corners(gray, micro_images, k[good], l[good], parameters(fitted.where(good)), window[good], noise)
    return _without_twins(again.where(plausible(again, micro_images, noise))), noise


def estimate_noise(gray: NDArray[np.float32], micro_images: MicroImageArray) -> Noise:
    """A first guess from the middles of micro-images: their calmer half."""
    center = _all_centers(micro_images)[2]
    at = np.rint(center).astype(np.int64)
    height, width = gray.shape
    at = at[((at >= 3) & (at < np.array([width, height]) - 3)).all(axis=1)]
    step = np.arange(-3, 4)
    block = gray[at[:, 1, None, None] + step[:, None], at[:, 0, None, None] + step]
    second = block[:, :, :-2] - 2 * block[:, :, 1:-1] + block[:, :, 2:]
    cross = second[:, :-2] - 2 * second[:, 1:-1] + second[:, 2:]  # blind to planes and straight edges; 6 σ
    known = np.isfinite(cross).all(axis=(1, 2))
    if not known.any():
        return Noise(np.tile([1e-4, 0.0], (int(np.ceil(micro_images.radius)) + 1, 1)))
    variance = (cross[known] ** 2).mean(axis=(1, 2), dtype=np.float64) / 36
    brightness = np.maximum(block[known].mean(axis=(1, 2), dtype=np.float64), 0)
    # Brighter pixels are noisier; of micro-images of like brightness those with the least texture tell the noise.
    order = np.argsort(brightness)
    groups = np.array_split(order, max(1, min(GROUPS, len(order) // 20)))
    calm = np.array([np.quantile(variance[group], CALM) for group in groups]) / CALM_FACTOR
    middle = np.array([brightness[group].mean() for group in groups])
    dark = max(float(calm[np.argmin(middle)]), 1e-8)
    bright = middle >= 0.5 * middle.max()
    slope = float(np.median(np.maximum(calm - dark, 0)[bright] / np.maximum(middle[bright], 1e-6)))
    ring = np.arange(int(np.ceil(micro_images.radius)) + 1)
    growth = 1 + 4 * (ring / micro_images.radius) ** 6  # devignetting multiplies the noise of the rim
    dark += (LEAST_NOISE * middle.max()) ** 2
    return Noise(growth[:, None] ** 2 * np.array([dark, slope]))


def usable_radius(gray: NDArray[np.float32], micro_images: MicroImageArray) -> float:
    """px from the centres of micro-images to where most pixels are unusable: below the radius at small apertures."""
    _, _, center = _all_centers(micro_images)
    half = int(np.ceil(micro_images.radius))
    at = np.rint(center).astype(np.int64)
    height, width = gray.shape
    at = at[((at >= half) & (at < np.array([width, height]) - half)).all(axis=1)]
    at = at[:: max(1, len(at) // SAMPLED)]
    if not len(at):
        return micro_images.radius
    step = np.arange(-half, half + 1)
    known = np.isfinite(gray[at[:, 1, None, None] + step[:, None], at[:, 0, None, None] + step]).mean(axis=0)
    distance = np.hypot(step[:, None], step)
    dark = distance[known < 0.5]
    return float(dark.min()) if len(dark) else micro_images.radius


def _all_centers(micro_images: MicroImageArray) -> tuple[Indices, Indices, Array]:
    k, l = (index.reshape(-1) for index in micro_images.lattice.indices())
    return k, l, np.ascontiguousarray(micro_images.center(k, l))


def _bright_level(gray: NDArray[np.float32], center: Array) -> float:
    """The brightness of what is bright: 95 % of the middles of micro-images are darker."""
    height, width = gray.shape
    at = np.rint(center).astype(np.int64)
    at = at[((at >= 0) & (at < [width, height])).all(axis=1)]
    value = gray[at[:, 1], at[:, 0]]
    value = value[np.isfinite(value)]
    return float(np.quantile(value, 0.95)) if len(value) else 1.0


def _saddles(
    gray: NDArray[np.float32], micro_images: MicroImageArray, noise: Noise
) -> tuple[Indices, Indices, Array, Array]:
    """Micro-image k, l, place (n, 2) px and Hessian (n, 3) of all saddles."""
    k, l, center = _all_centers(micro_images)
    half = int(np.ceil(micro_images.radius)) + 1
    rows, columns = np.mgrid[-half : half + 1, -half : half + 1]
    lit = usable_radius(gray, micro_images)
    inside = np.hypot(rows, columns) <= min(micro_images.radius - SADDLE_RIM, lit - 0.5)
    taps = np.exp(-0.5 * (np.arange(-5, 6) / SMOOTHING) ** 2)
    taps /= taps.sum()
    share_inside = cv2.sepFilter2D(inside.astype(np.float64), -1, taps, taps, borderType=cv2.BORDER_REPLICATE)
    # Noise of the cross derivative after smoothing by s: σ/(√(16 π) s³), with the σ of gray.
    bright = _bright_level(gray, center)
    variance = noise.levels[:3].mean(axis=0) @ [1, bright / 2]
    least = max(LEAST_SADDLE * np.sqrt(variance / (16 * np.pi)) / SMOOTHING**3, LEAST_SHARE * LEAST_RANGE * bright)
    shape = (len(k), SADDLES_PER_LENS)
    place, hessian, strength = np.zeros((*shape, 2)), np.zeros((*shape, 3)), np.zeros(shape)
    counts = find_saddles(
        gray,
        center,
        inside,
        np.maximum(share_inside, 0.05),
        taps,
        min(micro_images.radius - CORNER_RIM, lit - 1.0),
        float(least),
        LEAST_SHARE,
        place,
        hessian,
        strength,
    )
    found = (np.arange(SADDLES_PER_LENS) < counts[:, None]) & (strength > LEAST_OF_STRONGEST * strength[:, :1])
    lens = np.nonzero(found)[0]
    return k[lens], l[lens], place[found], hessian[found]


def _start(gray: NDArray[np.float32], place: Array, hessian: Array) -> Array:
    """First parameters (n, 7): the edges run where the Hessian is neither hollow nor arched."""
    matrix = hessian[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    value, vector = np.linalg.eigh(matrix)  # ascending: dark diagonal (value < 0) … bright one
    bright = np.arctan2(vector[:, 1, 1], vector[:, 0, 1])
    half = np.arctan(np.sqrt(value[:, 1] / -value[:, 0]))
    half = np.clip(half, np.radians(20), np.radians(70))
    # Normals at right angles to the edges bright ± half; along the bright diagonal both distances have one sign.
    normals = np.stack([bright - half + np.pi / 2, bright + half - np.pi / 2], axis=1)
    strength = np.sqrt(-value[:, 0] * value[:, 1])
    # At its crossing the model has the cross derivative contrast · 2/(π σ²) for edges at right angles.
    contrast = strength * np.pi / 2 * (START_SPREAD**2 + SMOOTHING**2)
    at = np.rint(place).astype(np.int64)
    mean = np.nan_to_num(gray[at[:, 1], at[:, 0]], nan=0.5).astype(np.float64)
    return np.column_stack([place, normals, contrast, mean, np.full(len(place), np.log(START_SPREAD))])


def _windows(k: Indices, l: Indices, place: Array, micro_images: MicroImageArray) -> Array:
    """How far around each saddle to fit, px: not to the next saddle of the micro-image."""
    nearest = np.full(len(k), np.inf)
    lens = l * micro_images.lattice.columns + k
    for step in range(1, SADDLES_PER_LENS):  # saddles of a micro-image stand together
        if step >= len(k):
            break
        same = lens[step:] == lens[:-step]
        gap = np.where(same, np.linalg.norm(place[step:] - place[:-step], axis=1), np.inf)
        nearest[step:] = np.minimum(nearest[step:], gap)
        nearest[:-step] = np.minimum(nearest[:-step], gap)
    return np.clip(0.6 * nearest, LEAST_WINDOW, WINDOW)


def _without_twins(corners: Corners) -> Corners:
    """Of corners of one micro-image that came to lie within 1.5 px keep the one with the least χ²."""
    order = np.lexsort([corners.chi, corners.k, corners.l])
    corners = corners.where(order)
    keep = np.ones(len(corners), dtype=np.bool_)
    for step in range(1, SADDLES_PER_LENS):
        if step >= len(corners):
            break
        same = (corners.k[step:] == corners.k[:-step]) & (corners.l[step:] == corners.l[:-step])
        near = np.linalg.norm(corners.uv[step:] - corners.uv[:-step], axis=1) < 1.5
        keep[step:] &= ~(same & near & keep[:-step])
    return corners.where(keep)
