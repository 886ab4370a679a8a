"""The mathematics of one pair of views and one hypothesis, for all CPU kernels.

Every formula of the matching stands here once, as a plain function of single numbers. The kernels in `cpu` loop over
pixels, views and hypotheses and call these functions; Numba inlines them. The oracle `reference` has its own formulas
and imports nothing from here.
"""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import formula, inlined, inner
from plenodepth.depth.kernels.constants import (
    MEAN_ABSOLUTE,
    SIGMA_FACTOR,
    SNAP,
    UNUSABLE,
)

f4 = np.float32
i4 = np.int32
u4 = np.uint32

# --- geometry -------------------------------------------------------------------------------------------------------


@inlined
def parity_of(views, k, l):
    """0 or 1: whether lens (k, l) stands in an even or an odd row (column, where the array is aligned by columns)."""
    return (k if views.by_column else l) % 2


@inlined
def in_array(views, k, l):
    """Whether there is a lens (k, l)."""
    return not (k < 0 or l < 0 or k >= views.columns or l >= views.rows)


@formula
def disparity_gain(inverse_depth, pitch_ratio):
    """Disparity per baseline at 1/v: 1 − λ + λ/v, λ the ratio of the pitches (see camera.disparity)."""
    return (f4(1) - pitch_ratio) + pitch_ratio * inverse_depth


@formula
def image_step_gain(depth, pitch_ratio):
    """Way in the image per way from lens to lens, of a point at v: 1 minus the disparity per baseline, λ (1 − 1/v)."""
    return pitch_ratio * (f4(1) - f4(1) / depth)


@formula
def unstretched(inverse_depth, plane, stretch, pitch_ratio):
    """1/v from the one found among tiles that were resampled for the hypothesis `plane`.

    The scale of those tiles is right at 1/v = plane only: disparities in them are too small by the factor
    1 + stretch · (1/v − plane). Disparities are proportional to 1/v + (1 − λ)/λ, λ the ratio of the pitches.
    """
    if stretch == 0:
        return inverse_depth
    rest = (f4(1) - pitch_ratio) / pitch_ratio
    return ((inverse_depth + rest) * (f4(1) - stretch * plane) - rest) / (f4(1) - stretch * (inverse_depth + rest))


# --- interpolation --------------------------------------------------------------------------------------------------


@formula
def floor(value):
    """The largest integer up to a value. (math.floor would be a call of the C library's, 4 ns.)"""
    cut = i4(value)
    return cut - i4(1) if f4(cut) > value else cut


@formula
def snapped(fraction):
    """A shift's fraction; 0 or 1 where only rounding keeps it from that: a missing pixel beside must not count."""
    return f4(0) if fraction < SNAP else (f4(1) if fraction > f4(1) - SNAP else fraction)


@formula
def bilinear_weights(wx, wy):
    """Weights of the pixels (0, 0), (1, 0), (0, 1) and (1, 1) at a place (wx, wy) between them."""
    w11 = wx * wy
    return f4(1) - wx - wy + w11, wx - w11, wy - w11, w11


@formula
def interpolation_variance(wx, wy):
    """Variance, px², by which interpolation at fractions (wx, wy) blurs: w (1 − w) along an axis, mean of both axes."""
    return f4(0.5) * (wx * (f4(1) - wx) + wy * (f4(1) - wy))


@formula
def looked_up(table, entry, part):
    """The value of a table between an entry and the next one."""
    return table[entry] + part * (table[entry + u4(1)] - table[entry])


# --- blur and noise -------------------------------------------------------------------------------------------------


@inlined
def relative_blur_variance(views, one, other, inverse_depth):
    """Variance, px² per axis, by which lens type `one` is blurrier than `other` at 1/v; negative: it is sharper."""
    return views.blur_intercept[one, other] + inverse_depth * (
        views.blur_slope[one, other] + inverse_depth * views.blur_square[one, other]
    )


@formula
def noise_deficit(noise, wx, wy, blur):
    """How much noise a pair lacks compared with one that is neither shifted nor blurred, in units of its variance.

    Interpolation between pixels averages noise away, and so does blur. There a match would look better than it is, and
    depth would be drawn to it (by up to 0.8 % of v at a noise of 2 %) if this were not corrected for.
    """
    blurred = f4(1) + abs(blur) * (noise.blur[0] + abs(blur) * noise.blur[1])
    along_x, along_y = f4(1) - wx * (f4(1) - wx) * noise.between, f4(1) - wy * (f4(1) - wy) * noise.between
    return f4(2) - (blurred + along_x * along_y if blur < 0 else f4(1) + blurred * along_x * along_y)


@formula
def noise_corrected(cost, deficit, noise):
    """A mean absolute difference as if interpolation and blur had left all noise in it.

    (mean |difference|)² = mismatch² + 2/π · variance of the noise. `noise` is the second term of one view, `deficit`
    is the part of it that is missing on average (`noise_deficit`).
    """
    return math.sqrt(max(cost * cost + deficit * noise, f4(0)))


# --- which pixels are compared --------------------------------------------------------------------------------------


@formula
def similarity(here, there, dissimilarity):
    """Weight of a comparison of two pixels, given their squared distances (px²) from the centre of their light.

    The farther apart these are, the less alike the aperture clips the two pixels.
    """
    return max(f4(1) - dissimilarity * abs(here - there), f4(0))


@formula
def standard_deviation(total, squares, count):
    """Standard deviation of `count` values from their sum and the sum of their squares; 0 of none."""
    if count == 0:
        return f4(0)
    return f4(math.sqrt(max(squares / count - (total / count) ** 2, 0.0)))


# --- the minimum of a cost curve ------------------------------------------------------------------------------------


@inner
def parabola_minimum(low, lowest, high, bend, pixels, floor):
    """Place of a minimum between three neighbouring costs, and its standard deviation, in units of their spacing.

    `bend` is the second difference that the deviation is computed from (noise disturbs it more than the place, so a
    wider base helps), `pixels` the number of pixels behind each cost, `floor` the deviation that is left without noise.
    NaN where there is no minimum.
    """
    # Through the squares: with little noise the cost is a V, its square a parabola.
    before, here, after = low * low, lowest * lowest, high * high
    curvature = before - f4(2) * here + after
    if not (low < UNUSABLE and high < UNUSABLE and curvature > 0 and bend > 0):
        return f4(np.nan), f4(np.nan)
    shift = f4(0.5) * (before - after) / curvature
    if abs(shift) > f4(1):
        return f4(np.nan), f4(np.nan)
    spread = f4(SIGMA_FACTOR) * math.sqrt(lowest / (f4(MEAN_ABSOLUTE**2) * max(pixels, f4(1)) * bend))
    return shift, f4(math.sqrt(spread * spread + floor * floor))


@inner
def five_point_minimum(before, left, lowest, right, after, pixels, floor):
    """Place of the minimum of five neighbouring costs and its standard deviation, in units of their spacing."""
    if left < lowest and left <= right:
        shift, spread = parabola_minimum(before, left, lowest, before - f4(2) * left + lowest, pixels, floor)
        return shift - f4(1), spread
    if right < lowest:
        shift, spread = parabola_minimum(lowest, right, after, lowest - f4(2) * right + after, pixels, floor)
        return shift + f4(1), spread
    return parabola_minimum(left, lowest, right, f4(0.25) * (before - f4(2) * lowest + after), pixels, floor)
