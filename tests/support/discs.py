"""Closed form of two intersecting discs: what part of a micro-lens a pixel or an emitter can use."""

from __future__ import annotations

import numpy as np


def common_part(
    radius: float, other: np.ndarray | float, distance: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """Area of disc(0, radius) ∩ disc(distance, other), and how far its centroid lies from 0 towards the other centre.

    The intersection is two circular segments on either side of the common chord.
    """
    d, other = np.broadcast_arrays(np.atleast_1d(np.abs(distance)), other)
    area, moment = np.zeros(d.shape), np.zeros(d.shape)
    inside = d + radius <= other
    area[inside] = np.pi * radius**2
    engulfs = d + other <= radius
    area[engulfs] = np.pi * other[engulfs] ** 2
    moment[engulfs] = area[engulfs] * d[engulfs]
    cut = ~inside & ~engulfs & (d < radius + other)
    x = (d[cut] ** 2 + radius**2 - other[cut] ** 2) / (2 * d[cut])  # of the chord

    def segment(r: np.ndarray | float, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Area beyond the chord at distance h of a disc of radius r, and its first moment about the disc's centre."""
        half = np.sqrt(np.maximum(r * r - h * h, 0))
        return r * r * np.arccos(np.clip(h / r, -1, 1)) - h * half, 2 / 3 * half**3

    first, first_moment = segment(radius, x)
    second, second_moment = segment(other[cut], d[cut] - x)
    area[cut] = first + second
    moment[cut] = first_moment + d[cut] * second - second_moment
    with np.errstate(invalid="ignore", divide="ignore"):
        return area, np.where(area > 0, moment / area, 0)
