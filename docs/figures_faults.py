"""Draws the figures of depth-is-off.md into docs/images: `python docs/figures_faults.py FIGURINES WHITE BLANK`.

FIGURINES, WHITE and BLANK are folders of `plenodepth simulate` (the commands are on that page).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cv2
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import plenodepth
from plenodepth.io import read_float_map, read_image
from plenodepth.view import write_figure

IMAGES = Path(__file__).resolve().parent / "images"
CAMERA = plenodepth.preset("r12-es")
FULL_SCALE = 4095
BLACK = 0.0625  # of full scale
SHOWN = 10  # per cent
Array = NDArray[Any]


@dataclass(frozen=True)
class Fault:
    """What is done to raw and white image, or told wrongly, and the title of its picture."""

    title: str
    image: Callable[[Array], Array] = lambda pixels: pixels
    white: Callable[[Array], Array] | None = lambda pixels: pixels
    f_number: float | None = 4.0
    settings: plenodepth.DepthSettings = field(default_factory=plenodepth.DepthSettings)
    bayer: str | None = None


def lifted(pixels: Array) -> Array:
    """As of a sensor that counts from its black level on."""
    return np.rint((1 - BLACK) * pixels + BLACK * FULL_SCALE).astype(np.uint16)


def mosaic(pixels: Array) -> Array:
    """One colour per pixel, behind filters GRBG."""
    one = pixels[..., 1].copy()
    one[0::2, 1::2], one[1::2, 0::2] = pixels[0::2, 1::2, 0], pixels[1::2, 0::2, 2]
    return one


def sharpened(pixels: Array) -> Array:
    """As a viewer's program sharpens."""
    light = pixels.astype(np.float32)
    return np.clip(light + 1.5 * (light - cv2.GaussianBlur(light, (0, 0), 1.5)), 0, FULL_SCALE).astype(np.uint16)


def compressed(pixels: Array) -> Array:
    """JPEG of quality 60."""
    eight = np.clip(pixels / FULL_SCALE * 765, 0, 255).astype(np.uint8)
    return np.asarray(cv2.imdecode(cv2.imencode(".jpg", eight, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR))


FAULTS = (
    Fault("nothing wrong"),
    Fault("camera file says f/8, image is f/4", f_number=8.0),
    Fault("camera file has no f-number", f_number=None),
    Fault("black level of 6 % not given", lifted, lifted),
    Fault("mosaic taken for gray", mosaic, mosaic),
    Fault("order of filters wrong", mosaic, mosaic, bayer="RGGB"),
    Fault("sharpened", sharpened),
    Fault("JPEG, no white image", compressed, None),
)


def error_map(fault: Fault, raw: Array, white: Array, truth: Array) -> tuple[Array, int]:
    """Error of depth, per cent, NaN where there is none; and the exit code of the command."""
    camera = replace(CAMERA, main_lens=replace(CAMERA.main_lens, f_number=fault.f_number))
    whites = None if fault.white is None else fault.white(white)
    image = plenodepth.clean_image(fault.image(raw), camera, white=whites, bayer=fault.bayer)
    depth = plenodepth.estimate_depth(image, camera, fault.settings)
    off = 100 * (depth.z / truth - 1)
    found = off[np.isfinite(off)]
    print(
        f"{fault.title:36s} median |error| {np.median(np.abs(found)):5.2f} %, bias {np.median(found):+5.2f} %, "
        f"{100 * np.isfinite(depth.z).mean():3.0f} % with depth; {depth.summary.note}"
    )
    return np.asarray(off), 3 if depth.summary.quality.doubtful else 0


def faults(figurines: Path, white: Path) -> None:
    """Error maps of faults beside each other."""
    raw, even = read_image(figurines / "raw.png"), read_image(white / "raw.png")
    truth = read_float_map(figurines / "lens_depth.tiff")
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    shown = None
    for axes, fault in zip(figure.subplots(2, 4).flat, FAULTS, strict=True):
        off, code = error_map(fault, raw, even, truth)
        shown = axes.imshow(off, cmap="RdBu_r", vmin=-SHOWN, vmax=SHOWN, interpolation="nearest")
        axes.set_facecolor("0.25")
        said = f"median |error| {np.nanmedian(np.abs(off)):.1f} %, exit code {code}"
        axes.set_title(f"{fault.title}\n{said}", fontsize=10)
        axes.set_xticks([])
        axes.set_yticks([])
    assert shown is not None
    figure.colorbar(shown, ax=figure.axes, label="depth found less true depth, %; gray: none", shrink=0.7)
    with TemporaryDirectory() as folder:
        write_figure(figure, Path(folder) / "faults.png", dpi=90)
        drawn = cv2.imread(str(Path(folder) / "faults.png"))
    cv2.imwrite(str(IMAGES / "faults.jpg"), drawn, [cv2.IMWRITE_JPEG_QUALITY, 82])


def blank(folder: Path, white: Path) -> None:
    """A wall without texture: all depths, and those to be confident of."""
    image = plenodepth.load_raw(folder / "raw.png", CAMERA, white=white / "raw.png")
    truth = read_float_map(folder / "lens_depth.tiff")
    wanted = plenodepth.FilterSettings(confidence=True, least_confidence=0.4, consistency=True)
    figure = Figure(figsize=(12, 3.1), layout="constrained")
    row = figure.subplots(1, 4)
    kept = [plenodepth.estimate_depth(image, CAMERA, filters=filters) for filters in (None, wanted)]
    row[0].imshow(np.clip(read_image(folder / "raw.png")[::4, ::4] / FULL_SCALE, 0, 1) ** (1 / 2.2))
    row[0].set_title("raw image", fontsize=10)
    names = ("all depths", "confident and consistent ones")
    for axes, depth, name in zip((row[1], row[3]), kept, names, strict=True):
        off = 100 * np.abs(depth.z / truth - 1)
        bad = 100 * (off[np.isfinite(off)] > 5).mean()
        shown = axes.imshow(depth.z, cmap="viridis_r", vmin=600, vmax=1500, interpolation="nearest")
        axes.set_title(f"{name}\n{bad:.0f} % are off by more than 5 %", fontsize=10)
        figure.colorbar(shown, ax=axes, label="mm")
    shown = row[2].imshow(kept[0].confidence, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    row[2].set_title("confidence", fontsize=10)
    figure.colorbar(shown, ax=row[2])
    for axes in row:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_facecolor("0.25")
    write_figure(figure, IMAGES / "blank-wall.png", dpi=80)


if __name__ == "__main__":
    blank(Path(sys.argv[3]), Path(sys.argv[2]))
    faults(Path(sys.argv[1]), Path(sys.argv[2]))
