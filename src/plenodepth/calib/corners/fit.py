"""Corners of checkerboards in micro-images, fitted to parts of a pixel, with their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.clipping import Clipping, apparent_positions, chief_ray_positions, no_clipping
from plenodepth.calib.corners.kernels.crossings import fit_crossings, ring_residuals
from plenodepth.camera.model import Array, Indices, MicroImageArray

RIM = 1.4  # px off a micro-image's radius: pixels beyond are left aside, they show the rim
CORNER_RIM = 2.0  # px off the radius: corners beyond have too few pixels about them
STEPS = 25
CORRELATION = 1.5  # by which the variance of a fit grows since residuals of neighbours are alike
LEAST_ANGLE = np.radians(25)  # between the edges of a corner
LEAST_CONTRAST = 3.0  # over the noise of a pixel
MOST_SIGMA = 0.6  # px, standard deviation of a position
MOST_CHI = 3.0  # χ² per degree of freedom above which something else than a corner was fitted …
MOST_MISFIT = 0.35  # … unless the residuals are small against the contrast
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
    uv: Array  # (n, 2) px, where the corner appears
    thin: Array  # (n, 2) px, where the thin-lens model has it; the same as `uv` where nothing is known of the aperture
    covariance: Array  # (n, 2, 2) px², of uv
    normals: Array  # (n, 2) rad, directions across the two edges
    bright: (
        Array  # (n, 2) unit vector at twice the angle of the bright squares' diagonal: opposite for the other polarity
    )
    contrast: Array  # (n,) half the step of brightness, > 0
    offset: Array  # (n,) mean brightness
    spread: Array  # (n,) px, standard deviation of the blur of an open pixel: half its radius |ρ|
    spread_sigma: Array  # (n,) of log spread
    chi: Array  # (n,) χ² per degree of freedom

    def __len__(self) -> int:
        return len(self.k)

    def where(self, chosen: NDArray[np.bool_] | Indices) -> Corners:
        """The chosen rows."""
        return replace(self, **{member.name: getattr(self, member.name)[chosen] for member in fields(self)})

    def replaced(self, rows: Indices, others: Corners) -> Corners:
        """The same with other corners in these rows."""
        values = {member.name: getattr(self, member.name).copy() for member in fields(self)}
        for name, value in values.items():
            value[rows] = getattr(others, name)
        return Corners(**values)


def fit_corners(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    k: Indices,
    l: Indices,
    start: Array,
    window: Array,
    noise: Noise,
    clip: Clipping | None = None,
) -> Corners:
    """Fit crossings from `start` (n, 7) over `window` (n,) px; rows of failed fits are NaN.

    `start` has the corner where it appears; `clip` says how the aperture clips the blur of the pixels about it.
    """
    count = len(start)
    clip = clip or no_clipping(micro_images, k, l)
    result, covariance, quality = np.empty((count, 7)), np.empty((count, 7, 7)), np.empty((count, 2))
    thin_start = np.column_stack([chief_ray_positions(clip, start[:, :2]), start[:, 2:]])
    fit_crossings(
        gray,
        np.ascontiguousarray(micro_images.center(k, l).reshape(-1, 2)),
        np.ascontiguousarray(start[:, :2]),
        thin_start,
        1 / PRIOR**2,
        window,
        micro_images.radius - RIM,
        noise.levels,
        clip.middle,
        clip.gap,
        clip.lens_type,
        clip.table,
        clip.nodes,
        clip.step,
        clip.floor,
        STEPS,
        result,
        covariance,
        quality,
    )
    sign = np.sign(result[:, 4])
    total = result[:, 2] + result[:, 3]
    # What the model does not tell shows in the residuals, and counts as noise that neighbouring pixels share.
    inflation = CORRELATION * np.maximum(quality[:, 0], 1)
    uv, uv_covariance = apparent_positions(clip, result[:, :2], covariance[:, :2, :2] * inflation[:, None, None])
    return Corners(
        k=np.asarray(k, dtype=np.int64),
        l=np.asarray(l, dtype=np.int64),
        uv=uv,
        thin=result[:, :2],
        covariance=uv_covariance,
        normals=result[:, 2:4],
        bright=sign[:, None] * np.stack([np.cos(total), np.sin(total)], axis=1),
        contrast=np.abs(result[:, 4]),
        offset=result[:, 5],
        spread=np.exp(result[:, 6]),
        spread_sigma=np.sqrt(covariance[:, 6, 6] * inflation),
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
            & ((corners.chi < MOST_CHI) | (corners.chi * variance < (MOST_MISFIT * corners.contrast) ** 2))
        )
    return good


def measure_noise(
    gray: NDArray[np.float32],
    micro_images: MicroImageArray,
    corners: Corners,
    window: Array,
    before: Noise,
    clip: Clipping | None = None,
) -> Noise:
    """The noise from the residuals of fitted corners; as before where there are too few."""
    sums = np.zeros((len(before.levels), 5))
    if len(corners):
        clip = clip or no_clipping(micro_images, corners.k, corners.l)
        fitted = np.column_stack([corners.thin, parameters(corners)[:, 2:]])
        ring_residuals(
            gray,
            np.ascontiguousarray(micro_images.center(corners.k, corners.l)),
            np.ascontiguousarray(corners.uv),
            fitted,
            window,
            micro_images.radius - RIM,
            clip.middle,
            clip.gap,
            clip.lens_type,
            clip.table,
            clip.nodes,
            clip.step,
            clip.floor,
            sums,
        )
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
