"""For OpenCV: pictures, depth as 16-bit PNG and as floats, σ, and the pinhole in a YAML that FileStorage reads.

Pixel centres are at whole numbers, x points right and y down, in mm: OpenCV's convention is ours.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.io import write_float_map, write_image, write_light
from plenodepth.render.exports.pixels import MetricView, numbers_per_mm, sixteen_bits, write_picture

PER_MM = (10.0, 5.0, 1.0)  # numbers to a mm in the PNG: 0.05 mm of rounding up to 6.5 m, 0.5 mm up to 65 m


def write_opencv(views: list[MetricView], folder: Path) -> None:
    """Of each view NAME.png, .tiff (linear), .depth.png, .depth.tiff, .depth.exr, .sigma.tiff and .yaml."""
    per_mm = numbers_per_mm(views, PER_MM)
    for view in views:
        write_picture(view, folder / f"{view.name}.png")
        write_light(view.view.light, folder / f"{view.name}.tiff")
        write_image(sixteen_bits(view.depth, per_mm), folder / f"{view.name}.depth.png")
        write_float_map(view.depth, folder / f"{view.name}.depth.tiff", compressed=False)
        _write_exr(view.depth, folder / f"{view.name}.depth.exr")
        write_float_map(view.view.sigma, folder / f"{view.name}.sigma.tiff", compressed=False)
        _write_intrinsics(view, per_mm, folder / f"{view.name}.yaml")


def _write_intrinsics(view: MetricView, per_mm: float, path: Path) -> None:
    """K, no distortion, where the pinhole stands in the camera frame, and what the depth PNG counts in."""
    file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    width, height = view.size
    file.write("image_width", width)
    file.write("image_height", height)
    file.write("camera_matrix", view.pinhole.matrix)
    file.write("distortion_coefficients", np.zeros((1, 5)))
    file.write("camera_center_mm", view.pinhole.center.reshape(3, 1))
    file.write("depth_png_units_per_mm", per_mm)
    file.release()


def _write_exr(depth: NDArray[np.float32], path: Path) -> None:
    """One channel Z, mm, NaN for none."""
    import OpenEXR

    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"Z": np.ascontiguousarray(depth)}).write(str(path))
