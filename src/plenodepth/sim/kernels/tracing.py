"""Rays against the whole scene: light on rows of the image, and what given rays meet first."""

from __future__ import annotations

from plenodepth.compiling import compiled
from plenodepth.sim.kernels.camera_rays import OFFSET_X, OFFSET_Y, f4, pixel_hash, scene_ray, u4
from plenodepth.sim.kernels.colors import mesh_color, surface_color
from plenodepth.sim.kernels.shapes import nearest_object


@compiled
def trace_rows(
    first, last, owner, neighbours, lens, chord, pixel_size, near, far, aperture, samples, seed,
    objects, kinds, texels, volumes, lamps, ambient, background, keep_vignetting, out,
):  # fmt: skip
    """Light on the pixels of rows first … last − 1 of a scene of simple shapes, into out (height, width, 3)."""
    height, width = owner.shape
    tables, count = samples.shape[0], samples.shape[1]
    limit = aperture * aperture
    for v in range(first, last):
        for u in range(width):
            home = owner[v, u]
            if home < 0:
                continue
            t = pixel_hash(u, v, seed) % u4(tables)
            red, green, blue, passed = f4(0), f4(0), f4(0), 0
            for m in range(neighbours.shape[1]):
                j = neighbours[home, m]
                if j < 0:
                    continue
                x = f4(width - 1 - u) * pixel_size + lens[j, OFFSET_X]
                y = f4(height - 1 - v) * pixel_size + lens[j, OFFSET_Y]
                for i in range(count):
                    qx, qy, ox, oy, sx, sy = scene_ray(
                        lens,
                        chord,
                        j,
                        x + samples[t, i, 0],
                        y + samples[t, i, 1],
                        samples[t, i, 2],
                        samples[t, i, 3],
                        near,
                        far,
                    )
                    if qx * qx + qy * qy > limit:
                        continue
                    passed += 1
                    depth, index = nearest_object(objects, kinds, ox, oy, sx, sy)
                    if index < 0:
                        red, green, blue = red + background[0], green + background[1], blue + background[2]
                    else:
                        a, b, c = surface_color(
                            objects, index, kinds, texels, volumes, lamps, ambient, ox, oy, sx, sy, depth
                        )
                        red, green, blue = red + a, green + b, blue + c
            share = f4(1) / f4(count if keep_vignetting else max(passed, 1))
            out[v, u, 0], out[v, u, 1], out[v, u, 2] = red * share, green * share, blue * share


@compiled
def emit_rows(
    first, last, owner, neighbours, lens, chord, pixel_size, near, far, aperture, samples, seed,
    origins, directions, counts,
):  # fmt: skip
    """The rays of rows first … last − 1 that pass the main lens, for a tracer of triangles; returns their number.

    origins and directions (n, 3) are filled pixel by pixel; counts (rows, width) says how many each pixel has.
    """
    height, width = owner.shape
    tables, count = samples.shape[0], samples.shape[1]
    limit = aperture * aperture
    n = 0
    for v in range(first, last):
        for u in range(width):
            before = n
            home = owner[v, u]
            if home >= 0:
                t = pixel_hash(u, v, seed) % u4(tables)
                for m in range(neighbours.shape[1]):
                    j = neighbours[home, m]
                    if j < 0:
                        continue
                    x = f4(width - 1 - u) * pixel_size + lens[j, OFFSET_X]
                    y = f4(height - 1 - v) * pixel_size + lens[j, OFFSET_Y]
                    for i in range(count):
                        qx, qy, ox, oy, sx, sy = scene_ray(
                            lens,
                            chord,
                            j,
                            x + samples[t, i, 0],
                            y + samples[t, i, 1],
                            samples[t, i, 2],
                            samples[t, i, 3],
                            near,
                            far,
                        )
                        if qx * qx + qy * qy > limit:
                            continue
                        origins[n, 0], origins[n, 1], origins[n, 2] = ox, oy, f4(0)
                        directions[n, 0], directions[n, 1], directions[n, 2] = sx, sy, f4(1)
                        n += 1
            counts[v - first, u] = n - before
    return n


@compiled
def shade_rows(
    first, rays, origins, directions, counts, mesh_depth, mesh_triangle, mesh_b1, mesh_b2,
    objects, kinds, mesh_object, normals, corner_colors, corner_uv,
    texels, volumes, lamps, ambient, background, keep_vignetting, out,
):  # fmt: skip
    """Light on the pixels whose rays `emit_rows` made, given where each ray meets the triangles (infinite: nowhere)."""
    n = 0
    for row in range(counts.shape[0]):
        for u in range(counts.shape[1]):
            passed = counts[row, u]
            red, green, blue = f4(0), f4(0), f4(0)
            for _ in range(passed):
                ox, oy, sx, sy = origins[n, 0], origins[n, 1], directions[n, 0], directions[n, 1]
                depth, index = nearest_object(objects, kinds, ox, oy, sx, sy)
                triangle = mesh_triangle[n]
                if triangle >= 0 and mesh_depth[n] < depth:
                    i = mesh_object[triangle]
                    a, b, c = mesh_color(
                        objects, i, kinds, triangle, mesh_b1[n], mesh_b2[n], normals, corner_colors, corner_uv,
                        texels, volumes, lamps, ambient, ox, oy, sx, sy, mesh_depth[n],
                    )  # fmt: skip
                elif index >= 0:
                    a, b, c = surface_color(
                        objects, index, kinds, texels, volumes, lamps, ambient, ox, oy, sx, sy, depth
                    )
                else:
                    a, b, c = background[0], background[1], background[2]
                red, green, blue = red + a, green + b, blue + c
                n += 1
            share = f4(1) / f4(rays if keep_vignetting else max(passed, 1))
            v = first + row
            out[v, u, 0], out[v, u, 1], out[v, u, 2] = red * share, green * share, blue * share


@compiled
def first_hits(origins, directions, mesh_depth, mesh_triangle, mesh_object, objects, kinds, depths, indices):
    """Depth and object index of the first hit of each ray; infinite and −1 where there is none."""
    for n in range(origins.shape[0]):
        depth, index = nearest_object(objects, kinds, origins[n, 0], origins[n, 1], directions[n, 0], directions[n, 1])
        triangle = mesh_triangle[n]
        if triangle >= 0 and mesh_depth[n] < depth:
            depth, index = mesh_depth[n], mesh_object[triangle]
        depths[n], indices[n] = depth, index


@compiled
def shade_rays(
    origins, directions, mesh_depth, mesh_triangle, mesh_b1, mesh_b2,
    objects, kinds, mesh_object, normals, corner_colors, corner_uv,
    texels, volumes, lamps, ambient, depths, indices, colors,
):  # fmt: skip
    """Depth (n,), object (n,) and colour (n, 3) of what rays from z = 0 meet first, given their hits on triangles.

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
