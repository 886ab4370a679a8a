"""Colours along rays that no camera made, such as a scanner's."""

from __future__ import annotations

from typing import Any

from plenodepth.compiling import compiled
from plenodepth.sim.kernels.colors import mesh_color, surface_color
from plenodepth.sim.kernels.layout import f4
from plenodepth.sim.kernels.shapes import nearest_object


@compiled
def shade_rays(
    origins: Any, directions: Any, mesh_depth: Any, mesh_triangle: Any, mesh_b1: Any, mesh_b2: Any,
    objects: Any, kinds: Any, mesh_object: Any, normals: Any, corner_colors: Any, corner_uv: Any,
    texels: Any, volumes: Any, lamps: Any, ambient: Any, depths: Any, indices: Any, colors: Any,
) -> None:  # fmt: skip
    """Depth (n,), object (n,) and colour (n, 3) of the first hit of rays from z = 0, given those on triangles.

    Directions (n, 3) have z = 1. Where a ray meets nothing, depth is infinite, the object −1 and the colour black.
    """
    for n in range(origins.shape[0]):
        ox, oy, sx, sy = origins[n, 0], origins[n, 1], directions[n, 0], directions[n, 1]
        depth, index = nearest_object(objects, kinds, ox, oy, sx, sy)
        triangle = mesh_triangle[n]
        if triangle >= 0 and mesh_depth[n] < depth:
            depth, index = mesh_depth[n], mesh_object[triangle]
            red, green, blue = mesh_color(
                objects, index, kinds, triangle, mesh_b1[n], mesh_b2[n], normals, corner_colors, corner_uv,
                texels, volumes, lamps, ambient, ox, oy, sx, sy, depth,
            )  # fmt: skip
        elif index >= 0:
            red, green, blue = surface_color(
                objects, index, kinds, texels, volumes, lamps, ambient, ox, oy, sx, sy, depth
            )
        else:
            red = green = blue = f4(0)
        depths[n], indices[n] = depth, index
        colors[n, 0], colors[n, 1], colors[n, 2] = red, green, blue
