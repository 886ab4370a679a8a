"""Corners of checkerboards in micro-images: saddles of the brightness, refined to parts of a pixel.

Nothing is known here of what the corners belong to: a texture has saddles, too. `calib.clusters` and `calib.boards`
choose among them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.kernels.crossings import fit_crossings, ring_residuals
from plenodepth.calib.kernels.saddles import find_saddles
from plenodepth.camera.model import Array, Indices, MicroImageArray

RIM = 1.4  # px off a micro-image's radius: pixels beyond are left aside, they show the rim
SADDLE_RIM = 2.4  # px off the radius: the noisy pixels beyond make no saddles
CORNER_RIM = 2.0  # px off the radius: corners beyond have too few pixels about them
SMOOTHING = 1.8  # px, spread before derivatives are taken
SADDLES_PER_LENS = 12
LEAST_OF_STRONGEST = 0.35  # saddles of a micro-image that are weaker than its strongest one are noise
LEAST_SADDLE = 4.0  # curvature of a saddle over that of noise
LEAST_SHARE = 0.015  # px⁻², curvature over the range of brightness of its micro-image
LEAST_RANGE = 0.8  # of a micro-image with corners, over the brightness of what is bright
LEAST_NOISE = 0.05  # of the bright level: what no model of a corner tells, such as how the aperture clips its blur
GROUPS, CALM, CALM_FACTOR = 12, 0.25, 0.8
WINDOW = 6.0  # px around a corner that are fitted, where no other corner is near
LEAST_WINDOW = 2.8
STEPS = 25
LEAST_ANGLE = np.radians(25)  # between the edges of a corner
LEAST_CONTRAST = 3.0  # over the noise of a pixel
MOST_SIGMA = 0.6  # px, standard deviation of a position
MOST_CHI = 3.0  # χ² per degree of freedom above which something else than a corner was fitted
START_SPREAD = 1.5  # px, of the edges before it is fitted
# Standard deviations about the start: they keep apart what a small window cannot tell (spread and contrast).
PRIOR = np.array([np.inf, np.inf, 0.5, 0.5, np.inf, np.inf, 0.6])


@dataclass(frozen=True, eq=False)
class Noise:
    """Variance of a pixel r px from its micro-image's centre: levels[r, 0] + levels[r, 1] · brightness."""

    levels: Array  # (rings, 2)


@dataclass(frozen=True, eq=False)
class Corners:
    """Fitted crossings of two edges, n rows."""

    k: Indices  # (n,) micro-image
    l: Indices  # (n,)
    uv: Array  # (n, 2) px
    covariance: Array  # (n, 2, 2) px²
    normals: Array  # (n, 2) rad, directions across the two edges
    bright: (
        Array  # (n, 2) unit vector at twice the angle of the bright squares' diagonal: opposite for the other polarity
    )
    contrast: Array  # (n,) half the step of brightness, > 0
    offset: Array  # (n,) mean brightness
    spread: Array  # (n,) px, standard deviation of the Gaussian that blurs the edges
    spread_sigma: Array  # (n,) of log spread
    chi: Array  # (n,) χ² per degree of freedom

    def __len__(self) -> int:
        return len(self.k)

    def where(self, chosen: NDArray[np.bool_] | Indices) -> Corners:
        """The chosen rows."""
        return replace(self, **{member.name: getattr(self, member.name)[chosen] for member in fields(self)})

    @staticmethod
    def joined(parts: list[Corners]) -> Corners:
        """The rows of all parts, in order."""
        names = [member.name for member in fields(Corners)]
        return Corners(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def find_corners(gray: NDArray[np.float32], micro_images: MicroImageArray) -> tuple[Corners, Noise]:
    """All corners of the micro-images of a devignetted image (h, w), NaN where unusable, and the image's noise."""
    noise = first_noise(gray, micro_images)
    k, l, place, hessian = _saddles(gray, micro_images, noise)
    start = _start(gray, place, hessian)
    window = _windows(k, l, place, micro_images)
    fitted = fit_corners(gray, micro_images, k, l, start, window, noise)
    good = plausible(fitted, micro_images, noise)
    noise = measured_noise(gray, micro_images, fitted.where(good), window[good], noise)
    again = fit_corners(gray, micro_images, k[good], l[good], parameters(fitted.where(good)), window[good], noise)
    return _without_twins(again.where(plausible(again, micro_images, noise))), noise


def first_noise(gray: NDArray[np.float32], micro_images: MicroImageArray) -> Noise:
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


def measured_noise(
    gray: NDArray[np.float32], micro_images: MicroImageArray, corners: Corners, window: Array, before: Noise
) -> Noise:
    """The noise from the residuals of fitted corners; as before where there are too few."""
    sums = np.zeros((len(before.levels), 5))
    if len(corners):
        center = micro_images.center(corners.k, corners.l)
        ring_residuals(gray, center, parameters(corners), window, micro_images.radius - RIM, sums)
    count, first, second, squares, product = sums.T
    levels = before.levels.copy()
    for ring in np.flatnonzero(count > 200):
        matrix = np.array([[count[ring], first[ring]], [first[ring], second[ring]]])
        level = np.linalg.solve(matrix + 1e-9 * count[ring] * np.eye(2), [squares[ring], product[ring]])
        mean = squares[ring] / count[ring]
        if level[1] < 0 or level[0] < 0.05 * mean:  # brightness tells nothing, or all of it
            slope = max(level[1], 0.0) and 0.95 * squares[ring] / first[ring]
            level = np.array([mean - slope * first[ring] / count[ring], slope])
        levels[ring] = level
    return Noise(levels)


def fit_corners(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    start: Array,
    window: Array,
    noise: Noise,
    prior: Array = PRIOR,
) -> Corners:
    """Fit crossings from `start` (n, 7) over `window` (n,) px; rows of failed fits are NaN."""
    count = len(start)
    result, covariance, quality = np.empty((count, 7)), np.empty((count, 7, 7)), np.empty((count, 2))
    center = micro_images.center(k, l).reshape(-1, 2)
    weight = np.broadcast_to(1 / np.asarray(prior) ** 2, start.shape).copy()
    reach = micro_images.radius - RIM
    fit_crossings(gray, center, start, weight, window, reach, noise.levels, STEPS, result, covariance, quality)
    sign = np.sign(result[:, 4])
    total = result[:, 2] + result[:, 3]
    inflated = covariance[:, :2, :2] * np.maximum(quality[:, 0], 1)[:, None, None]
    return Corners(
        k=np.asarray(k, dtype=np.int64),
        l=np.asarray(l, dtype=np.int64),
        uv=result[:, :2],
        covariance=inflated,
        normals=result[:, 2:4],
        bright=sign[:, None] * np.stack([np.cos(total), np.sin(total)], axis=1),
        contrast=np.abs(result[:, 4]),
        offset=result[:, 5],
        spread=np.exp(result[:, 6]),
        spread_sigma=np.sqrt(covariance[:, 6, 6] * np.maximum(quality[:, 0], 1)),
        chi=quality[:, 0],
    )


def parameters(corners: Corners) -> Array:
    """The parameters (n, 7) of fitted corners, to start another fit from."""
    total = corners.normals.sum(axis=1)
    sign = np.sign(np.cos(total) * corners.bright[:, 0] + np.sin(total) * corners.bright[:, 1])
    return np.column_stack(
        [corners.uv, corners.normals, sign * corners.contrast, corners.offset, np.log(corners.spread)]
    )


def plausible(corners: Corners, micro_images: MicroImageArray, noise: Noise) -> NDArray[np.bool_]:
    """Whether a fit looks like a corner: its place, its edges, contrast, uncertainty and residuals."""
    away = np.linalg.norm(corners.uv - micro_images.center(corners.k, corners.l).reshape(-1, 2), axis=1)
    between = np.abs(np.sin(corners.normals[:, 0] - corners.normals[:, 1]))
    variance = noise.levels[:3, 0].mean() + noise.levels[:3, 1].mean() * np.maximum(corners.offset, 0)
    deviation = np.sqrt(np.linalg.eigvalsh(np.nan_to_num(corners.covariance, nan=1e9))[:, 1])
    with np.errstate(invalid="ignore"):
        good: NDArray[np.bool_] = (
            (away <= micro_images.radius - CORNER_RIM)
            & (between > np.sin(LEAST_ANGLE))
            & (corners.contrast > LEAST_CONTRAST * np.sqrt(variance))
            & (corners.contrast < 1.5 * np.maximum(corners.offset, 0))  # dark squares are not below black
            & (deviation < MOST_SIGMA)
            & (corners.chi < MOST_CHI)
        )
    return good


def _all_centers(micro_images: MicroImageArray) -> tuple[Indices, Indices, Array]:
    k, l = (index.reshape(-1) for index in micro_images.lattice.indices())
    return k, l, micro_images.center(k, l)


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
    inside = np.hypot(rows, columns) <= micro_images.radius - SADDLE_RIM
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
        micro_images.radius - CORNER_RIM,
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
