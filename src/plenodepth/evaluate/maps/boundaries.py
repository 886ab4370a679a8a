"""Where depth jumps, and how far each pixel is from there: near occlusion boundaries depth is hardest."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.errors import InputError
from plenodepth.evaluate.maps.differences import checked_depth

LEAST_JUMP = 0.02  # in parts of the nearer depth; a wall at 60° to the view changes by less from pixel to pixel


def depth_jumps(depth: ArrayLike, jump: float = LEAST_JUMP) -> NDArray[np.bool_]:
    """The pixels (h, w) on either side of a jump of depth (h, w), mm, to a pixel beside, above or below.

    A jump is a difference of more than `jump` parts of the nearer depth. The depth is the true one, of one view: a
    coarse map, or a central sub-aperture view. In a raw image depth also jumps where the next micro-image begins.
    Holes (NaN) make no boundary.
    """
    z = checked_depth(depth, "depth")
    if z.ndim != 2:
        raise InputError(f"has shape {z.shape}, needs (h, w)", field="depth")
    if not jump > 0:
        raise InputError(f"is {jump:g}, needs a number > 0", field="jump", fix="0.02 is 2 % of the nearer depth")
    found = np.zeros(z.shape, dtype=bool)
    _mark(z, found, jump)
    _mark(z.T, found.T, jump)
    return found


def boundary_distance(boundary: ArrayLike) -> NDArray[np.float32]:
    """Distance (h, w), px, of each pixel's centre from the next of a boundary mask (h, w); ∞ where there is none."""
    mask = np.asarray(boundary, dtype=bool)
    if mask.ndim != 2:
        raise InputError(f"has shape {mask.shape}, needs (h, w)", field="boundary")
    if not mask.any():
        return np.full(mask.shape, np.inf, np.float32)
    away: NDArray[np.float32] = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    return away


def _mark(z: NDArray[Any], found: NDArray[np.bool_], jump: float) -> None:
    """Marks in `found` the pixels of either side of a jump along the first axis."""
    one, other = z[:-1], z[1:]
    with np.errstate(invalid="ignore"):
        jumps = np.abs(one - other) > jump * np.minimum(one, other)
    found[:-1] |= jumps
    found[1:] |= jumps
