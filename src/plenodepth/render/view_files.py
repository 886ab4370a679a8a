"""Rendered views in files: a folder with a views.json and, for each view, its picture, light and maps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, ViewGeometry, central_pinhole, load_views, save_views
from plenodepth.errors import InputError
from plenodepth.io import (
    atomic_files,
    parse_by_suffix,
    read_float_map,
    read_image,
    read_text,
    write_float_map,
    write_image,
    write_light,
)
from plenodepth.io.srgb import srgb_decoded
from plenodepth.metric.dense.central_view import CentralView
from plenodepth.render.view import RenderedView

DENSE_SUFFIX = ".dense.tiff"


def save_rendered(views: Iterable[RenderedView], folder: Path | str) -> None:
    """Write views into a folder: views.json, and of each NAME.png (sRGB) and NAME.light.tiff (linear light, float32).

    Also NAME.depth.tiff, .sigma.tiff and .confidence.tiff (NaN: none), and NAME.filled.png. Views are written as they
    come, so that not all of them need be in memory.
    """
    geometries = list[ViewGeometry]()
    with atomic_files(folder) as unfinished:
        for view in views:
            if view.name in {geometry.name for geometry in geometries}:
                raise InputError("are not all different", field="names of views")
            geometries.append(geometry_of(view))
            write_image(np.ascontiguousarray(view.picture), unfinished / f"{view.name}.png")
            write_light(view.light, unfinished / f"{view.name}.light.tiff")
            for kind in ("depth", "sigma", "confidence"):
                write_float_map(getattr(view, kind), unfinished / f"{view.name}.{kind}.tiff", compressed=False)
            write_image(255 * view.filled.astype(np.uint8), unfinished / f"{view.name}.filled.png")
        save_views(geometries, unfinished)


def geometry_of(view: RenderedView) -> ViewGeometry:
    """What views.json says of a view."""
    height, width = view.depth.shape
    more = {"scale": view.scale, "metric": view.metric, "viewpoint": list(view.viewpoint)}
    return ViewGeometry(view.name, width, height, view.pinhole, more)


def load_rendered(folder: Path | str) -> list[RenderedView]:
    """The views of a folder that `save_rendered` wrote."""
    place = Path(folder)
    return [_load(place, geometry) for geometry in load_views(place)]


def _load(folder: Path, geometry: ViewGeometry) -> RenderedView:
    name, more = geometry.name, geometry.more
    pixels = read_image(folder / f"{name}.light.tiff")
    light = np.asarray(pixels if pixels.ndim == 3 else pixels[..., None], np.float32)
    depth, sigma, confidence = (
        read_float_map(folder / f"{name}.{kind}.tiff") for kind in ("depth", "sigma", "confidence")
    )
    filled = _eight_bits(folder / f"{name}.filled.png") > 0
    for values, kind in [
        (light, "light"),
        (depth, "depth"),
        (sigma, "sigma"),
        (confidence, "confidence"),
        (filled, "filled"),
    ]:
        if values.shape[:2] != geometry.shape:
            size = f"{values.shape[1]} × {values.shape[0]} px, views.json says {geometry.width} × {geometry.height}"
            raise InputError(f"is {size}", file=folder / f"{name}.{kind}", fix="write the views anew")
    viewpoint = more.get("viewpoint", (0.0, 0.0))
    return RenderedView(
        light,
        depth,
        sigma,
        confidence,
        filled,
        geometry.pinhole,
        float(more.get("scale", 1.0)),
        bool(more.get("metric", geometry.pinhole is not None)),
        (float(viewpoint[0]), float(viewpoint[1])),
        name,
    )


def view_of_dense(dense: CentralView, camera: PlenopticCamera, name: str = "view") -> RenderedView:
    """The dense central view of a camera as a rendered view."""
    pinhole = central_pinhole(camera, dense.scale)
    maps = dense.depth, dense.sigma, dense.confidence, dense.filled
    return RenderedView(dense.light, *maps, pinhole, float(dense.scale), dense.metric, name=name)


def load_dense(path: Path | str, camera: PlenopticCamera) -> RenderedView:
    """The dense central view that `plenodepth depth --dense` wrote as NAME.dense.tiff and other files beside it."""
    file = Path(path)
    name = file.name.removesuffix(DENSE_SUFFIX)
    if not file.name.endswith(DENSE_SUFFIX):
        raise InputError("is no dense view", file=file, fix=f"give NAME{DENSE_SUFFIX} or a folder of views")
    depth = read_float_map(file)
    sigma, confidence = (
        read_float_map(file.with_name(f"{name}.dense.{kind}.tiff")) for kind in ("sigma", "confidence")
    )
    filled = _eight_bits(file.with_name(f"{name}.dense.filled.png")) > 0
    light = srgb_decoded(_eight_bits(file.with_name(f"{name}.view.png")))
    scale = _scale(file.with_name(f"{name}.json"))
    shape = camera.sensor.height // scale, camera.sensor.width // scale
    if depth.shape != shape:
        message = f"is {depth.shape[1]} × {depth.shape[0]} px, a view of '{camera.name}' {shape[1]} × {shape[0]}"
        raise InputError(message, file=file, fix="give the camera that it was made with")
    if light.shape[:2] != shape or not sigma.shape == confidence.shape == filled.shape == shape:
        raise InputError("does not fit the files beside it", file=file, fix="estimate the depth again")
    pinhole = central_pinhole(camera, scale)
    return RenderedView(light, depth, sigma, confidence, filled, pinhole, float(scale), metric=True, name=name)


def _scale(summary: Path) -> int:
    """The side of the dense view's pixels, from the summary of its frame."""
    content = parse_by_suffix(read_text(summary), summary)
    if isinstance(content, dict) and "median_z_mm" not in content:
        raise InputError("is of a camera known by its lens grid only", file=summary, fix="calibrate it: mm are needed")
    try:
        scale = content["settings"]["dense"]["scale"]
    except (KeyError, TypeError):
        scale = None
    if not isinstance(scale, int) or scale < 1:
        raise InputError(
            "is missing", file=summary, field="settings.dense.scale", fix="give the summary of a dense view"
        )
    return scale


def _eight_bits(path: Path) -> NDArray[np.uint8]:
    pixels: Any = read_image(path)
    if pixels.dtype != np.uint8:
        raise InputError(f"holds {pixels.dtype}", file=path, fix="give 8 bits")
    return np.asarray(pixels, np.uint8)
