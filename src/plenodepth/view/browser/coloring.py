"""Points in colours: of the picture, or of a quantity, with the bar that explains them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.view.browser.clouds import ShownCloud

UInt8 = NDArray[np.uint8]

LABELS = {
    "picture": "picture",
    "depth": "depth",
    "confidence": "confidence",
    "sigma": "σ",
    "error": "error against the truth",
}
PLAIN = (150, 170, 190)  # a cloud without colours
UNKNOWN = (90, 90, 90)  # no value
TOO_NEAR, NO_ERROR, TOO_FAR = (33, 102, 172), (247, 247, 247), (178, 24, 43)


def color_kinds(cloud: ShownCloud) -> list[str]:
    """By what this cloud can be coloured."""
    known = list(cloud.ends)
    return known if known and cloud.colors is None else ["picture", *known]


def colors_of(part: ShownCloud, kind: str, ends: tuple[float, float]) -> UInt8:
    """Colours (n, 3) of the points by a kind; `ends` are the values at the ends of the bar."""
    if kind == "picture":
        return np.full((len(part), 3), PLAIN, np.uint8) if part.colors is None else part.colors
    values = part.column(kind)
    if values is None:
        return np.full((len(part), 3), UNKNOWN, np.uint8)
    low, high = ends
    index = 255 * np.clip((values - np.float32(low)) / np.float32(max(high - low, 1e-9)), 0, 1)
    known = np.isfinite(index)
    colors = color_table(kind, part.metric)[np.where(known, index, 0).astype(np.uint8)]
    colors[~known] = UNKNOWN
    return colors


def color_ends(cloud: ShownCloud, kind: str) -> tuple[float, float]:
    """The values at the ends of the colours: all of confidence, symmetric of errors, of the rest all but outliers."""
    if kind == "confidence":
        return 0.0, 1.0
    low, high = cloud.ends.get(kind, (0.0, 1.0))
    if kind == "error":
        largest = max(abs(low), abs(high))
        return -largest, largest
    return low, high


@lru_cache
def color_table(kind: str, metric: bool) -> UInt8:
    """256 colours (256, 3). Depth: near is bright. σ: certain is bright. Error: blue is too near."""
    if kind == "error":
        thirds = np.array([TOO_NEAR, NO_ERROR, TOO_FAR], np.float64)
        return np.stack([np.interp(np.linspace(0, 2, 256), [0, 1, 2], channel) for channel in thirds.T], 1).astype(
            np.uint8
        )
    import cv2

    ramp = np.arange(256, dtype=np.uint8)[:, None]
    near_is_low = kind == "sigma" or (kind == "depth" and metric)
    colored: Any = cv2.applyColorMap(255 - ramp if near_is_low else ramp, cv2.COLORMAP_VIRIDIS)
    return np.ascontiguousarray(colored[:, 0, ::-1])


def color_bar(kind: str, metric: bool, ends: tuple[float, float]) -> str:
    """The bar below the choice of colours, as HTML; nothing for a picture."""
    if kind == "picture":
        return ""
    stops = ", ".join(f"rgb({r},{g},{b})" for r, g, b in color_table(kind, metric)[::15].tolist())
    unit = "" if kind == "confidence" else "mm" if metric else "virtual depth" if kind == "depth" else ""
    low, high = (f"{value:.4g}" for value in ends)
    return (
        '<div style="margin:0 1em;font-size:0.8em">'
        f'<div style="height:0.8em;border-radius:3px;background:linear-gradient(to right, {stops})"></div>'
        f'<div style="display:flex;justify-content:space-between"><span>{low}</span>'
        f"<span>{LABELS[kind]} {unit}</span><span>{high}</span></div></div>"
    )
