"""Which hypothesis each pixel of the central view has, and its depth between the hypotheses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.collected_costs import CollectedCosts
from plenodepth.metric.dense.light import ShownLenses
from plenodepth.metric.kernels.outlines import follow_light
from plenodepth.metric.kernels.scanlines import sweep_lines
from plenodepth.metric.kernels.surface import compare_with_lenses, find_depths, find_labels, normalise, smooth_surface
from plenodepth.threads import each_band, thread_count

Float32 = NDArray[np.float32]
Labels = NDArray[np.int32]

# Costs are divided by their least one plus so many standard deviations of the noise, and never count more than the cap.
NOISE_FLOOR = 0.5
LEAST_NOISE = 0.001  # of gray: images without any are not perfect either
CAP = np.float32(4.0)
STEP = 0.45 / 39  # in 1/v: what penalties are for
# Penalties in units of such costs: of a step in 1/v, of a jump, and what an edge in the view takes off the latter.
SMALL_PENALTY, LARGE_PENALTY, OFF_AT_EDGES = 2.0, 8.0, 4.0
EDGE = 0.02  # steepness of the view, per px, at which an edge has taken off 63 % of that
SAME_SURFACE = 3 * STEP  # in 1/v: depths farther apart lie on different surfaces
LEAST_INFORMATION = 1e-3  # of the median: pixels that tell nothing count so much in a mean
SAME_DEPTH = np.float32(0.05)  # of 1/v: a lens whose depth is farther off sees another surface
LENS_FLOOR = 0.003  # of 1/v: what the depth of a lens is off without any noise
HUGE = np.float32(1e30)
LEAST_JUMP = 2  # hypotheses between neighbouring pixels: an outline
OUTLINE_BAND, OUTLINE_REACH = 4, 8  # px beside an outline that may change sides; px whose light and side are asked
ALIKE = np.float32(0.05)  # of the root of light, 1 for white: this much apart, pixels count half
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)


class DenseSurface(NamedTuple):
    """1/v of a view (h, w), NaN for none; its variance if every second pixel were independent; its information."""

    inverse: Float32
    variance: Float32
    information: Float32  # of the pixel by itself; 0: it has no minimum of its own


def normalise_costs(costs: CollectedCosts, noise: float, textured: NDArray[np.bool_]) -> None:
    """Divide costs by their least one, in place: `normalise`.

    `noise` is the standard deviation of gray's. Pixels that are not textured (h, w) have no say of their own: what
    looks like a minimum there is noise.
    """
    floor = np.float32(NOISE_FLOOR * max(noise if np.isfinite(noise) else 0.0, LEAST_NOISE))
    each_band(len(costs.cost), lambda rows: normalise(rows.start, rows.stop, costs.cost, textured, floor, CAP))


def summed_along_lines(costs: CollectedCosts, smoothness: float, steepness: Float32 | None) -> Float32:
    """Costs (h, w, n) summed along eight directions; a jump costs less where the view is steep (h, w)."""
    height, width, count = costs.cost.shape
    step = float(costs.inverse_depths[1] - costs.inverse_depths[0])
    large = np.full((height, width), LARGE_PENALTY - OFF_AT_EDGES / 2, np.float32)
    if steepness is not None:
        large = (LARGE_PENALTY - OFF_AT_EDGES * (1 - np.exp(-steepness / EDGE))).astype(np.float32)
    small, large = np.float32(smoothness * SMALL_PENALTY * step / STEP), np.float32(smoothness) * large
    flat = costs.cost.ravel()

    def sums(forward: bool) -> Float32:
        total = np.zeros(flat.size, np.float32)
        lines = np.full((2, 3, width + 2, count + 2), HUGE), np.full((2, count + 2), HUGE)
        for buffer in lines:
            buffer[..., 1:-1] = 0
        sweep_lines(flat, small, large, forward, lines, total)
        return total

    with ThreadPoolExecutor(min(thread_count(), 2)) as pool:
        forth, back = pool.map(sums, (True, False))
    forth += back
    return forth.reshape(costs.cost.shape)


def labels_of(costs: CollectedCosts, total: Float32) -> Labels:
    """The hypothesis (h, w) with the least sum; −1 where there is no cost.

    What is nearer looks larger than it is: its blurred outline moves with it, whatever lies behind. So the outline of
    what is nearer loses a pixel.
    """
    label = np.empty(total.shape[:2], np.int32)
    each_band(len(label), lambda rows: find_labels(rows.start, rows.stop, total, costs.cost, label))
    farther_last = abs(costs.inverse_depths[-1]) > abs(costs.inverse_depths[0])
    signed = label if farther_last else np.where(label < 0, label, len(costs.inverse_depths) - 1 - label)
    farthest = cv2.dilate(signed.astype(np.float32), CROSS).astype(np.int32)
    outline = (farthest - signed >= LEAST_JUMP) & (label >= 0)
    farthest = farthest if farther_last else len(costs.inverse_depths) - 1 - farthest
    return np.where(outline, farthest, label)


def outlines_by_light(label: Labels, light: Float32, count: int) -> Labels:
    """Labels (h, w) out of `count` whose outlines follow those of the light (h, w, channels), as far as it shows them.

    Near an outline a pixel's own costs are those of windows that look at both sides of it.
    """
    values = np.where(label < 0, 0, label).astype(np.float32)
    steps = (cv2.dilate(values, CROSS) - cv2.erode(values, CROSS) >= LEAST_JUMP).astype(np.uint8)
    near = cv2.dilate(steps, np.ones((2 * OUTLINE_BAND + 1,) * 2, np.uint8)) > 0
    root = np.sqrt(np.maximum(np.nan_to_num(light), 0))
    out = np.empty_like(label)

    def follow(rows: slice) -> None:
        weights = np.empty(count, np.float32)
        follow_light(rows.start, rows.stop, label, near, root, OUTLINE_REACH, ALIKE, weights, out)

    each_band(len(label), follow)
    return out


def surface_of(costs: CollectedCosts, total: Float32, label: Labels, reach: int) -> DenseSurface:
    """Depth between the hypotheses, averaged up to `reach` px away over what lies on the same surface."""
    inverse, information, mean, variance = (np.empty(label.shape, np.float32) for _ in range(4))
    first, step = (costs.inverse_depths[0], costs.inverse_depths[1] - costs.inverse_depths[0])
    given = costs.cost, total, label, first, step
    each_band(len(label), lambda rows: find_depths(rows.start, rows.stop, *given, inverse, information))
    told = information[information > 0]
    least = np.float32(LEAST_INFORMATION * np.median(told) if told.size else 1)

    def smooth(rows: slice) -> None:
        window = reach, np.float32(SAME_SURFACE), least
        smooth_surface(rows.start, rows.stop, inverse, information, *window, mean, variance)

    each_band(len(label), smooth)
    return DenseSurface(mean, variance, information)


def with_level_of_lenses(inverse: Float32, lenses: ShownLenses, reach: int) -> Float32:
    """The surface 1/v (h, w) at the level of the lenses' own depths around it.

    A lens compares far more pixels than the window of one pixel holds, and searches more finely: its depth is more
    exact where it sees a single surface. The dense surface says where that is.
    """
    offset, weight = np.zeros(inverse.shape, np.float32), np.zeros(inverse.shape, np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        lens_inverse = 1 / lenses.depth
        relative = lenses.sigma * np.abs(lens_inverse)
    lens_weight = lenses.confidence / (relative**2 + LENS_FLOOR**2)
    middle = lenses.places.shape[1] // 2
    pixel = np.floor(lenses.places[:, middle, :2]).astype(np.int32)
    known = np.isfinite(lens_inverse) & np.isfinite(lens_weight)
    compare_with_lenses(
        inverse,
        pixel[known],
        lens_inverse[known],
        lens_weight[known].astype(np.float32),
        reach,
        SAME_DEPTH,
        offset,
        weight,
    )
    return np.asarray(inverse + offset / np.maximum(weight, 1), np.float32)
