"""Weights of residuals: by their stated covariances, by how large residuals of their kind turn out, and robustly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from plenodepth.camera.model import Array, Indices

HUBER = 2.5  # standard deviations within which residuals count in full
OUTLYING = 6.0  # beyond it they do not count at all
MEDIAN_OF_NORMAL = 0.6745  # of |x|, one dimension
MEDIAN_OF_PLANE = 1.1774  # of |x|, two dimensions
# px that the measured blur radii of a lens type in a frame have in common: on simulated boards they are off by up to
# 0.04 px, one way where they are small and the other where they are large.
RHO_BIAS = 0.1
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
    """Errors that all features of a group share, px: the views of a corner, or the blur radii of a lens type.

    With shares s = root of the weight, 1/px, whitened errors of a group have the covariance 1 + τ² s sᵀ; `whitened`
    takes them to unit covariance, so that a group counts with at most 1/τ² however many features it has.
    """

    group: Indices  # (n,) 0 … m−1
    share: Array  # (n,): s
    pull: Array  # (m,): (1 − 1/√(1 + τ² |s|²))/|s|²

    def whitened(self, rows: Array) -> Array:
        """Rows (n, ...) less what they have in common."""
        flat = rows.reshape(len(rows), -1)
        shares = _shares(self.group, self.share)
        common = shares.T @ (self.pull[:, None] * (shares @ flat))
        return np.asarray(rows - common.reshape(rows.shape))


def common_errors(group: Indices, share: Array, tau: float) -> CommonErrors:
    """Common errors of standard deviation `tau` px, for features with group numbers (n,) and shares (n,) in 1/px."""
    _, place = np.unique(group, return_inverse=True)
    square = np.maximum(np.bincount(place, share**2), 1e-12)
    return CommonErrors(place, share, (1 - 1 / np.sqrt(1 + tau**2 * square)) / square)


def common_scale(group: Indices, share: Array, whitened: Array) -> tuple[Array, Array]:
    """Per group: the squared mean error, mean of both axes, px², and what the features' own errors explain of it."""
    _, place = np.unique(group, return_inverse=True)
    shares, square = _shares(place, share), np.bincount(place, share**2)
    known = square > 0
    mean = (shares @ whitened)[known] / square[known, None]
    return (mean**2).mean(axis=1), 1 / square[known]


def _shares(group: Indices, share: Array) -> csr_array:
    """(m, n): the shares (n,) of the features in each group 0 … m−1."""
    return csr_array((share, (group, np.arange(len(share)))))
