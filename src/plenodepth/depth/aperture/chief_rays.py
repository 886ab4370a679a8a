"""Where pixels look when the aperture clips their light, how blurred, and how a tile is made even.

Around its centre a micro-image's pixels look through all of their lens, farther out through less and less of it
(`aperture.clipping`). At 1/v = u, a pixel at x from the centre shows the scene averaged over a spot whose mean is where
an unclipped pixel would look at
    X = x + ȳ (u − 1/v0) + X' A'/(12 A).
The last term is the vignetting within the pixel itself: with the area A falling outwards, more light comes from its
inner half. Were this all, views resampled to X would differ by the disparity of the model again. Two things are left.

The spot narrows outwards, along the radius: at f/4 and v = 15 from 4.5 to 1 px² of variance. Where views are compared,
the one's rim falls on the other's middle, and their blur differs by a gradient. To second order of the texture T that
shifts the match: ∫ T' · c x T'' = −c/2 ∫ T'². So the tile is made even first: each pixel is blurred, and mixed with
those one step farther in and out, by as much as its spot lacks of the variance in the middle (`Evening`).

The spot is skewed, by itself and because evening mixes wider spots from within with narrower ones from without. A
texture blurred by a skewed spot appears beside the mean, away from the longer tail: by m3/(6 V) where medians of spots
are aligned, which is what absolute differences do, and by up to m3/(4 V) for squared ones and a white texture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.aperture.clipping import ApertureTable

Array = NDArray[np.float64]

STEEPEST = 0.6  # per px: fall of the open area beyond which there is next to no light
PIXEL = 1 / 12  # px²: variance of a pixel's own width
TAIL = 1 / 6  # of m3/V, see above
STEP = 2.5  # px from a pixel to those that it is mixed with, where there are any
MOST_MIXED = 0.33  # of a pixel's weight that goes to each of the two
MOST_BLUR = 1.5  # px²: more than the kernel that is mixed in would ring


class Spots(NamedTuple):
    """What pixels average over, px of X; (..., n) for hypotheses (...) and a table's radii (n,)."""

    mean: Array  # from the micro-image's centre
    along: Array  # px²: variance along the radius
    across: Array  # px²
    third: Array  # px³: third central moment along the radius

    @property
    def place(self) -> Array:
        """Where what a pixel shows would be matched (..., n), ascending."""
        place = self.mean - TAIL * self.third / np.maximum(self.along, PIXEL)
        return np.asarray(np.maximum.accumulate(place, axis=-1))


def spots_of(table: ApertureTable, lens_type: int, inverse_depth: ArrayLike, smoothing: float) -> Spots:
    """Spots of a lens type's pixels at 1/v (...), when the image is then smoothed by so many px² of variance."""
    gap = np.asarray(inverse_depth, dtype=np.float64)[..., None] - table.focus[lens_type]
    area, radius = table.area[lens_type], table.radius
    points = Spots(
        np.maximum.accumulate(radius + gap * table.centroid[lens_type], axis=-1),
        gap**2 * table.variance_along[lens_type],
        gap**2 * table.variance_across[lens_type],
        gap**3 * table.skewness[lens_type],
    )
    pixels = blurred(radius, points, PIXEL)
    fall = np.maximum(np.gradient(area, radius) / np.maximum(area, 1e-9), -STEEPEST) * PIXEL
    looks = pixels.mean + fall * np.gradient(pixels.mean, radius, axis=-1)
    return blurred(radius, pixels._replace(mean=looks), smoothing)


def blurred(radius: Array, spots: Spots, variance: ArrayLike, width: float | None = None) -> Spots:
    """Spots once the image is blurred by a variance, px² of x, which may differ with the radius.

    `width` is that of the kernel, px², of which as much as the variance asks for is mixed in; None: the same.
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
    """Spots once pixels are mixed with those one step (n,) farther in and out, which get that weight (..., n) each.

    Those look at unevenly spaced places, which moves the mean, and from within come wider spots than from without,
    which skews the sum.
    """
    inner, outer = _apart(radius, spots, step)
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
        sum((part * (off**3 + 3 * off * v + third) for part, off, v, third in parts), start=np.zeros_like(shift)),
    )


class Evening(NamedTuple):
    """How much of what else is added to pixels; (..., n) for hypotheses (...) and a table's radii (n,)."""

    step: Array  # (n,) px of x, in and out
    ends: Array  # (..., n) weight of each of the two pixels one step away, taken off the pixel itself
    blur: Array  # (..., n) px² of blur in all directions


def full_evening(radius: Array, spots: Spots, reach: float) -> Evening:
    """What makes all spots as wide as the one in the middle, as far as there are pixels within the reach.

    A blur does it across, the two ends do the rest along the radius.
    """
    step = np.clip(reach - radius, 0, STEP)
    inner, outer = _apart(radius, spots, step)
    lack_along, lack_across = (np.maximum(part[..., :1] - part, 0) for part in (spots.along, spots.across))
    blur = np.minimum(lack_across / _per_radius(spots.mean, radius) ** 2, MOST_BLUR) * (step > 0)
    lack_along = np.maximum(lack_along - blur * np.gradient(spots.mean, radius, axis=-1) ** 2, 0)
    ends = np.minimum(lack_along / np.maximum(inner**2 + outer**2, 1e-6), MOST_MIXED) * (step > 0)
    return Evening(step, ends, blur)


def needed_part(wanted: Evening, one: Evening, weight: Array) -> Array:
    """How much (...) of one evening comes nearest to wanted ones (...); `weight` (n,) of each radius."""
    both = wanted.ends * one.ends + wanted.blur * one.blur / STEP**4
    square = float((one.ends**2 + (one.blur / STEP**2) ** 2) @ weight)
    return np.asarray(both @ weight / max(square, 1e-12))


def evened(radius: Array, spots: Spots, evening: Evening, part: Array, width: float) -> Spots:
    """Spots once so much (...) of an evening is done, its blur by mixing in a kernel of `width` px² of variance."""
    soft = blurred(radius, spots, part[..., None] * evening.blur, width)
    return mixed(radius, soft, evening.step, part[..., None] * evening.ends)


def _apart(radius: Array, spots: Spots, step: Array) -> tuple[Array, Array]:
    """How far, in X, the spots of the pixels one step in and out are, (..., n) each."""
    inside = radius - step
    inner = spots.mean - np.sign(inside) * _at(spots.mean, radius, inside)
    return inner, _at(spots.mean, radius, radius + step) - spots.mean


def _at(values: Array, radius: Array, place: Array) -> Array:
    """Values (..., n) that are known at evenly spaced radii, at |place| (n,), linear, also beyond the last."""
    entry = np.abs(place) / radius[1]
    low = np.minimum(entry.astype(np.int64), len(radius) - 2)
    return np.asarray(values[..., low] + (entry - low) * (values[..., low + 1] - values[..., low]))


def _per_radius(values: Array, radius: Array) -> Array:
    """Values (..., n) that are 0 in the middle over the radius, which is 0 there, too."""
    beside = values[..., 1:] / radius[1:]
    return np.concatenate([beside[..., :1], beside], axis=-1)
