"""Figurines made by formulas: 100 mm high, on the ground y = 0 with the top at negative y (the camera's y points down).

Each is a closed surface, its faces turned outwards, of about as many triangles as asked for. They look towards negative
z, where the camera is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from plenodepth.errors import InputError
from plenodepth.sim.scenes.isosurface import blend, block, drum, ellipsoid, limb, mirrored, surface_of
from plenodepth.sim.scenes.sweeps import Surface, angles, ball, lathe, tube
from plenodepth.sim.scenes.textures import noise_volume

Array = NDArray[np.float64]

HEIGHT = 100.0  # mm
LEAST_DETAIL, MOST_DETAIL = 500, 5_000_000


def figurine(shape: str, detail: int = 40_000) -> Surface:
    """The figurine of a name in `FIGURINES`, with about `detail` triangles."""
    if shape not in FIGURINES:
        raise InputError(f"is '{shape}', needs one of {', '.join(FIGURINES)}", field="shape")
    if not LEAST_DETAIL <= detail <= MOST_DETAIL:
        raise InputError(f"is {detail}, needs {LEAST_DETAIL} to {MOST_DETAIL} triangles", field="detail")
    return _standing(FIGURINES[shape](detail))


def _vase(detail: int) -> Surface:
    """A fluted vase, hollow."""
    outside = [(0, 0), (17, 0), (18, 1), (17.5, 4), (15, 8), (20, 20), (28, 36), (31, 50), (28, 64), (18, 78), (13, 86)]
    lip = [(13.5, 92), (19, 99), (20, 100), (19, 100.5), (17.5, 99.5)]
    inside = [(11, 91), (10.5, 86), (16, 77), (26, 63), (28.5, 50), (25, 36), (17, 20), (9, 10), (0, 8)]

    def flutes(angle: Array, height: Array) -> Array:
        belly = np.exp(-(((height - 45) / 22) ** 4))
        return 1 + belly * 0.1 * (np.abs(np.sin(8 * angle)) ** 0.8 - 0.64)

    return lathe([*outside, *lip, *inside], detail, flutes)


def _queen(detail: int) -> Surface:
    """A chess queen."""
    foot = [(0, 0), (20, 0), (20.8, 0.8), (20.8, 5), (20, 6), (17.5, 6.6), (18.5, 9), (16.5, 12), (12.8, 13)]
    shaft = [(12.4, 14), (9.5, 24), (7.2, 42), (6.6, 58), (7, 62), (11, 63), (11.8, 64.5), (11, 66), (7.6, 67)]
    collar = [(7.6, 68), (10, 69), (10, 70.5), (7.4, 71.6), (7.4, 73)]
    crown = [(9.5, 80), (13, 88.5), (13.4, 90.5), (12.2, 90.8), (8, 90), (4, 92.5), (2.6, 94)]
    knob = [(4.2, 96.5), (3.8, 99), (2, 100.6), (0, 101)]

    def spikes(angle: Array, height: Array) -> Array:
        high = np.clip((height - 78) / 10, 0, 1) * (height < 91.5)
        return 1 - 0.3 * high**2 * (1 - np.abs(np.cos(4 * angle)) ** 0.7)

    return lathe([*foot, *shaft, *collar, *crown, *knob], detail, spikes)


def _knot(detail: int) -> Surface:
    """A trefoil knot upright on a plinth."""
    spokes = max(8, round(np.sqrt(0.8 * detail / 2 / 9)))
    t = angles(round(0.8 * detail / 2 / spokes))
    out = np.stack([np.sin(2 * t), np.cos(2 * t), np.zeros_like(t)], axis=1)
    center = (25 + 10 * np.cos(3 * t))[:, None] * out + np.stack([0 * t, 0 * t, 13 * np.sin(3 * t)], axis=1)
    along = np.roll(center, -1, axis=0) - np.roll(center, 1, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = out - (out * along).sum(axis=1, keepdims=True) * along
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    ring = tube(center, side, np.cross(along, side), 7.2, spokes)
    lift = np.array([0, 15 - ring.vertices[:, 1].min(), 0])
    profile = [(0, 0), (24, 0), (25, 1), (25, 4), (22, 6), (20, 11), (22, 14), (22, 16), (20, 17), (0, 17.5)]
    plinth = lathe(profile, round(0.2 * detail))
    return Surface(
        np.concatenate([ring.vertices + lift, plinth.vertices]),
        np.concatenate([ring.faces, plinth.faces + np.int32(len(ring.vertices))]),
    )


def _boulder(detail: int) -> Surface:
    """A weathered rock, lying on its flat side."""
    vertices, faces = ball(detail)
    noise = noise_volume(64, 1, seed=11)

    def at(scale: float) -> Array:
        values: Array = map_coordinates(noise, (vertices * scale + 7 * scale).T, order=3, mode="grid-wrap")
        return values - 0.5

    # Smooth lumps in terraces, ridges, and small roughness on top.
    lumps = 1 + 0.35 * at(12) + 0.16 * at(31)
    rough = lumps + 0.012 * np.sin(55 * lumps) - 0.09 * np.abs(at(53)) + 0.02 * at(120) + 0.01 * at(250)
    rock = vertices * rough[:, None] * np.array([66.0, 54.0, 52.0])
    # Softly flat below, where the rock would else go on.
    floor = -30.0
    rock[:, 1] = np.logaddexp(0, (rock[:, 1] - floor) / 2) * 2 + floor
    return Surface(rock, faces)


def _column(detail: int) -> Surface:
    """A twisted column between a square foot and a square head."""
    foot = [(0, 0), (24, 0), (24.6, 0.6), (24.6, 7), (24, 7.8), (18, 8.4), (19.5, 10.5), (18, 13), (14.5, 14)]
    head = [(14.5, 84), (18, 85), (19, 87), (18, 89), (17, 90), (23, 91.6), (23.6, 92.2), (23.6, 99.4), (23, 100)]

    def turned(angle: Array, height: Array) -> Array:
        square = np.clip(np.maximum(8 - height, height - 91) * 4, 0, 1)
        corners = 0.86 / (np.cos(angle) ** 10 + np.sin(angle) ** 10) ** 0.1
        shaft = np.clip((height - 14) / 6, 0, 1) * np.clip((84 - height) / 6, 0, 1)
        ropes = 1 + 0.2 * (np.abs(np.cos(2 * angle - 0.11 * height)) ** 0.8 - 0.6)
        return np.asarray(square * corners + (1 - square) * (1 + shaft * (ropes - 1)))

    return lathe([*foot, (14, 30), (14, 68), *head, (0, 100)], detail, turned)


def _standing(surface: Surface) -> Surface:
    """From y up to y down, on the ground, `HEIGHT` high, its box's middle over the origin."""
    vertices, faces = surface
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    foot = np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2])
    # Turning y over mirrors the body, so its faces turn over as well.
    upright = (vertices - foot) * (HEIGHT / (high[1] - low[1])) * np.array([1.0, -1.0, 1.0])
    return Surface(upright, np.ascontiguousarray(faces[:, ::-1]))


def _cat(p: Array) -> Array:
    """A cat that sits, its tail about its feet."""
    q = mirrored(p)
    trunk = blend(
        8,
        ellipsoid(p, (0, 30, 10), (21, 30, 23)),
        ellipsoid(p, (0, 44, -2), (16, 24, 16)),
        ellipsoid(q, (16, 16, 6), (12, 17, 20)),
        limb(p, [(0, 55, -4), (0, 68, -7)], [14, 13]),
    )
    trunk = blend(3, trunk, limb(q, [(7.5, 38, -13), (7.5, 5, -19)], [6.5, 5.0]))
    paws = np.minimum(ellipsoid(q, (7.5, 4, -22), (6.5, 5, 8)), ellipsoid(q, (19, 4, -12), (7.5, 5, 11)))
    trunk = blend(2.5, trunk, paws)
    head = blend(
        6,
        ellipsoid(p, (0, 76, -10), (20, 17, 16)),
        ellipsoid(q, (9, 70, -17), (9, 7.5, 7)),
        ellipsoid(p, (0, 69.5, -22), (7, 5.5, 6)),
    )
    ear = limb((q - (12, 87, -8)) * (1, 1, 1.7), [(0, 0, 0), (4.5, 17, 0)], [9, 0.8]) / 1.4
    ear = np.maximum(ear, -ellipsoid(q, (14.2, 93, -14), (4.2, 9, 4.5)))
    head = blend(1.5, head, ear)
    head = np.minimum(head, ellipsoid(q, (8, 78.5, -23), (4, 4.4, 3.4)))
    head = blend(1, head, ellipsoid(p, (0, 72.5, -28), (2.6, 1.8, 2)))
    tail = limb(
        p, [(0, 9, 27), (16, 6.5, 30), (29, 6, 22), (35, 6, 6), (32, 6, -10), (24, 6, -20)], [6, 6, 6, 6, 5.5, 4.5]
    )
    return np.maximum(blend(2, blend(3, trunk, tail), blend(4, head, trunk)), -p[:, 1])


def _elephant(p: Array) -> Array:
    """An elephant with lifted trunk."""
    q = mirrored(p)
    trunk = blend(
        10,
        ellipsoid(p, (0, 56, 10), (26, 25, 37)),
        ellipsoid(p, (0, 74, -34), (18, 20, 18)),
    )
    legs = np.minimum(limb(q, [(14, 45, -12), (15, 8, -14)], [12, 9.5]), limb(q, [(14, 45, 32), (15, 8, 34)], [13, 10]))
    feet = np.minimum(ellipsoid(q, (15, 3, -15), (11, 6, 11.5)), ellipsoid(q, (15, 3, 33), (11, 6, 11.5)))
    trunk = blend(5, trunk, blend(3, legs, feet))
    nose = limb(
        p,
        [(0, 70, -46), (0, 54, -56), (0, 38, -60), (0, 27, -66), (0, 24, -75), (0, 30, -82), (0, 38, -83)],
        [11, 9, 7.5, 6.5, 5.8, 5.2, 4.6],
    )
    # Rings around the trunk.
    trunk = blend(4, trunk, nose + 0.3 * np.sin(1.7 * p[:, 1]) * (p[:, 2] < -53))
    # An ear stands off the head: turned about the vertical, thin, wavy towards its rim.
    c, s = np.cos(0.55), np.sin(0.55)
    e = q - (17, 76, -27)
    e = np.column_stack([c * e[:, 0] + s * e[:, 2], e[:, 1], -s * e[:, 0] + c * e[:, 2]])
    e[:, 2] += 2.0 * np.sin(e[:, 1] / 5.5) * np.clip(e[:, 0] / 14, 0, 1)
    ear = ellipsoid(e, (10, -2, 0), (18, 22, 3.6)) * 0.8
    trunk = blend(2.5, trunk, ear)
    tusk = limb(q, [(9, 64, -46), (11, 53, -58), (11, 50, -68), (10, 53, -75)], [3.8, 3.2, 2.4, 1.0])
    tail = limb(p, [(0, 66, 44), (0, 50, 52), (0, 36, 52)], [3, 2, 3.2])
    eye = ellipsoid(q, (14.5, 80, -44.5), (2.6, 2.6, 2.6))
    return np.maximum(np.minimum(blend(1.5, trunk, tusk, tail), eye), -p[:, 1])


def _tower(p: Array) -> Array:
    """A castle's tower: stone courses, a gate, windows, battlements, a turret with a pointed roof."""
    angle, radius, y = np.arctan2(p[:, 0], -p[:, 2]), np.hypot(p[:, 0], p[:, 2]), p[:, 1]
    # Courses of stone: grooves between them, and between the stones of each, those of every second one shifted.
    course = np.floor(y / 7)
    across = np.mod(angle / (2 * np.pi) * 16 + 0.5 * np.mod(course, 2), 1) - 0.5
    groove = np.maximum(np.abs(y - 7 * course - 3.5) - 2.9, np.abs(across) * 8 - 3.5)
    rough = 0.9 * np.clip(groove / 0.6, 0, 1)
    body = np.maximum(blend(2, drum(p, 0, 70, 25, 21), drum(p, 0, 9, 31, 26)), -y) + rough
    top = blend(1, drum(p, 64, 72, 21, 27.5), drum(p, 72, 88, 27.5, 27.5))
    top = np.maximum(top, -drum(p, 76, 95, 23, 23))
    merlon = np.abs(np.mod(angle / (2 * np.pi) * 9 + 0.5, 1) - 0.5) * (2 * np.pi * 25 / 9) - 4.2
    top = np.maximum(top, -np.maximum(-merlon, 81 - y))
    turret = np.minimum(drum(p, 70, 104, 13, 13) + 0.5 * rough, drum(p, 103, 130, 18, 0.5))
    stone = np.minimum(np.minimum(body, top), turret)
    arch = np.maximum(np.maximum(np.hypot(p[:, 0], y - 18) - 7.5, p[:, 2] + 17), -35 - p[:, 2])
    gate = np.minimum(block(p, (0, 8, -26), (7.5, 10, 9)), arch)
    windows = np.minimum(_slit(p, angle, radius, 43, 5, 3.2), _slit(p, angle, radius, 95, 4, 2.4))
    return np.asarray(np.maximum(stone, -np.minimum(gate, np.maximum(windows, 8 - radius))))


def _slit(p: Array, angle: Array, radius: Array, height: float, half: float, width: float) -> Array:
    """Windows with round tops at a height, four around the tower."""
    across = (np.mod(angle / (np.pi / 2) + 0.5, 1) - 0.5) * (np.pi / 2) * radius
    up = p[:, 1] - height
    return np.asarray(np.hypot(across, up - np.clip(up, -half, half)) - width)


FIGURINES: dict[str, Callable[[int], Surface]] = {
    "cat": partial(surface_of, _cat, (-48, -4, -40), (48, 112, 46)),
    "elephant": partial(surface_of, _elephant, (-52, -4, -92), (52, 112, 62)),
    "tower": partial(surface_of, _tower, (-38, -4, -38), (38, 134, 38)),
    "vase": _vase,
    "queen": _queen,
    "knot": _knot,
    "boulder": _boulder,
    "column": _column,
}
