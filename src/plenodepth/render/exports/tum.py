"""An RGB-D folder as the TUM benchmark has it, which Open3D, ORB-SLAM and most others read.

rgb/ and depth/ with lists of their files, groundtruth.txt with poses, and camera_intrinsic.json for Open3D. Metres;
depth images hold 5000 numbers to a metre, TUM's factor. The middle of the first pixel is at (0, 0); x points right, y
down, z forwards.
"""

from __future__ import annotations

from pathlib import Path

from plenodepth.io import json_text, write_image
from plenodepth.render.exports.pixels import MetricView, numbers_per_mm, sixteen_bits, write_picture

PER_MM = (5.0,)  # TUM's tools know no other: 0.1 mm of rounding, up to 13 m


def write_tum(views: list[MetricView], folder: Path) -> None:
    """The folder of all views; a view's number stands for its time, in seconds."""
    per_mm = numbers_per_mm(views, PER_MM)
    lines: dict[str, list[str]] = {"rgb": [], "depth": [], "associations": [], "groundtruth": []}
    for kind in ("rgb", "depth"):
        (folder / kind).mkdir()
    for number, view in enumerate(views):
        color, depth = f"rgb/{view.name}.png", f"depth/{view.name}.png"
        write_picture(view, folder / color)
        write_image(sixteen_bits(view.depth, per_mm), folder / depth)
        time = f"{number:.6f}"
        lines["rgb"].append(f"{time} {color}")
        lines["depth"].append(f"{time} {depth}")
        lines["associations"].append(f"{time} {color} {time} {depth}")
        place = " ".join(f"{value / 1000:.9g}" for value in view.pinhole.center)
        lines["groundtruth"].append(f"{time} {place} 0 0 0 1")
    for kind, rows in lines.items():
        (folder / f"{kind}.txt").write_text("\n".join(rows) + "\n")
    first = views[0].pinhole
    width, height = views[0].size
    matrix = [first.fx, 0.0, 0.0, 0.0, first.fy, 0.0, first.cx, first.cy, 1.0]  # column by column, as Open3D has it
    intrinsic = {"width": width, "height": height, "intrinsic_matrix": matrix}
    (folder / "camera_intrinsic.json").write_text(json_text(intrinsic))
    (folder / "depth_scale.txt").write_text(f"{1000 * per_mm:g}\n")
