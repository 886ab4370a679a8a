"""Weights of residuals: by their stated covariances, by how large residuals of their kind turn out, and robustly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plenodepth.camera.model import Array, Indices

HUBER = 2.5  # standard deviations within which residuals count in full
OUTLYING = 6.0  # beyond it they do not count at all
MEDIAN_OF_NORMAL = 0.6745  # of |x|, one dimension
MEDIAN_OF_PLANE = 1.1774  # of |x|, two dimensions
LEAST_SCALE = 1e-3  # of the stated standard deviations: residuals of exact data would weigh without bound


class Scales(NamedTuple):
    """By how much residuals exceed their stated standard deviations; 1 where the stated ones are right."""

    uv: float = 1.0
    rho: float = 1.0
    centers: float = 1.0
    corner: float = 0.0  # px: standard deviation of what all views of a corner have in common


def whitening(covariance: Array) -> Array:
    """Roots (n, 2, 2) of the weights: root · x has unit covariance."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)))


def plane_scale(norms: Array) -> float:
    """Robust standard deviation of two-dimensional residuals with norms (n,)."""
    return max(float(np.median(norms)) / MEDIAN_OF_PLANE, LEAST_SCALE) if len(norms) else 1.0


def line_scale(values: Array) -> float:
    """Robust standard deviation of residuals (n,)."""
    return max(float(np.median(np.abs(values))) / MEDIAN_OF_NORMAL, LEAST_SCALE) if len(values) else 1.0


def robust_weight(norms: Array) -> Array:
    """Weights (n,) in [0, 1] of residuals `norms` standard deviations large."""
    weight = np.minimum(1, HUBER / np.maximum(norms, 1e-12))
    return np.where(norms > OUTLYING, 0.0, weight)


@dataclass(frozen=True, eq=False)
class CommonErrors:
    """Errors that all views of a corner share (a bent board, optics that the model does not know), px.

    Features are sorted by corner. With shares s = root of the weight, 1/px, whitened errors of a corner's views have
    the covariance 1 + τ² s sᵀ; `whitened` takes them to unit covariance, so that a corner counts with at most 1/τ²
    however many lenses see it.
    """

    first: Indices  # (m,) row of each corner's first view
    share: Array  # (n,)
    pull: Array  # (n,): (1 − 1/√(1 + τ² |s|²))/|s|², of the row's corner

    def whitened(self, rows: Array) -> Array:
        """Rows (n, ...) less what they have in common."""
        share = self.share.reshape(-1, *[1] * (rows.ndim - 1))
        common = np.add.reduceat(rows * share, self.first, axis=0)
        of_row = np.repeat(common, np.diff([*self.first, len(rows)]), axis=0)
        return np.asarray(rows - share * self.pull.reshape(share.shape) * of_row)


def common_errors(corner: Indices, share: Array, tau: float) -> CommonErrors:
    """For features sorted by corner, with shares (n,) in 1/px and τ px."""
    first = np.flatnonzero(np.diff(corner, prepend=-2) != 0)
    square = np.maximum(np.add.reduceat(share**2, first), 1e-12)
    pull = (1 - 1 / np.sqrt(1 + tau**2 * square)) / square
    return CommonErrors(first, share, np.repeat(pull, np.diff([*first, len(corner)])))


def common_scale(corner: Indices, share: Array, whitened: Array) -> tuple[Array, Array]:
    """Per corner: the squared mean error, mean of both axes, px², and what the views' own errors explain of it."""
    first = np.flatnonzero(np.diff(corner, prepend=-2) != 0)
    square = np.add.reduceat(share**2, first)
    known = square > 0
    mean = np.add.reduceat(whitened * share[:, None], first, axis=0)[known] / square[known, None]
    return (mean**2).mean(axis=1), 1 / square[known]
