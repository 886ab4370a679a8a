"""Weights of residuals: by their stated covariances, by how large residuals of their kind turn out, and robustly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plenodepth.camera.model import Array

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
