"""Lens types by sharpness: in a multi-focus array every third micro-image is sharper, or less sharp, than the others.

Neighbours in a hexagonal array can differ in one way only (three types, up to their numbers). So the question is
whether there are three types or one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.whites.lattice_fit import type_pattern_for
from plenodepth.camera.model import Array, Indices, MicroImageArray
from plenodepth.geometry import Arrangement
from plenodepth.raw.periodicity import Float32

FINE = 1.0  # px: standard deviation of the blur that tells what is fine
COARSER = 2.5  # times that: what is coarse
DISC = 0.25  # of the radius: standard deviation of the weights in a micro-image
AROUND = 5  # lenses: sharpness is relative to the mean of so many in either direction
BLOCK = 12  # lenses: the scene's depth, and so the order of types, may change from block to block
EVERYWHERE = 1 << 20  # lenses: one block for all; that is clearer where it does not change
DRAWS = 40  # of types that are shifted at random from row to row, to compare with
CERTAIN = 8.0  # standard deviations over those draws


@dataclass(frozen=True, eq=False)
class TypesBySharpness:
    """The lens types (P, Q) that micro-images show; how surely they are three, in standard deviations."""

    type_pattern: Indices
    certainty: float
    sharpness: Array  # (3,) mean of the logarithm per type, relative to the neighbours; (0,) for one type


def types_by_sharpness(lights: Sequence[Float32], micro_images: MicroImageArray) -> TypesBySharpness:
    """Three lens types or one, and three in order of their sharpness: 0 is the sharpest in most of the images."""
    lattice = micro_images.lattice
    one_type = np.zeros((1, 1), np.int64)
    if lattice.arrangement is Arrangement.ORTHOGONAL or min(lattice.rows, lattice.columns) < BLOCK // 2:
        return TypesBySharpness(one_type, 0.0, np.zeros(0))
    pattern = type_pattern_for(lattice, 3)
    k, l = lattice.indices()
    types = pattern[l % pattern.shape[0], k % pattern.shape[1]]
    relative = [_relative_sharpness(light, micro_images) for light in lights]
    random = np.random.default_rng(0)
    by_rows = lattice.arrangement is Arrangement.HEXAGONAL_ROWS
    shifts = random.integers(0, 3, (DRAWS, lattice.rows, 1) if by_rows else (DRAWS, 1, lattice.columns))
    certainty = 0.0
    for side in (BLOCK, EVERYWHERE):
        others = [_difference(relative, (types + shift) % 3, side) for shift in shifts]
        found = (_difference(relative, types, side) - np.mean(others)) / max(float(np.std(others)), 1e-9)
        certainty = max(certainty, float(found))
    if not certainty >= CERTAIN:
        return TypesBySharpness(one_type, certainty, np.zeros(0))
    every = np.array(relative)
    known = np.isfinite(every)
    sharpness = np.array([every[:, types == one][known[:, types == one]].mean() for one in range(3)])
    order = np.argsort(-sharpness)
    number = np.argsort(order)  # of each type, by its sharpness
    return TypesBySharpness(number[pattern].astype(np.int64), certainty, sharpness[order])


def _relative_sharpness(light: Float32, micro_images: MicroImageArray) -> Array:
    """The logarithm (rows, columns) of each micro-image's fine contrast over its coarser one, less that of the lenses
    around it; NaN where it is not wholly in the image, or shows too little.
    """
    lattice, spread = micro_images.lattice, DISC * micro_images.radius
    smooth, smoother = (cv2.GaussianBlur(light, (0, 0), FINE * times) for times in (1, COARSER))
    center = micro_images.center(*lattice.indices()).astype(np.float32)
    fine, coarse = (
        _at(cv2.GaussianBlur(one**2, (0, 0), spread), center) for one in (light - smooth, smooth - smoother)
    )
    mean = _at(smoother, center)
    size = np.array(light.shape[1::-1])
    inside = ((center >= micro_images.radius) & (center < size - micro_images.radius)).all(axis=-1)
    relative = coarse / np.maximum(mean**2, 1e-12)
    shows = inside & (fine > 0) & (relative >= np.median(relative[inside]) / 4)
    value = np.where(shows, np.log(np.maximum(fine, 1e-30) / np.maximum(coarse, 1e-30)), 0.0)
    total, count = (cv2.blur(one.astype(np.float64), (AROUND, AROUND)) for one in (value, shows))
    return np.asarray(np.where(shows & (count > 0.3), value - total / np.maximum(count, 1e-9), np.nan))


def _at(values: Float32, place: NDArray[np.float32]) -> Array:
    """Values (rows, columns) at places (rows, columns, 2) px between pixels."""
    return np.asarray(cv2.remap(values, place, None, cv2.INTER_LINEAR), np.float64)


def _difference(relative: Sequence[Array], types: Indices, side: int) -> float:
    """How much types differ in blocks of `side` × `side` lenses: squares of their means in standard errors, summed."""
    total = 0.0
    rows, columns = types.shape
    block = (np.arange(rows) // side)[:, None] * (columns // side + 1) + np.arange(columns) // side
    for one in relative:
        known = np.isfinite(one)
        value, place = one[known], (3 * block + types)[known]
        count = np.bincount(place, minlength=3 * (block.max() + 1)).reshape(-1, 3)
        sums = np.bincount(place, value, 3 * (block.max() + 1)).reshape(-1, 3)
        squares = np.bincount(block[known], value**2, block.max() + 1)
        enough = count.min(axis=1) >= 3
        mean = sums[enough] / count[enough]
        variance = squares[enough] / count[enough].sum(axis=1)
        total += float((mean**2 * count[enough] / np.maximum(variance, 1e-12)[:, None]).sum())
    return total
