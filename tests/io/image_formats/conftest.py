"""Files of every format, each written by the library of that format or packed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from image_writers import HEIGHT, WIDTH, Writers, lytro_metadata


@pytest.fixture(scope="session")
def write() -> type[Writers]:
    return Writers


@pytest.fixture(scope="session")
def describe_lytro() -> Callable[..., dict[str, Any]]:
    return lytro_metadata


@pytest.fixture(scope="session")
def one_of_each(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small file of every format, all 48 × 32."""
    folder = tmp_path_factory.mktemp("one-of-each")
    rng = np.random.default_rng(1)
    gray = rng.integers(0, 1024, (HEIGHT, WIDTH)).astype(np.uint16)
    rgb = rng.integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    smooth = cv2.GaussianBlur(rgb, (0, 0), 4)
    half = rng.integers(64, 940, (HEIGHT // 2, WIDTH // 2)).astype(np.uint16)
    for suffix in ("png", "jpg", "bmp", "ppm"):
        assert cv2.imwrite(str(folder / f"image.{suffix}"), rgb)
    cv2.imwrite(str(folder / "image.pgm"), gray)
    tifffile.imwrite(folder / "image.tif", gray, compression="zlib")
    tifffile.imwrite(folder / "pages.tif", np.stack([gray, gray + 1, gray + 2]), photometric="minisblack")
    Writers.exr(folder / "image.exr", Y=gray.astype(np.float32))
    Writers.dng(folder / "image.dng", gray)
    packed = rng.integers(0, 256, HEIGHT * WIDTH * 12 // 8).astype(np.uint8).tobytes()
    Writers.lytro(folder / "image.lfp", packed, lytro_metadata(WIDTH, HEIGHT, illum=False), illum=False)
    Writers.lytro(folder / "image.lfr", packed, lytro_metadata(WIDTH, HEIGHT, illum=True), illum=True)
    Writers.yuv(folder / f"clip_{WIDTH}x{HEIGHT}_10bit_yuv420p.yuv", [(gray, half, half)] * 3)
    Writers.video(folder / "clip.mkv", [gray << 6, gray, gray], "ffv1", "gray16le")
    Writers.video(folder / "clip.mp4", [smooth, smooth[::-1], smooth], "libx264rgb", "rgb24", crf="10")
    return folder
