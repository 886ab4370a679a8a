"""One front door to all formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io import atomic_files
from plenodepth.render.exports.colmap import write_colmap
from plenodepth.render.exports.meshes import write_clouds, write_meshes
from plenodepth.render.exports.nerfstudio import write_nerfstudio
from plenodepth.render.exports.opencv import write_opencv
from plenodepth.render.exports.pixels import MetricView
from plenodepth.render.exports.tum import write_tum
from plenodepth.render.view import RenderedView

Format = Literal["opencv", "tum", "colmap", "nerfstudio", "ply", "glb"]

WRITERS: dict[Format, Callable[[list[MetricView], Path], None]] = {
    "opencv": write_opencv,
    "tum": write_tum,
    "colmap": write_colmap,
    "nerfstudio": write_nerfstudio,
    "ply": write_clouds,
    "glb": write_meshes,
}


def export_views(
    views: Sequence[RenderedView],
    folder: Path | str,
    to: Format,
    *,
    least_confidence: float = 0.0,
    filled: bool = True,
) -> None:
    """Write views into a folder as other software reads them: all files or none.

    Depths of less than `least_confidence` are left out, and, unless `filled`, those that were taken from neighbours.
    Views in virtual depth are refused: every format here needs mm.
    """
    if to not in WRITERS:
        raise InputError(f"is '{to}'", field="format", fix=f"use {', '.join(WRITERS)}")
    if not 0 <= least_confidence <= 1:
        raise InputError(f"is {least_confidence:g}, needs a number from 0 to 1", field="least_confidence")
    if not views:
        raise InputError("are none", field="views")
    chosen = [_metric(view, least_confidence, filled) for view in views]
    with atomic_files(folder) as unfinished:
        WRITERS[to](chosen, unfinished)


def _metric(view: RenderedView, least_confidence: float, filled: bool) -> MetricView:
    if not view.metric or view.pinhole is None:
        message = "has virtual depth: its camera is known by its lens grid only"
        raise InputError(message, field=view.name, fix="calibrate the camera; every export needs mm")
    with np.errstate(invalid="ignore"):
        dropped = ~(view.confidence >= least_confidence) if least_confidence > 0 else np.zeros_like(view.filled)
    if not filled:
        dropped = dropped | view.filled
    depth = np.where(dropped, np.float32(np.nan), view.depth)
    if not np.isfinite(depth).any():
        raise InputError("has no depth", field=view.name, fix="estimate it anew, or keep less confident depths")
    return MetricView(replace(view, depth=depth), view.pinhole)
