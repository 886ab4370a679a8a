"""Draws the pictures of calibrate-your-camera.md into docs/images: `python docs/figures_calibrate.py TWIN`.

TWIN is the folder of `plenodepth simulate dataset r12-a --out TWIN`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.io import read_image

IMAGES = Path(__file__).resolve().parent / "images"
WHITES, BOARDS = ("f04.00", "f05.66", "f08.00"), ("00", "05", "10", "15")
PART, ENLARGED = slice(1500, 1600), 3  # px of the middle; times
REDUCED = 12
GAP = 8  # px


def shown(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Linear light as a screen shows it."""
    light = np.clip(pixels / np.percentile(pixels, 99.5), 0, 1) ** (1 / 2.2)
    return np.asarray(np.rint(255 * light), np.uint8)


def beside(pictures: list[NDArray[np.uint8]], name: str) -> None:
    """Write pictures of one height beside each other."""
    gap = np.full((len(pictures[0]), GAP, 3), 255, np.uint8)
    row = np.hstack([part for picture in pictures for part in (picture, gap)][:-1])
    cv2.imwrite(str(IMAGES / name), row[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])


def main(twin: Path) -> None:
    whites = [read_image(twin / "white" / name / "raw.png")[PART, PART] for name in WHITES]
    beside([cv2.resize(shown(white), None, fx=ENLARGED, fy=ENLARGED) for white in whites], "calibrate-whites.jpg")
    boards = [read_image(twin / "boards" / name / "raw.png") for name in BOARDS]
    size = (boards[0].shape[1] // REDUCED, boards[0].shape[0] // REDUCED)
    small = [cv2.resize(shown(board), size, interpolation=cv2.INTER_AREA) for board in boards]
    beside(small, "calibrate-boards.jpg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
