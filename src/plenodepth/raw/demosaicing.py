"""Colour from a Bayer mosaic, in float: the linear filters of Malvar, He and Cutler (ICASSP 2004).

Each missing colour is the mean of its neighbours plus a share of the curvature of the colour that is there, which
keeps the detail that plain bilinear interpolation loses; the luminance is what matching works on. The mosaic comes
devignetted, so that neighbouring filters are comparable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.raw_format import bayer_pattern
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class ColorFilters:
    """The colour filters that an image was taken through."""

    pattern: str | None  # of `BAYER_PATTERNS`, still to be demosaiced; None: the image is gray or in colour already
    demosaiced_before: bool = False  # in colour, but of a sensor with colour filters: who wrote the file demosaiced it


def color_filters(numbers: NDArray[Any], camera: PlenopticCamera | GridCamera, given: str | None) -> ColorFilters:
    """The given pattern, else the camera's, for an image (h, w); an image (h, w, 3) has no pattern any more.

    A pattern given for an image in colour is an `InputError`; the camera's is only left aside.
    """
    in_color = numbers.ndim == 3
    if given is not None:
        pattern = bayer_pattern(given)
        if in_color:
            raise InputError("is given, but the image has colours", field="bayer", fix="leave the pattern out")
        return ColorFilters(pattern)
    known = camera.sensor.bayer if isinstance(camera, PlenopticCamera) else None  # a vendor's grid knows none
    return ColorFilters(None if in_color else known, demosaiced_before=in_color and known is not None)


def _kernel(rows: list[list[float]]) -> Float32:
    return np.array(rows, np.float32) / np.float32(8)


GREEN_AT_OTHER = _kernel([[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]])
# A colour at a green pixel that has its filters to the left and right; transposed, above and below.
COLOR_AT_GREEN = _kernel(
    [[0, 0, 0.5, 0, 0], [0, -1, 0, -1, 0], [-1, 4, 5, 4, -1], [0, -1, 0, -1, 0], [0, 0, 0.5, 0, 0]]
)
RED_AT_BLUE = _kernel([[0, 0, -1.5, 0, 0], [0, 2, 0, 2, 0], [-1.5, 0, 6, 0, -1.5], [0, 2, 0, 2, 0], [0, 0, -1.5, 0, 0]])


def sites(pattern: str) -> list[tuple[int, int, int]]:
    """(row, column, channel 0 … 2) of the four pixels of a period."""
    return [(position // 2, position % 2, "RGB".index(color)) for position, color in enumerate(pattern)]


def demosaic(mosaic: Float32, pattern: str) -> Float32:
    """RGB (h, w, 3) of a mosaic (h, w); NaN where the mosaic is, and nowhere else: it spreads into no neighbour."""
    missing = ~np.isfinite(mosaic)
    filled = _filled(mosaic, missing, pattern) if missing.any() else mosaic
    color = np.empty((*mosaic.shape, 3), np.float32)
    across, down = _filtered(filled, COLOR_AT_GREEN), _filtered(filled, COLOR_AT_GREEN.T)
    green, diagonal = _filtered(filled, GREEN_AT_OTHER), _filtered(filled, RED_AT_BLUE)
    kinds = {(row, column): channel for row, column, channel in sites(pattern)}
    for (row, column), channel in kinds.items():
        place = (slice(row, None, 2), slice(column, None, 2))
        color[(*place, channel)] = filled[place]
        if channel == 1:
            beside = kinds[row, 1 - column]
            color[(*place, beside)] = across[place]
            color[(*place, 2 - beside)] = down[place]
        else:
            color[(*place, 1)] = green[place]
            color[(*place, 2 - channel)] = diagonal[place]
    color[missing] = np.nan
    return color


def spread(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The mask with the eight neighbours of each of its pixels."""
    import cv2

    wider = cv2.dilate(mask.view(np.uint8), np.ones((3, 3), np.uint8)) if mask.any() else mask.view(np.uint8)
    return np.asarray(wider, dtype=np.uint8).view(np.bool_)


def _filtered(mosaic: Float32, kernel: Float32) -> Float32:
    import cv2

    # Reflection about the outermost pixel keeps the period of the pattern.
    result: Float32 = cv2.filter2D(mosaic, cv2.CV_32F, kernel, borderType=cv2.BORDER_REFLECT_101)
    return result


def _filled(mosaic: Float32, missing: NDArray[np.bool_], pattern: str) -> Float32:
    """The mosaic with each missing pixel replaced by the mean of its filter's neighbours, 0 where there are none."""
    import cv2

    filled = np.where(missing, np.float32(0), mosaic)
    for row, column, _ in sites(pattern):
        place = (slice(row, None, 2), slice(column, None, 2))
        gaps = missing[place]
        if not gaps.size or not gaps.any():
            continue
        total = cv2.blur(np.ascontiguousarray(filled[place]), (3, 3), borderType=cv2.BORDER_REFLECT_101)
        share = cv2.blur((~gaps).astype(np.float32), (3, 3), borderType=cv2.BORDER_REFLECT_101)
        filled[place][gaps] = (total / np.maximum(share, np.float32(1e-3)))[gaps]
    return filled
