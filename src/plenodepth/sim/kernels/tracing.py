"""Rays against the whole scene: light on rows of the image, and what given rays meet first."""

from __future__ import annotations

from plenodepth.compiling import compiled
from plenodepth.sim.kernels.camera_rays import OFFSET_X, OFFSET_Y, f4, pixel_hash, scene_ray, u4
from plenodepth.sim.kernels.colors import mesh_color, surface_color
from plenodepth.sim.kernels.real_rays import WAVELENGTH, diffraction_axes, real_scene_ray, real_slope
from plenodepth.sim.kernels.shapes import nearest_object


@compiled
def trace_rows(
    first, last, owner, neighbours, lens, chord, pixel_size, near, far, aperture, real, samples, seed,
    objects, kinds, texels, volumes, lamps, ambient, background, keep_vignetting, out,
):  # fmt: skip
    """Light on the pixels of rows first … last − 1 of a scene of simple shapes, into out (height, width, 3).

    `real`: constants of real lenses; None: thin lenses, for which nothing of the others is compiled.
    """
    height, width = owner.shape
    tables, count = samples.shape[0], samples.shape[1]
    limit = aperture * aperture
    for v in range(first, last):
        for u in range(width):
            home = owner[v, u]
            if home < 0:
                continue
            t = pixel_hash(u, v, seed) % u4(tables)
            red, green, blue, passed = f4(0), f4(0), f4(0), f4(0)
            for m in range(neighbours.shape[1]):
                j = neighbours[home, m]
                if j < 0:
                    continue
                x = f4(width - 1 - u) * pixel_size + lens[j, OFFSET_X]
                y = f4(height - 1 - v) * pixel_size + lens[j, OFFSET_Y]
                if real is not None:
                    diffracts = real[WAVELENGTH] > 0
                    ux, uy, along, across = diffraction_axes(lens, j, x, y, aperture, real)
                for i in range(count):
                    px, py = x + samples[t, i, 0], y + samples[t, i, 1]
                    if real is None:
                        qx, qy, ox, oy, sx, sy = scene_ray(
                            lens, chord, j, px, py, samples[t, i, 2], samples[t, i, 3], near, far
                        )
                        if qx * qx + qy * qy > limit:
                            continue
                        weight = f4(1)
                    else:
                        da, db = f4(0), f4(0)
                        if diffracts:
                            da, db = samples[t, i, 4] * along, samples[t, i, 5] * across
                        weight, slope_x, slope_y = real_slope(
                            lens, real, j, px, py, da * ux - db * uy, da * uy + db * ux,
                            samples[t, i, 2], samples[t, i, 3], limit,
                        )  # fmt: skip
                        if weight <= 0:
                            continue
                        ox, oy, sx, sy = real_scene_ray(
                            lens, chord, real, j, slope_x, slope_y, samples[t, i, 2], samples[t, i, 3], near, far
                        )
                    passed += weight
                    depth, index = nearest_object(objects, kinds, ox, oy, sx, sy)
                    if index < 0:
                        a, b, c = background[0], background[1], background[2]
                    else:
                        a, b, c = surface_color(
                            objects, index, kinds, texels, volumes, lamps, ambient, ox, oy, sx, sy, depth
                        )
                    red, green, blue = red + weight * a, green + weight * b, blue + weight * c
            whole = f4(count) if keep_vignetting else passed
            share = f4(1) / (whole if whole > 0 else f4(1))
            out[v, u, 0], out[v, u, 1], out[v, u, 2] = red * share, green * share, blue * share


@compiled
def emit_rows(
    first, last, owner, neighbours, lens, chord, pixel_size, near, far, aperture, real, samples, seed,
    origins, directions, weights, counts,
):  # fmt: skip
    """The rays of rows first … last − 1 that pass the main lens, for a tracer of triangles; returns their number.

    origins and directions (n, 3) are filled pixel by pixel; counts (rows, width) says how many each pixel has. With
    `real` lenses weights (n,) say how much each ray counts; they are None for thin ones, where all count alike.
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
                    if real is not None:
                        diffracts = real[WAVELENGTH] > 0
                        ux, uy, along, across = diffraction_axes(lens, j, x, y, aperture, real)
                    for i in range(count):
                        px, py = x + samples[t, i, 0], y + samples[t, i, 1]
                        if real is None:
                            qx, qy, ox, oy, sx, sy = scene_ray(
                                lens, chord, j, px, py, samples[t, i, 2], samples[t, i, 3], near, far
                            )
                            if qx * qx + qy * qy > limit:
                                continue
                            weight = f4(1)
                        else:
                            da, db = f4(0), f4(0)
                            if diffracts:
                                da, db = samples[t, i, 4] * along, samples[t, i, 5] * across
                            weight, slope_x, slope_y = real_slope(
                                lens, real, j, px, py, da * ux - db * uy, da * uy + db * ux,
                                samples[t, i, 2], samples[t, i, 3], limit,
                            )  # fmt: skip
                            if weight <= 0:
                                continue
                            ox, oy, sx, sy = real_scene_ray(
                                lens, chord, real, j, slope_x, slope_y, samples[t, i, 2], samples[t, i, 3], near, far
                            )
                        origins[n, 0], origins[n, 1], origins[n, 2] = ox, oy, f4(0)
                        directions[n, 0], directions[n, 1], directions[n, 2] = sx, sy, f4(1)
                        if weights is not None:
                            weights[n] = weight
                        n += 1
            counts[v - first, u] = n - before
    return n


@compiled
def shade_rows(
    first, rays, origins, directions, weights, counts, mesh_depth, mesh_triangle, mesh_b1, mesh_b2,
    objects, kinds, mesh_object, normals, corner_colors, corner_uv,
    texels, volumes, lamps, ambient, background, keep_vignetting, out,
):  # fmt: skip
    """Light on the pixels whose rays `emit_rows` made, given where each ray meets the triangles (infinite: nowhere)."""
    n = 0
    for row in range(counts.shape[0]):
        for u in range(counts.shape[1]):
            red, green, blue, passed = f4(0), f4(0), f4(0), f4(0)
            for _ in range(counts[row, u]):
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
                weight = f4(1) if weights is None else weights[n]
                red, green, blue, passed = red + weight * a, green + weight * b, blue + weight * c, passed + weight
                n += 1
            whole = f4(rays) if keep_vignetting else passed
            share = f4(1) / (whole if whole > 0 else f4(1))
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
