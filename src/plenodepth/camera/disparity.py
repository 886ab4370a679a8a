"""Disparity between micro-images: displacement in micro-image-centred coordinates, p_j − c_j = (p_i − c_i) + δ."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.model import Array


def corrected_disparity(baseline: ArrayLike, virtual_depth: ArrayLike, pitch_ratio: ArrayLike) -> Array:
    """Corrected disparity δ' = ((1 − λ) v + λ)/v · (c_i − c_j), px.

    `baseline` (..., 2) px is c_i − c_j, reference minus target micro-image centre; v and λ (`pitch_ratio`) are (...).
    The factor accounts for micro-image centres spreading wider than the lenses behind them; exact without tilt.
    """
    v = np.asarray(virtual_depth, dtype=np.float64)
    ratio = np.asarray(pitch_ratio, dtype=np.float64)
    return np.asarray(baseline, dtype=np.float64) * ((1 - ratio) + ratio / v)[..., None]


def uncorrected_disparity(baseline: ArrayLike, virtual_depth: ArrayLike) -> Array:
    """δ = baseline/v, px: the usual formula, which takes micro-image centres to stand right behind their lenses."""
    v = np.asarray(virtual_depth, dtype=np.float64)
    return np.asarray(baseline, dtype=np.float64) / v[..., None]


def virtual_depth_from_disparity(disparity: ArrayLike, baseline: ArrayLike, pitch_ratio: ArrayLike) -> Array:
    """v of a matched pair, the inverse of `corrected_disparity`: λ/(g − (1 − λ)), with g = δ along the baseline."""
    delta, base = np.asarray(disparity, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    ratio = np.asarray(pitch_ratio, dtype=np.float64)
    along = np.sum(delta * base, axis=-1) / np.sum(base * base, axis=-1)
    with np.errstate(divide="ignore"):
        v: Array = ratio / (along - (1 - ratio))
    return v


def disparity_slope(virtual_depth: ArrayLike, pitch_ratio: ArrayLike) -> Array:
    """∂δ'/∂v per unit of baseline: −λ/v²."""
    v = np.asarray(virtual_depth, dtype=np.float64)
    return -np.asarray(pitch_ratio, dtype=np.float64) / v**2
