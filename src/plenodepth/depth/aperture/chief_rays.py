"""Where a pixel looks when the aperture clips its light, how blurred it is, and how a tile gets a uniform blur.

The pixels around a micro-image's centre look through all of their lens, the pixels farther out through less and less of
it (`aperture.clipping`). At 1/v = u, a pixel at x from the centre shows the scene averaged over a spot. The mean of the
spot is the pixel's chief ray: an unclipped pixel would look there if it stood at
    X = x + ȳ (u − 1/v0) + X' A'/(12 A).
The last term is the vignetting within the pixel itself: with the area A falling outwards, more light comes from its
inner half. If this were all, views resampled to X would differ by the disparity of the model again. Two effects remain.

The spot narrows outwards, along the radius: at f/4 and v = 15 from 4.5 to 1 px² of variance. Where views are compared,
the rim of one falls on the middle of the other, and their blur differs by a gradient. To second order of the texture T
that shifts the match: ∫ T' · c x T'' = −c/2 ∫ T'². So the tile gets a uniform blur first: each pixel is blurred, and
mixed with those one step farther in and out, by as much as its spot lacks of the variance in the middle
(`UniformBlur`).

The spot is skewed, by itself and because the uniform blur mixes wider spots from within with narrower ones from
without. A texture that is blurred by a skewed spot appears beside the mean, away from the longer tail: by m3/(6 V)
where medians of spots are aligned, as absolute differences do, and by up to m3/(4 V) for squared differences and a
white texture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.aperture.clipping import ApertureTable

Array = NDArray[np.float64]

STEEPEST = 0.6  # per px: fall of the open area beyond which there is next to no light
PIXEL_VARIANCE = 1 / 12  # px²: of a pixel's own width
SKEWNESS_SHIFT = 1 / 6  # of m3/V: how far a skewed spot shifts the match
LARGEST_STEP = 2.5  # px from a pixel to those that it is mixed with, where there are any
LARGEST_WEIGHT = 0.33  # of each of the two pixels that a pixel is mixed with
LARGEST_BLUR = 1.5  # px²: with more, the mixture of the pixel and a blurred copy would ring


class Spots(NamedTuple):
    """What pixels average over, px of X; (..., n) for hypotheses (...) and a table's radii (n,)."""

    mean: Array  # from the micro-image's centre: the chief ray
    along: Array  # px²: variance along the radius
    across: Array  # px²: variance across the radius
    third: Array  # px³: third central moment along the radius

    @property
    def matched_position(self) -> Array:
        """Where the matching finds what a pixel shows (..., n), ascending: the mean, corrected for the skewness."""
        position = self.mean - SKEWNESS_SHIFT * self.third / np.maximum(self.along, PIXEL_VARIANCE)
        return np.asarray(np.maximum.accumulate(position, axis=-1))


def spots_of(table: ApertureTable, lens_type: int, inverse_depth: ArrayLike, smoothing: float) -> Spots:
    """Spots of a lens type's pixels at 1/v (...), in an image that is smoothed by `smoothing` px² of variance."""
    gap = np.asarray(inverse_depth, dtype=np.float64)[..., None] - table.focus[lens_type]
    area, radius = table.area[lens_type], table.radius
    points = Spots(
        np.maximum.accumulate(radius + gap * table.centroid[lens_type], axis=-1),
        gap**2 * table.variance_along[lens_type],
        gap**2 * table.variance_across[lens_type],
        gap**3 * table.skewness[lens_type],
    )
    pixels = blurred(radius, points, PIXEL_VARIANCE)
    fall = np.maximum(np.gradient(area, radius) / np.maximum(area, 1e-9), -STEEPEST) * PIXEL_VARIANCE
    mean = pixels.mean + fall * np.gradient(pixels.mean, radius, axis=-1)
    return blurred(radius, pixels._replace(mean=mean), smoothing)


def blurred(radius: Array, spots: Spots, variance: ArrayLike, width: float | None = None) -> Spots:
    """Spots once the image is blurred by a variance, px² of x, which may differ with the radius.

    `width` is the variance of the blurring kernel, px², of which as much as needed is mixed in; None: the same.
    """
    variance = np.asarray(variance, dtype=np.float64)
    wide = float(variance) if width is None else width
    if wide == 0:
        return spots
    step, weight = np.full_like(radius, np.sqrt(3 * wide)), variance / (6 * wide)  # Gauss–Hermite, 3 points
    aside = np.hypot(radius, step)
    sideways = radius / aside * _at(spots.mean, radius, aside) - spots.mean
    across = spots.across + variance * _per_radius(spots.mean, radius) ** 2
    return mixed(radius, spots._replace(mean=spots.mean + 2 * weight * sideways, across=across), step, weight)


def mixed(radius: Array, spots: Spots, step: Array, weight: Array) -> Spots:
    """Spots once each pixel is mixed with those one step (n,) px farther in and out, of that weight (..., n) each.

    The chief rays of these two are unevenly spaced, which moves the mean. The inner one has a wider spot than the outer
    one, which skews the sum.
    """
    inner, outer = _distances(radius, spots, step)
    shift, before, after = weight * (outer - inner), radius - step, radius + step
    sign = np.sign(before)  # beyond the centre, what is skewed outwards is skewed the other way
    parts = (
        (weight, -inner - shift, _at(spots.along, radius, before), sign * _at(spots.third, radius, before)),
        (weight, outer - shift, _at(spots.along, radius, after), _at(spots.third, radius, after)),
        (1 - 2 * weight, -shift, spots.along, spots.third),
    )
    return Spots(
        spots.mean + shift,
        sum((part * (off**2 + variance) for part, off, variance, _ in parts), start=np.zeros_like(shift)),
        spots.across,
        sum((part * (off * (off**2 + 3 * v) + third) for part, off, v, third in parts), start=np.zeros_like(shift)),
    )


class UniformBlur(NamedTuple):
    """What gives a tile the same blur everywhere; (..., n) for hypotheses (...) and a table's radii (n,)."""

    step: Array  # (n,) px of x, in and out, to the two pixels that a pixel is mixed with
    ends: Array  # (..., n) weight of each of the two, taken off the pixel itself
    blur: Array  # (..., n) px² of blur in all directions


def full_uniform_blur(radius: Array, spots: Spots, reach: float) -> UniformBlur:
    """What makes all spots as wide as the one in the middle, as far as there are pixels within the reach (px).

    A blur in all directions does it across the radius, mixing with the two ends does the rest along the radius.
    """
    step = np.clip(reach - radius, 0, LARGEST_STEP)
    inner, outer = _distances(radius, spots, step)
    lack_along, lack_across = (np.maximum(part[..., :1] - part, 0) for part in (spots.along, spots.across))
    blur = np.minimum(lack_across / _per_radius(spots.mean, radius) ** 2, LARGEST_BLUR) * (step > 0)
    lack_along = np.maximum(lack_along - blur * np.gradient(spots.mean, radius, axis=-1) ** 2, 0)
    ends = np.minimum(lack_along / np.maximum(inner**2 + outer**2, 1e-6), LARGEST_WEIGHT) * (step > 0)
    return UniformBlur(step, ends, blur)


def nearest_share(wanted: UniformBlur, one: UniformBlur, weight: Array) -> Array:
    """The share (...) of `one` that comes nearest to the wanted ones (...); `weight` (n,) of each radius."""
    both = wanted.ends * one.ends + wanted.blur * one.blur / LARGEST_STEP**4
    square = float((one.ends**2 + (one.blur / LARGEST_STEP**2) ** 2) @ weight)
    return np.asarray(both @ weight / max(square, 1e-12))


def with_uniform_blur(radius: Array, spots: Spots, uniform: UniformBlur, share: Array, width: float) -> Spots:
    """Spots once a share (...) of a uniform blur is applied, with a blurring kernel of `width` px² of variance."""
    soft = blurred(radius, spots, share[..., None] * uniform.blur, width)
    return mixed(radius, soft, uniform.step, share[..., None] * uniform.ends)


def _distances(radius: Array, spots: Spots, step: Array) -> tuple[Array, Array]:
    """Distances in X to the spots of the pixels one step in and one step out, (..., n) each."""
    inside = radius - step
    inner = spots.mean - np.sign(inside) * _at(spots.mean, radius, inside)
    return inner, _at(spots.mean, radius, radius + step) - spots.mean


def _at(values: Array, radius: Array, place: Array) -> Array:
    """Values (..., n) that are known at evenly spaced radii, at |place| (n,), linear, also beyond the last."""
    entry = np.abs(place) / radius[1]
    low = np.minimum(entry.astype(np.int64), len(radius) - 2)
    return np.asarray(values[..., low] + (entry - low) * (values[..., low + 1] - values[..., low]))


def _per_radius(values: Array, radius: Array) -> Array:
    """Values (..., n) divided by the radius; both are 0 in the middle, where the quotient beside it serves."""
    beside = values[..., 1:] / radius[1:]
    return np.concatenate([beside[..., :1], beside], axis=-1)
