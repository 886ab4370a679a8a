"""How fast points are projected: a million (point, lens) pairs in one call against one pair at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera, lens_center, preset, project

PAIRS, LOOPED = 1_000_000, 1_000
TARGET = 200  # times faster per pair than a loop


def seconds_per_pair(work: Callable[[], object], pairs: int, repeats: int) -> float:
    """The best of several runs: the machine's other work only ever adds time."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) / pairs


def scalar_projector(camera: PlenopticCamera) -> Callable[..., tuple[float, float, float]]:
    """The same formulas on plain Python floats, lens centres looked up: the fastest loop one can write in Python."""
    focal, pixel = camera.main_lens.focal_length, camera.sensor.pixel_size
    q1, q2, q3, p1, p2 = camera.distortion.coefficients.tolist()
    tx, ty, tz = camera.sensor.position.tolist()
    right, bottom = camera.sensor.width - 1, camera.sensor.height - 1
    half = camera.micro_lenses.lens_diameter / 2
    lattice = camera.micro_images.lattice
    k, l = lattice.indices()
    centers, types = lens_center(k, l, camera).tolist(), camera.micro_images.lens_type(k, l).tolist()
    middles = camera.micro_images.center(k, l).tolist()
    focals, radius = camera.micro_lenses.focal_lengths.tolist(), camera.micro_images.radius

    def project_one(x: float, y: float, z: float, k: int, l: int) -> tuple[float, float, float, bool]:
        scale = -focal / (z - focal)
        x, y, z = scale * x, scale * y, scale * z
        s = x * x + y * y
        radial = 1 + s * (q1 + s * (q2 + s * q3))
        xd = x * radial + p1 * (s + 2 * x * x) + 2 * p2 * x * y
        yd = y * radial + p2 * (s + 2 * y * y) + 2 * p1 * x * y
        cx, cy, cz = centers[l][k]
        distance, to_sensor = z - cz, cz - tz
        ratio = to_sensor / distance
        u = right - (cx - ratio * (xd - cx) - tx) / pixel
        v = bottom - (cy - ratio * (yd - cy) - ty) / pixel
        rho = half * to_sensor * (1 / focals[types[l][k]] - 1 / distance - 1 / to_sensor) / pixel
        mu, mv = middles[l][k]
        visible = math.hypot(u - mu, v - mv) <= radius and -0.5 <= u < right + 0.5 and -0.5 <= v < bottom + 0.5
        return u, v, rho, visible

    return project_one


def test_projecting_a_million_pairs() -> None:
    camera = preset("r12-e")
    generator = np.random.default_rng(0)
    points = generator.uniform([-200, -150, 400], [200, 150, 2000], (PAIRS, 3))
    lattice = camera.micro_images.lattice
    k, l = generator.integers(0, lattice.columns, PAIRS), generator.integers(0, lattice.rows, PAIRS)

    at_once = seconds_per_pair(lambda: project(points, k, l, camera), PAIRS, 5)

    def one_by_one() -> None:
        for index in range(LOOPED):
            project(points[index], k[index], l[index], camera)

    in_a_loop = seconds_per_pair(one_by_one, LOOPED, 2)
    project_one = scalar_projector(camera)
    lists = list(zip(*points[:LOOPED].T.tolist(), k[:LOOPED].tolist(), l[:LOOPED].tolist(), strict=True))
    in_plain_python = seconds_per_pair(lambda: [project_one(*pair) for pair in lists], LOOPED, 5)

    u, v, rho, _ = project_one(*lists[0])
    first = project(points[0], k[0], l[0], camera)
    assert (u, v, rho) == pytest.approx((*first.uv, float(first.rho)), rel=1e-12)

    print(f"\n{PAIRS:,} pairs in one call: {1e9 * at_once:.0f} ns per pair")
    for name, seconds in (("loop over project()", in_a_loop), ("loop of plain Python floats", in_plain_python)):
        print(f"{name}: {1e9 * seconds:.0f} ns per pair, {seconds / at_once:.0f} times slower")
    assert in_a_loop / at_once >= TARGET
