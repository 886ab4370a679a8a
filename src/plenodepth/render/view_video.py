"""Views of the frames of a video: one file of planar YUV 4:2:0 for each view, as coders of lenslet video take them.

Named as the reference converters' files, v000-2040x1534.yuv: number of the view, row by row, and size.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.io import atomic_files, json_text
from plenodepth.io.image_formats.yuv_writing import YuvWriter, even_size
from plenodepth.metric.dense.places import view_shape
from plenodepth.metric.result import DepthResult
from plenodepth.render.pupil_views import views_from
from plenodepth.render.steady import steady_surfaces
from plenodepth.render.surface import ViewSurface, converging_depth

LIST = "video.json"


@dataclass(frozen=True)
class ViewVideo:
    """What was written: the files of the views, and of their depths where these were asked for."""

    frames: int
    files: list[str]
    depth_files: list[str]


def write_view_video(
    depths: Iterable[DepthResult],
    folder: Path | str,
    places: dict[str, tuple[float, float]],
    *,
    scale: float,
    converge: float | None = None,
    with_depth: bool = False,
    sharpen: bool = True,
) -> ViewVideo:
    """Render the views of each frame and write them into one file per view; depth is steady where the scene is.

    With depth also v000-depth-WxH-16bit.yuv: 16 bits linear in 1/depth, 0 the farthest and 65535 the nearest of the
    range that video.json tells.
    """
    count, span = 0, (0.0, 0.0)
    files, depth_files = list[str](), list[str]()
    with atomic_files(folder) as unfinished, ExitStack() as open_files:
        writers, depth_writers = list[YuvWriter](), list[YuvWriter]()
        for surface in steady_surfaces(depths):
            if not writers:
                width, height = even_size(view_shape(surface.camera, scale))
                meeting, span = converging_depth(surface, converge), depth_span(surface)
                files = [f"v{number:03d}-{width}x{height}.yuv" for number in range(len(places))]
                writers = [open_files.enter_context(YuvWriter(unfinished / name)) for name in files]
                if with_depth:
                    depth_files = [f"v{number:03d}-depth-{width}x{height}-16bit.yuv" for number in range(len(places))]
                    depth_writers = [open_files.enter_context(YuvWriter(unfinished / name)) for name in depth_files]
            for number, view in enumerate(views_from(surface, places, meeting, scale, sharpen=sharpen)):
                writers[number].add(view.picture)
                if with_depth:
                    depth_writers[number].add_gray(depth_numbers(view.depth, span))
            count += 1
        if not count:
            raise InputError("holds no frame", field="depths")
        content = {
            "frames": count,
            "views": [
                {"file": file, "name": name, "viewpoint": list(place)}
                for file, (name, place) in zip(files, places.items(), strict=True)
            ],
        }
        if with_depth:
            content |= {"depth_files": depth_files, "nearest_depth": span[0], "farthest_depth": span[1]}
        (unfinished / LIST).write_text(json_text(content), encoding="utf-8")
    return ViewVideo(count, files, depth_files)


def depth_span(surface: ViewSurface) -> tuple[float, float]:
    """The nearest and the farthest depth, mm or virtual, of the values of 1/v for which places are known."""
    depths = surface.places.depths[np.isfinite(surface.places.depths)]
    near, far = sorted((float(depths.min()), float(depths.max())))
    return near, far


def depth_numbers(depth: NDArray[np.float32], span: tuple[float, float]) -> NDArray[np.uint16]:
    """Depths (h, w) as 16 bits, linear in their inverse."""
    near, far = span
    share = (1 / depth.astype(np.float64) - 1 / far) / (1 / near - 1 / far)
    return np.rint(65535 * np.clip(np.nan_to_num(share), 0, 1)).astype(np.uint16)
