"""For nerfstudio (and programs that read its transforms.json): posed pictures, depth, and points to start from.

Metres. A camera looks along its −z, with x right and y up (OpenGL); the world has the axes of the central camera. The
middle of the first pixel is at (½, ½). Depth images hold mm.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.io import json_text, write_image, write_ply
from plenodepth.render.exports.pixels import (
    MetricView,
    colored_points,
    numbers_per_mm,
    sixteen_bits,
    write_picture,
)

WORLD_FROM_CAMERA = np.array([1.0, -1.0, -1.0]) / 1000  # of points in the camera frame, mm: y up, z backwards, metres
MOST_POINTS = 100_000


def write_nerfstudio(views: list[MetricView], folder: Path) -> None:
    """transforms.json, images/, depth/ and sparse_pc.ply, from the view in the middle."""
    per_mm = numbers_per_mm(views, (1.0,))
    for kind in ("images", "depth"):
        (folder / kind).mkdir()
    frames = []
    for view in views:
        color, depth = f"images/{view.name}.png", f"depth/{view.name}.png"
        write_picture(view, folder / color)
        write_image(sixteen_bits(view.depth, per_mm), folder / depth)
        frames.append({"file_path": color, "depth_file_path": depth, **_camera(view), "transform_matrix": _pose(view)})
    middle = views[len(views) // 2]
    step = max(1, int(np.ceil(np.sqrt(middle.depth.size / MOST_POINTS))))
    found = colored_points(middle, step)
    write_ply(found.points * WORLD_FROM_CAMERA, folder / "sparse_pc.ply", colors=found.colors)
    content: dict[str, Any] = {"camera_model": "OPENCV", "ply_file_path": "sparse_pc.ply", "frames": frames}
    (folder / "transforms.json").write_text(json_text(content))


def _camera(view: MetricView) -> dict[str, float]:
    width, height = view.size
    eye = view.pinhole
    return {"w": width, "h": height, "fl_x": eye.fx, "fl_y": eye.fy, "cx": eye.cx + 0.5, "cy": eye.cy + 0.5}


def _pose(view: MetricView) -> list[list[float]]:
    """World from the view's own axes."""
    pose: NDArray[np.float64] = np.eye(4)
    pose[:3, 3] = view.pinhole.center * WORLD_FROM_CAMERA + 0.0  # no −0
    rows: list[list[float]] = pose.tolist()
    return rows
