"""Small folders of results, as `plenodepth depth` writes them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from plenodepth.io import write_float_map, write_image, write_ply
from plenodepth.version import __version__

COUNT = 4000


def write_result(folder: Path, name: str = "raw", *, version: str = __version__, seed: int = 0) -> Path:
    """A cloud of two walls, 600 and 900 mm away, with every confidence from 0 to 1; and its record."""
    random = np.random.default_rng(seed)
    z = np.where(np.arange(COUNT) % 2, 600.0, 900.0)
    points = np.column_stack([random.uniform(-0.25, 0.25, (COUNT, 2)) * z[:, None], z])
    colors = random.integers(60, 255, (COUNT, 3), dtype=np.uint8)
    confidence, sigma = np.linspace(0, 1, COUNT), 0.01 * z
    folder.mkdir(parents=True, exist_ok=True)
    write_ply(points, folder / f"{name}.ply", colors=colors, confidence=confidence, sigma=sigma)
    write_record(folder / f"{name}.json", version=version)
    return folder


def write_relief(folder: Path, name: str = "raw") -> Path:
    """The dense view of a camera known by its grid: 30 × 40 virtual depths from 2 to 6, and a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    depth = np.linspace(2, 6, 1200, dtype=np.float32).reshape(30, 40)
    depth[0, :5] = np.nan
    write_float_map(depth, folder / f"{name}.dense.tiff")
    write_float_map(np.full_like(depth, 0.9), folder / f"{name}.dense.confidence.tiff")
    write_float_map(np.full_like(depth, 0.05), folder / f"{name}.dense.sigma.tiff")
    write_image(np.full((30, 40, 3), 128, np.uint8), folder / f"{name}.view.png")
    write_record(folder / f"{name}.json")
    return folder


def write_record(path: Path, *, version: str = __version__) -> None:
    """The part of NAME.json that the viewer reads."""
    path.write_text(json.dumps({"plenodepth": version, "image": path.stem, "camera": "r12-mini", "doubtful": False}))
