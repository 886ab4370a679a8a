"""Light as a picture in sRGB, and a depth map as one with a colour bar.

Drawn by OpenCV and Pillow: to import matplotlib and to let it draw takes half a second, a tenth of a whole frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.io.srgb import srgb_encoded

MOST_PIXELS = 1200  # of a picture's longer side
FEWEST_PIXELS = 800  # a smaller map is enlarged
MISSING = "#222222"  # colour of pixels without a depth
SHOWN_QUANTILES = (0.01, 0.99)  # of a map's depths lie within its colours; outliers would take them all

MARGIN, TITLE, BAR, SCALE = 14, 40, 24, 110  # px: around all, height of the title, width of the bar, and of its numbers
BAR_HEIGHT = 0.8  # of the map's
TEXT, INK, PAPER = 17, "#111111", "#ffffff"
WARNING = "#b00020"
MOST_TICKS = 8


def srgb_picture(light: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Linear light (h, w, 1 or 3), 1 for white, as sRGB (h, w, 3); black where there is none."""
    levels = (255 * srgb_encoded(np.nan_to_num(light))).round().astype(np.uint8)
    return np.broadcast_to(levels, (*light.shape[:2], 3))


def depth_picture(values: NDArray[np.float32], title: str, unit: str, *, warning: str = "") -> NDArray[np.uint8]:
    """A map of depth (h, w) in mm or of virtual depth, as RGB (rows, columns, 3). Near is bright, no depth is dark.

    A warning stands in a red bar above the map.
    """
    from PIL import Image, ImageDraw, ImageFont

    # A file's name that Python could not decode, as of any beyond ASCII with LC_ALL=C, is read as UTF-8.
    title = title.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    shown = _resized(values)
    present = shown[np.isfinite(shown)]
    ends = depth_colors(present) if present.size else {"vmin": 0.0, "vmax": 1.0}
    near_is_low = unit == "mm"
    height, width = shown.shape
    top = MARGIN + TITLE + (TITLE if warning else 0)
    sheet = Image.new("RGB", (width + 3 * MARGIN + BAR + SCALE, top + height + MARGIN), PAPER)
    sheet.paste(Image.fromarray(_colored(shown, ends, near_is_low)), (MARGIN, top))
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(TEXT)
    draw.text((MARGIN + width / 2, MARGIN + TITLE / 2), title, INK, font, anchor="mm")
    if warning:
        draw.rectangle((MARGIN, MARGIN + TITLE, MARGIN + width - 1, top - 4), WARNING)
        draw.text((MARGIN + width / 2, top - TITLE / 2 - 2), warning, PAPER, font, anchor="mm")
    if not present.size:
        draw.text((MARGIN + width / 2, top + height / 2), "no depth", PAPER, font, anchor="mm")
        return np.asarray(sheet, np.uint8)
    long = round(BAR_HEIGHT * height)
    left, high = 2 * MARGIN + width, top + (height - long) // 2
    ramp = np.linspace(ends["vmax"], ends["vmin"], long, dtype=np.float32)[:, None].repeat(BAR, axis=1)
    sheet.paste(Image.fromarray(_colored(ramp, ends, near_is_low)), (left, high))
    draw.text((left, high - TEXT), f"z [{unit}]" if near_is_low else unit, INK, font, anchor="ls")
    for tick in ticks(ends["vmin"], ends["vmax"]):
        y = high + (long - 1) * (ends["vmax"] - tick) / (ends["vmax"] - ends["vmin"])
        draw.line((left + BAR, y, left + BAR + 5, y), INK)
        draw.text((left + BAR + 9, y), f"{tick:g}", INK, font, anchor="lm")
    return np.asarray(sheet, np.uint8)


def _resized(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """A map (h, w) with pixels left out, or repeated, so that its longer side suits a picture."""
    shown = reduced(values, MOST_PIXELS)
    times = max(1, -(-FEWEST_PIXELS // max(shown.shape)))
    return shown.repeat(times, axis=0).repeat(times, axis=1)


def _colored(values: NDArray[np.float32], ends: dict[str, float], near_is_low: bool) -> NDArray[np.uint8]:
    """Colours (h, w, 3) of values; `MISSING` where there is none."""
    colors = color_table(near_is_low=near_is_low)[color_index(values, ends)]
    colors[~np.isfinite(values)] = tuple(bytes.fromhex(MISSING[1:]))
    return np.asarray(colors, np.uint8)


def color_index(values: NDArray[np.float32], ends: dict[str, float]) -> NDArray[np.uint8]:
    """Where values lie between the ends of the colours, 0 … 255; what lies beyond has the end's; NaN is 0."""
    part = (values - np.float32(ends["vmin"])) / np.float32(ends["vmax"] - ends["vmin"])
    return np.asarray(255 * np.clip(np.nan_to_num(part), 0, 1), np.uint8)


def color_table(*, near_is_low: bool = False) -> NDArray[np.uint8]:
    """The 256 colours (256, 3) of pictures of maps, RGB, from the lowest value to the highest: `viridis`.

    Near is bright: `near_is_low` turns them round for mm.
    """
    import cv2

    table = cv2.applyColorMap(np.arange(256, dtype=np.uint8)[:, None], cv2.COLORMAP_VIRIDIS)[:, 0, ::-1]
    return np.ascontiguousarray(table[::-1] if near_is_low else table, np.uint8)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two numbers, low < high: multiples of 1, 2 or 5 times a power of ten, a few of them."""
    least = (high - low) / MOST_TICKS
    power = 10.0 ** np.floor(np.log10(least))
    step = float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{n * step:.12g}") for n in range(first, last + 1)]


def reduced(image: NDArray[Any], most_pixels: int) -> NDArray[Any]:
    """Every n-th pixel of an image (h, w), so that its longer side has at most `most_pixels`."""
    step = max(1, int(np.ceil(max(image.shape) / most_pixels)))
    return image[::step, ::step]


def depth_colors(depth: NDArray[Any]) -> dict[str, float]:
    """The depths at the ends of the colours: `vmin` and `vmax` for finite depths (n,), at least one."""
    low, high = np.quantile(depth, SHOWN_QUANTILES)
    return {"vmin": float(low), "vmax": float(max(high, low + 1e-6))}
