"""Clouds as PLY (mm, camera frame) and surfaces as GLB (metres, y up, as glTF has them), one for each view."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io import write_ply
from plenodepth.io.glb import write_glb
from plenodepth.render.exports.pixels import MetricView, colored_points
from plenodepth.render.exports.surface import step_for, surface_of

GLTF_FROM_CAMERA = np.array([1.0, -1.0, -1.0], np.float32) / np.float32(1000)  # of points in mm: y up, z backwards


def write_clouds(views: list[MetricView], folder: Path) -> None:
    """NAME.ply: points in mm with sRGB colours, sigma and confidence."""
    for view in views:
        found = colored_points(view)
        path = folder / f"{view.name}.ply"
        write_ply(found.points, path, colors=found.colors, sigma=found.sigma, confidence=found.confidence)


def write_meshes(views: list[MetricView], folder: Path) -> None:
    """NAME.glb: the surface that the view sees, cut at depth edges, coloured."""
    for view in views:
        surface = surface_of(view, step=step_for(view))
        if not len(surface.faces):
            raise InputError("has no surface", field=view.name, fix="its pixels have no depth, or no two alike")
        write_glb(surface.vertices * GLTF_FROM_CAMERA, surface.faces, surface.light, folder / f"{view.name}.glb")
