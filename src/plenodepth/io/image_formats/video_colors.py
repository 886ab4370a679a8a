"""From the luma and the two colour differences of video to red, green and blue."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

# OpenCV is imported where it is used: a program that touches no video need not wait for it.

Matrix = Literal["BT.601", "BT.709", "BT.2020"]
FULL_SCALE = 65535
RGB_OF_16_BITS = 6  # bytes of a pixel

# The parts of red and of blue in luma.
_PARTS = {"BT.601": (0.299, 0.114), "BT.709": (0.2126, 0.0722), "BT.2020": (0.2627, 0.0593)}
GAMMA = "is video: its numbers are gamma-encoded, not proportional to the light"


def rgb_from_yuv(
    luma: npt.NDArray[Any],
    differences: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    *,
    bits: int,
    matrix: Matrix = "BT.709",
    full_range: bool = False,
) -> npt.NDArray[np.uint16]:
    """Colours (h, w, 3) uint16, where 65535 is full scale, from planes of `bits` bits.

    `luma` is (h, w); the `differences` to blue and to red are as large or have half as many rows, columns, or both.
    In limited range (16 … 235 of 8 bits are black … white) what is darker than black or brighter than white is cut.
    Colour samples stand at even columns and between two rows, as in MPEG-2 and all that followed. The gamma of the
    numbers is not undone.
    """
    import cv2

    height, width = luma.shape
    planes = [_to_16_bits(luma, bits)]
    for plane in differences:
        fine = _to_16_bits(plane, bits)
        columns, rows = -(-width // plane.shape[1]), -(-height // plane.shape[0])
        if (columns, rows) != (1, 1):
            place = np.array([[1 / columns, 0, 0], [0, 1 / rows, 0.5 / rows - 0.5]])
            how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            fine = cv2.warpAffine(fine, place, (width, height), flags=how, borderMode=cv2.BORDER_REPLICATE)
        planes.append(fine)
    return np.asarray(cv2.transform(cv2.merge(planes), _matrix(bits, matrix, full_range)), np.uint16)


def light_from_luma(luma: npt.NDArray[Any], *, bits: int) -> npt.NDArray[np.uint16]:
    """Luma (h, w) of limited range as uint16, where 65535 is full scale."""
    steps = 1 << (bits - 8)
    light = (luma.astype(np.float32) - 16 * steps) * np.float32(FULL_SCALE / (219 * steps))
    np.clip(np.rint(light, out=light), 0, FULL_SCALE, out=light)
    return light.astype(np.uint16)


def _to_16_bits(plane: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint16]:
    return plane.astype(np.uint16) << np.uint16(16 - bits)


def _matrix(bits: int, matrix: Matrix, full_range: bool) -> npt.NDArray[np.float64]:
    """(3, 4): red, green and blue from luma, the differences to blue and to red, and 1; all of 16 bits."""
    red, blue = _PARTS[matrix]
    green = 1 - red - blue
    to_blue, to_red = 2 * (1 - blue), 2 * (1 - red)
    colors = np.array([[1, 0, to_red], [1, -to_blue * blue / green, -to_red * red / green], [1, to_blue, 0]])
    if full_range:
        largest = ((1 << bits) - 1) << (16 - bits)
        zeros, ranges = np.array([0, 1 << 15, 1 << 15]), np.full(3, largest)
    else:
        zeros, ranges = np.array([16, 128, 128]) * 256, np.array([219, 224, 224]) * 256
    scaled = colors * FULL_SCALE / ranges
    return np.column_stack([scaled, -scaled @ zeros])
