"""Maps and pictures as parts of a page: small files for `src`, colour bars and histograms."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from plenodepth.metric.picture import MISSING, color_index, color_table, depth_colors, reduced, ticks
from plenodepth.view.reports.page import data_uri

MOST_PIXELS = 1100  # of a picture's longer side: about what a page has room for
JPEG_QUALITY = 86
BINS = 64
Map = NDArray[np.float32]


@dataclass(frozen=True)
class MapPicture:
    """A map in colours with what its colours mean."""

    uri: str
    width: int
    height: int
    bars: list[Bar]  # the histogram; the colours of its bars are those of the map
    marks: list[Mark]  # below the bars
    unit: str

    @property
    def coarse(self) -> bool:
        """Whether it has so few pixels that they are to be seen as squares."""
        return self.width < 500


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, in per cent of its width and height."""

    left: float
    width: float
    height: float
    color: str


@dataclass(frozen=True)
class Mark:
    """A number below a histogram, and where: per cent of its width."""

    left: float
    text: str


def photo_uri(picture: NDArray[np.uint8]) -> str:
    """An sRGB picture (h, w, 3) as a JPEG within the page."""
    drawn = BytesIO()
    Image.fromarray(np.ascontiguousarray(_reduced(picture))).save(drawn, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return data_uri(drawn.getvalue(), "jpeg")


def map_picture(
    values: Map, unit: str, *, near_is_low: bool = False, ends: tuple[float, float] | None = None
) -> MapPicture:
    """A map (h, w) in the colours of all pictures of depth, with its histogram. `ends`: of the colours; else found."""
    shown = reduced(values, MOST_PIXELS)
    present = values[np.isfinite(values)]
    if ends is not None:
        limits = {"vmin": ends[0], "vmax": ends[1]}
    else:
        limits = depth_colors(present) if present.size else {"vmin": 0.0, "vmax": 1.0}
    table = color_table(near_is_low=near_is_low)
    # One of the 256 indices stands for what is missing: the lowest colour, which is next to that of index 1.
    index = np.where(np.isfinite(shown), np.maximum(color_index(shown, limits), 1), 0).astype(np.uint8)
    image = Image.fromarray(index, "P")
    image.putpalette(np.concatenate([[tuple(bytes.fromhex(MISSING[1:]))], table[1:]]).astype(np.uint8).tobytes())
    drawn = BytesIO()
    image.save(drawn, "PNG", optimize=True)
    low, high = limits["vmin"], limits["vmax"]
    return MapPicture(
        data_uri(drawn.getvalue(), "png"),
        shown.shape[1],
        shown.shape[0],
        _bars(present, low, high, table),
        [Mark(100 * (tick - low) / (high - low), f"{tick:g}") for tick in ticks(low, high)],
        unit,
    )


def _bars(present: Map, low: float, high: float, table: NDArray[np.uint8]) -> list[Bar]:
    """The histogram between the ends of the colours; what lies beyond is in the outermost bars."""
    counts, _ = np.histogram(np.clip(present, low, high), BINS, (low, high))
    most = max(int(counts.max()), 1)
    colors = table[(np.arange(BINS) * 255) // (BINS - 1)]
    return [
        Bar(100 * n / BINS, 100 / BINS, 100 * float(count) / most, "#" + bytes(color).hex())
        for n, (count, color) in enumerate(zip(counts, colors, strict=True))
    ]


def _reduced(picture: NDArray[Any]) -> NDArray[np.uint8]:
    """A picture (h, w, 3) that is no larger than a page has room for, its pixels averaged."""
    height, width = picture.shape[:2]
    part = MOST_PIXELS / max(height, width)
    if part >= 1:
        return picture
    size = max(1, round(width * part)), max(1, round(height * part))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX), np.uint8)
