"""The colour of what a ray hits: textures, and Lambert's law."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.compiling import compiled, inlined
from plenodepth.sim.kernels.shapes import BOX, CHECKERBOARD, RECTANGLE, SHAPE, SIZE, SPHERE, f4, to_local

u4 = np.uint32

PLAIN, IMAGE, SOLID = range(3)

# Columns of the numbers of an object (`PackedScene.objects`) that give its colour.
COLOR = 16  # 3
DARK, LIGHT = 19, 22  # 3 each: the two colours of a solid texture, or of a board
SCALE = 25  # cells per mm of a solid texture
# Columns of the integers of an object (`PackedScene.kinds`); column 0 is its shape.
TEXTURE, FIRST, TEXTURE_WIDTH, TEXTURE_HEIGHT, EMITS = range(1, 6)
# Columns of a lamp (`PackedScene.lamps`).
LAMP_NEAR, LAMP_INTENSITY, LAMP_X, LAMP_Y, LAMP_Z = range(5)


@inlined
def bilinear(texels, first, width, height, x, y):
    """Texture colour at (x, y) in texels, pixel centres at integers, edges repeated; three channels interleaved."""
    x = min(max(x, f4(0)), f4(width - 1))
    y = min(max(y, f4(0)), f4(height - 1))
    ix, iy = min(np.int32(x), width - np.int32(2)), min(np.int32(y), height - np.int32(2))
    fx, fy = x - f4(ix), y - f4(iy)
    a = u4(first + np.int32(3) * (iy * width + ix))
    b = a + u4(3) * u4(width)
    w11 = fx * fy
    w10, w01 = fx - w11, fy - w11
    w00 = f4(1) - fx - w01
    return (
        w00 * texels[a] + w10 * texels[a + u4(3)] + w01 * texels[b] + w11 * texels[b + u4(3)],
        w00 * texels[a + u4(1)] + w10 * texels[a + u4(4)] + w01 * texels[b + u4(1)] + w11 * texels[b + u4(4)],
        w00 * texels[a + u4(2)] + w10 * texels[a + u4(5)] + w01 * texels[b + u4(2)] + w11 * texels[b + u4(5)],
    )


@compiled
def solid_value(volumes, first, n, x, y, z):
    """Trilinear value of a periodic volume at (x, y, z) in cells."""
    x, y, z = x - n * math.floor(x / n), y - n * math.floor(y / n), z - n * math.floor(z / n)
    ix, iy, iz = min(int(x), n - 1), min(int(y), n - 1), min(int(z), n - 1)
    fx, fy, fz = f4(x - ix), f4(y - iy), f4(z - iz)
    jx, jy, jz = (ix + 1) % n, (iy + 1) % n, (iz + 1) % n
    total = f4(0)
    for corner in range(8):
        cx, wx = (jx, fx) if corner & 1 else (ix, f4(1) - fx)
        cy, wy = (jy, fy) if corner & 2 else (iy, f4(1) - fy)
        cz, wz = (jz, fz) if corner & 4 else (iz, f4(1) - fz)
        total += wx * wy * wz * volumes[first + (cx * n + cy) * n + cz]
    return total


@inlined
def face_position(objects, i, shape, x, y, z):
    """Position on an object's surface for an image texture, each in [0, 1], and the outward normal (local frame)."""
    if shape == RECTANGLE:
        return (
            x / (f4(2) * objects[i, SIZE]) + f4(0.5),
            y / (f4(2) * objects[i, SIZE + 1]) + f4(0.5),
            f4(0),
            f4(0),
            f4(1),
        )
    if shape == SPHERE:
        inverse = f4(1) / objects[i, SIZE]
        nx, ny, nz = x * inverse, y * inverse, z * inverse
        across = f4(math.atan2(nx, -nz) / (2 * math.pi) + 0.5)
        down = f4(math.acos(min(max(-ny, f4(-1)), f4(1))) / math.pi)
        return across, down, nx, ny, nz
    if shape == BOX:
        ax, ay, az = abs(x) / objects[i, SIZE], abs(y) / objects[i, SIZE + 1], abs(z) / objects[i, SIZE + 2]
        if az >= ax and az >= ay:
            return (
                x / (f4(2) * objects[i, SIZE]) + f4(0.5),
                y / (f4(2) * objects[i, SIZE + 1]) + f4(0.5),
                f4(0),
                f4(0),
                f4(math.copysign(1.0, z)),
            )
        if ax >= ay:
            return (
                z / (f4(2) * objects[i, SIZE + 2]) + f4(0.5),
                y / (f4(2) * objects[i, SIZE + 1]) + f4(0.5),
                f4(math.copysign(1.0, x)),
                f4(0),
                f4(0),
            )
        return (
            x / (f4(2) * objects[i, SIZE]) + f4(0.5),
            z / (f4(2) * objects[i, SIZE + 2]) + f4(0.5),
            f4(0),
            f4(math.copysign(1.0, y)),
            f4(0),
        )
    return f4(0), f4(0), f4(0), f4(0), f4(1)


@compiled
def light_on(normal_x, normal_y, normal_z, x, y, z, sx, sy, lamps, ambient):
    """Lambert's law at a point (camera frame) whose normal is turned towards the camera."""
    length = math.sqrt(normal_x * normal_x + normal_y * normal_y + normal_z * normal_z)
    facing = f4(-1.0) if normal_x * sx + normal_y * sy + normal_z > 0 else f4(1.0)
    scale = facing / length
    total = ambient
    for lamp in range(lamps.shape[0]):
        lx, ly, lz = lamps[lamp, LAMP_X], lamps[lamp, LAMP_Y], lamps[lamp, LAMP_Z]
        if lamps[lamp, LAMP_NEAR] > 0:
            lx, ly, lz = lx - x, ly - y, lz - z
        cosine = scale * (normal_x * lx + normal_y * ly + normal_z * lz) / math.sqrt(lx * lx + ly * ly + lz * lz)
        if cosine > 0:
            total += lamps[lamp, LAMP_INTENSITY] * cosine
    return f4(total)


@inlined
def surface_color(objects, i, kinds, texels, volumes, lamps, ambient, ox, oy, sx, sy, depth):
    """Colour (r, g, b) of a simple shape where a ray hits it at `depth`."""
    shape = kinds[i, SHAPE]
    px, py, pz, dx, dy, dz = to_local(objects, i, ox, oy, sx, sy)
    x, y, z = px + depth * dx, py + depth * dy, pz + depth * dz
    across, down, nx, ny, nz = face_position(objects, i, shape, x, y, z)
    red, green, blue = objects[i, COLOR], objects[i, COLOR + 1], objects[i, COLOR + 2]
    if shape == CHECKERBOARD:
        column, row = math.floor(x / objects[i, SIZE]), math.floor(y / objects[i, SIZE])
        on_squares = column >= -1 and row >= -1 and column < objects[i, SIZE + 2] and row < objects[i, SIZE + 3]
        dark = on_squares and (int(column) + int(row)) % 2 == 0
        value = objects[i, DARK] if dark else objects[i, LIGHT]
        red = green = blue = value
    elif kinds[i, TEXTURE] == IMAGE:
        width, height = kinds[i, TEXTURE_WIDTH], kinds[i, TEXTURE_HEIGHT]
        tx, ty = across * f4(width) - f4(0.5), down * f4(height) - f4(0.5)
        a, b, c = bilinear(texels, kinds[i, FIRST], width, height, tx, ty)
        red, green, blue = red * a, green * b, blue * c
    elif kinds[i, TEXTURE] == SOLID:
        scale = objects[i, SCALE]
        value = solid_value(volumes, kinds[i, FIRST], kinds[i, TEXTURE_WIDTH], x * scale, y * scale, z * scale)
        red *= objects[i, DARK] + value * (objects[i, LIGHT] - objects[i, DARK])
        green *= objects[i, DARK + 1] + value * (objects[i, LIGHT + 1] - objects[i, DARK + 1])
        blue *= objects[i, DARK + 2] + value * (objects[i, LIGHT + 2] - objects[i, DARK + 2])
    if kinds[i, EMITS]:
        return red, green, blue
    # The rows of local_from_cam turn a local normal back into the camera frame.
    cx, cy, cz = (
        objects[i, 0] * nx + objects[i, 4] * ny + objects[i, 8] * nz,
        objects[i, 1] * nx + objects[i, 5] * ny + objects[i, 9] * nz,
        objects[i, 2] * nx + objects[i, 6] * ny + objects[i, 10] * nz,
    )
    light = light_on(cx, cy, cz, ox + depth * sx, oy + depth * sy, depth, sx, sy, lamps, ambient)
    return red * light, green * light, blue * light


@compiled
def mesh_color(
    objects, i, kinds, triangle, b1, b2, normals, corner_colors, corner_uv, texels, volumes, lamps, ambient,
    ox, oy, sx, sy, depth,
):  # fmt: skip
    """Colour (r, g, b) of a triangle hit at barycentric weights (1 − b1 − b2, b1, b2)."""
    b0 = f4(1) - b1 - b2
    red = b0 * corner_colors[triangle, 0, 0] + b1 * corner_colors[triangle, 1, 0] + b2 * corner_colors[triangle, 2, 0]
    green = b0 * corner_colors[triangle, 0, 1] + b1 * corner_colors[triangle, 1, 1] + b2 * corner_colors[triangle, 2, 1]
    blue = b0 * corner_colors[triangle, 0, 2] + b1 * corner_colors[triangle, 1, 2] + b2 * corner_colors[triangle, 2, 2]
    if kinds[i, TEXTURE] == IMAGE:
        width, height = kinds[i, TEXTURE_WIDTH], kinds[i, TEXTURE_HEIGHT]
        s = b0 * corner_uv[triangle, 0, 0] + b1 * corner_uv[triangle, 1, 0] + b2 * corner_uv[triangle, 2, 0]
        t = b0 * corner_uv[triangle, 0, 1] + b1 * corner_uv[triangle, 1, 1] + b2 * corner_uv[triangle, 2, 1]
        tx, ty = s * f4(width) - f4(0.5), (f4(1) - t) * f4(height) - f4(0.5)
        a, b, c = bilinear(texels, kinds[i, FIRST], width, height, tx, ty)
        red, green, blue = red * a, green * b, blue * c
    elif kinds[i, TEXTURE] == SOLID:
        px, py, pz, dx, dy, dz = to_local(objects, i, ox, oy, sx, sy)
        scale = objects[i, SCALE]
        x, y, z = (px + depth * dx) * scale, (py + depth * dy) * scale, (pz + depth * dz) * scale
        value = solid_value(volumes, kinds[i, FIRST], kinds[i, TEXTURE_WIDTH], x, y, z)
        red *= objects[i, DARK] + value * (objects[i, LIGHT] - objects[i, DARK])
        green *= objects[i, DARK + 1] + value * (objects[i, LIGHT + 1] - objects[i, DARK + 1])
        blue *= objects[i, DARK + 2] + value * (objects[i, LIGHT + 2] - objects[i, DARK + 2])
    if kinds[i, EMITS]:
        return red, green, blue
    light = light_on(
        normals[triangle, 0], normals[triangle, 1], normals[triangle, 2],
        ox + depth * sx, oy + depth * sy, depth, sx, sy, lamps, ambient,
    )  # fmt: skip
    return red * light, green * light, blue * light
