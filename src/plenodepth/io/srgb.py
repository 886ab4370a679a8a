"""Linear light as sRGB, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def srgb_encoded(light: NDArray[Any]) -> NDArray[np.float32]:
    """Linear light of any shape as sRGB in [0, 1], clipped there: 1 for white. NaN stays."""
    linear = np.clip(light, 0, 1)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(encoded, np.float32)


def srgb_decoded(levels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Linear light in [0, 1] of 8-bit sRGB levels, any shape."""
    code = np.arange(256) / 255
    table = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4).astype(np.float32)
    return np.asarray(table[levels])


def light_of_numbers(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Linear light of sRGB numbers, 1 for white; also beyond white, and below black by symmetry."""
    size = np.abs(numbers)
    light = np.where(size <= 0.04045, size / 12.92, ((size + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.copysign(light, numbers), np.float32)
