"""Centres of the lit discs of micro-images to a few hundredths of a pixel: each disc against the mean disc.

All discs of a white image look alike up to brightness: the light falls with the distance r from the centre as one
profile p(r). A disc that lies off its assumed centre by (x, y) shows g (p(r) − p′(r) (x, y)·r̂), which is linear in g,
g x and g y. Few rounds of that least squares settle profile and centres. What is symmetric about the centre (a
brighter lens, a slightly larger disc, light of the six neighbours) does not move it. Pixels count the less, the more
the discs differ from the profile at their distance: noise goes with light, and texture is worst in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.whites.kernels.discs import add_profiles, fit_discs
from plenodepth.camera.model import Array, Indices

Float32 = NDArray[np.float32]

BIN = 0.25  # px, of the profile
REACH = 0.5  # of the pitch: as far as the nearest point of a neighbour's cell
LONGEST_STEP = 0.1  # of the pitch, in a round
LEAST_GAIN = 0.1  # of the median disc's brightness: a darker disc has no centre
LEAST_VARIANCE = 0.02  # of the largest: no pixel counts more than fifty times as much as another
SHARE = 2000  # discs that a thread takes at a time; sums are over shares in order, so that they are always the same


@dataclass(frozen=True, eq=False)
class Discs:
    """Measured centres (n, 2) px, covariance (n, 2, 2) px², brightness (n,), 1 for the median disc; NaN: no centre."""

    uv: Array
    covariance: Array
    gain: Array


def discs_inside(light: Float32, uv: Array, pitch: float, slack: float) -> NDArray[np.bool_]:
    """Which discs about uv (n, 2) lie in the image, wherever within `slack` px their centres are."""
    margin = REACH * pitch + slack
    height, width = light.shape
    return np.asarray((uv >= margin).all(axis=1) & (uv <= np.array([width, height]) - 1 - margin).all(axis=1))


def measure_discs(light: Float32, uv: Array, pitch: float, slack: float, rounds: int, threads: int = 1) -> Discs:
    """Centres of the discs within `slack` px of uv (n, 2) px, all of them `discs_inside`."""
    found = np.ascontiguousarray(uv, dtype=np.float64).copy()
    reach, limit = REACH * pitch, LONGEST_STEP * pitch
    solution, moments = np.empty((len(uv), 3)), np.empty((len(uv), 3))
    bins = int(np.ceil(reach / BIN))
    worth = np.ones(bins)
    moved = np.zeros(len(uv))
    for _ in range(rounds):
        profile = mean_profile(light, found, reach, threads)
        squares, counts = _fitted(light, found, reach, profile, worth, solution, moments, threads)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num(solution[:, 1:] / solution[:, :1], posinf=0, neginf=0)
        found += np.clip(step, -limit, limit)
        moved = np.hypot(*(found - uv).T)
        found = np.where(moved[:, None] > slack, uv, found)
        variance = squares / np.maximum(counts, 1)
        worth = 1 / np.maximum(variance, max(LEAST_VARIANCE * float(variance.max()), 1e-12))
        worth /= worth.mean()
    gain = solution[:, 0] / float(np.nanmedian(solution[:, 0]))
    lost = ~(gain > LEAST_GAIN) | (moved > slack)
    found[lost] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = (moments / solution[:, :1] ** 2)[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    covariance[lost] = np.nan
    return Discs(found, covariance, gain)


def _fitted(
    light: Float32,
    uv: Array,
    reach: float,
    profile: Array,
    worth: Array,
    solution: Array,
    moments: Array,
    threads: int,
) -> tuple[Array, Array]:
    """Fill `solution` and `moments`, see `fit_discs`; the squared residuals (bins,) and how many they are."""
    slope = np.gradient(profile, BIN)

    def fit(part: slice) -> Array:
        sums = np.zeros((2, len(profile)))
        fit_discs(light, uv[part], reach, BIN, profile, slope, worth, solution[part], moments[part], *sums)
        return sums

    squares, counts = _added(fit, len(uv), threads)
    return squares, counts


def unevenness(k: Indices, l: Indices, brightness: Array) -> float:
    """How much brightness (n,) changes to the third next disc, which has the same lens type: its logarithm, up or down.

    Four in five discs of indices k, l change less.
    """
    table = np.full((int(l.max()) + 1, int(k.max()) + 1), np.nan)
    table[l, k] = np.log(np.maximum(np.nan_to_num(brightness), 1e-3))
    change = np.abs(table[:, 3:] - table[:, :-3])
    known = change[np.isfinite(change)]
    return float(np.quantile(known, 0.8)) if len(known) else np.inf


@dataclass(frozen=True, eq=False)
class Profiles:
    """Mean light (classes, bins) over the distance (classes, bins) px from the centre, 1 in the mean over the disc.

    `counts` (classes, bins): how many pixels; without any the light is NaN.
    """

    light: Array
    distance: Array
    counts: Array


def class_profiles(
    light: Float32, uv: Array, classes: Indices, class_count: int, reach: float, threads: int = 1
) -> Profiles:
    """Mean profile of each class of discs, with centres uv (n, 2) and classes (n,); all of them `discs_inside`."""
    classes, uv = np.ascontiguousarray(classes, dtype=np.int64), np.ascontiguousarray(uv)

    def add(part: slice) -> Array:
        sums = np.zeros((4, class_count, int(np.ceil(reach / BIN))))
        add_profiles(light, uv[part], classes[part], reach, BIN, *sums)
        return sums

    total, weight, distances, counts = _added(add, len(uv), threads)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Profiles(total / weight, distances / counts, counts)


def mean_profile(light: Float32, uv: Array, reach: float, threads: int = 1) -> Array:
    """(bins,) mean light at distances (i + ½) · BIN px from the centres uv (n, 2), 1 in the mean over the disc."""
    profile = class_profiles(light, uv, np.zeros(len(uv), np.int64), 1, reach, threads).light[0]
    place, known = np.arange(len(profile)), np.isfinite(profile)
    return np.asarray(np.interp(place, place[known], profile[known]), np.float64)


def _added(work: Callable[[slice], Array], count: int, threads: int) -> Array:
    """The sum of what `work` returns for slices of 0 … count − 1."""
    parts = [slice(first, min(first + SHARE, count)) for first in range(0, max(count, 1), SHARE)]
    with ThreadPoolExecutor(threads) as pool:
        return np.asarray(np.sum(list(pool.map(work, parts)), axis=0))
