"""How fast scenes are traced: rays per CPU-second, against a plain NumPy tracer in the same run; memory and noise."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
import pytest

from plenodepth.camera import preset
from plenodepth.geometry import Pose
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import Rendering, RenderSettings, render, scene_depths
from plenodepth.sim.samples import ray_samples
from plenodepth.sim.scenes.figurines import figurine
from plenodepth.sim.scenes.scene import Material, Mesh, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image, solid_noise

# CPU-seconds that libpleno's simulator takes on a textured plate: 350 million rays of a 4080 × 3068 image in 94.
AUTHORS = 3.8e6
PLATE_TARGET, MESH_TARGET = 25e6, 2e6
MEMORY_TARGET = 2e9  # bytes


def plate() -> Scene:
    texture = noise_image(2000, 1500, seed=1)
    pose = Pose(np.eye(3), np.array([0, 0, 1200.0]))
    return Scene((Rectangle(800, 600, pose, Material(texture=texture, emits=True)),))


def rate(rendering: Rendering) -> float:
    return rendering.rays / rendering.cpu_seconds


def numpy_rate(setup: RaySetup, texture: np.ndarray) -> float:
    """Rays per CPU-second of the same plate, written with NumPy over whole arrays: 200 pixels times 500 rays."""
    samples = ray_samples(500, setup.pixel_size, setup.lens_shape, 0)[0].astype(np.float64)
    v, u = 1500, np.arange(2000, 2200)
    lens, chord = setup.lens[setup.owner[v, u]].astype(np.float64), setup.chord[setup.owner[v, u]].astype(np.float64)
    start = time.process_time()
    x = (setup.width - 1 - u) * setup.pixel_size + lens[:, 0]
    y = (setup.height - 1 - v) * setup.pixel_size + lens[:, 1]
    lx, ly = samples[:, 2], samples[:, 3]
    slope_x = (lx - x[:, None] - samples[:, 0]) * lens[:, 2:3] - lx * lens[:, 3:4]
    slope_y = (ly - y[:, None] - samples[:, 1]) * lens[:, 2:3] - ly * lens[:, 3:4]
    qx, qy = lens[:, 9:10] + lx + slope_x * lens[:, 6:7], lens[:, 10:11] + ly + slope_y * lens[:, 6:7]
    ends = []
    for row, step in ((0, 4), (2, 5)):
        ex, ey = (
            lx + (slope_x - lens[:, 7:8]) * lens[:, step, None],
            ly + (slope_y - lens[:, 8:9]) * lens[:, step, None],
        )
        terms = (np.ones_like(ex), ex, ey, ex * ex, ex * ey, ey * ey)
        ends.append([sum(chord[:, row + axis, i, None] * term for i, term in enumerate(terms)) for axis in (0, 1)])
    share = (1200 - setup.near) / (setup.far - setup.near)
    hit_x, hit_y = (a + share * (b - a) for a, b in zip(*ends, strict=True))
    tx, ty = (hit_x / 800 + 0.5) * 2000 - 0.5, (hit_y / 600 + 0.5) * 1500 - 0.5
    ix, iy = tx.astype(int), ty.astype(int)
    fx, fy = (tx - ix)[..., None], (ty - iy)[..., None]
    color = (texture[iy, ix] * (1 - fx) + texture[iy, ix + 1] * fx) * (1 - fy)
    color += (texture[iy + 1, ix] * (1 - fx) + texture[iy + 1, ix + 1] * fx) * fy
    light = (color * (qx**2 + qy**2 <= setup.aperture_radius**2)[..., None]).mean(axis=1)
    assert light.max() > 0
    return x.size * len(samples) / (time.process_time() - start)


def test_rays_per_cpu_second() -> None:
    camera, scene = preset("r12-e"), plate()
    setup = ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length))
    render(scene, camera, RenderSettings(rays=1), setup=setup)  # compiles
    plain = rate(render(scene, camera, RenderSettings(rays=16), setup=setup))
    texture = scene.objects[0].material.texture.pixels  # type: ignore[union-attr]
    numpy = max(numpy_rate(setup, texture) for _ in range(3))

    vertices, faces = figurine("cat", 100_000)
    pose = Pose(np.eye(3), np.array([10.0, 100.0, 900.0]))
    mesh = Scene((Mesh(2.2 * vertices, faces, pose, Material(texture=solid_noise(period=60, seed=1))),))
    render(mesh, camera, RenderSettings(rays=1))
    on_mesh = rate(render(mesh, camera, RenderSettings(rays=4)))

    print(f"\ntextured plate, 4080 × 3068 px: {plain / 1e6:.1f} million rays per CPU-second")
    print(
        f"  {plain / numpy:.0f} times a NumPy tracer in this run ({numpy / 1e6:.2f}), {plain / AUTHORS:.0f} times 3.8"
    )
    print(f"mesh of {len(faces):,} triangles: {on_mesh / 1e6:.1f} million rays per CPU-second")
    assert plain >= PLATE_TARGET
    assert on_mesh >= MESH_TARGET


def test_memory_of_a_full_size_image(tmp_path: object) -> None:
    command = [sys.executable, "-c", "import sys; from plenodepth.cli import main; main()", "simulate", "scene"]
    options = [
        "examples/scenes/figurines.yaml",
        "--camera",
        "r12-e",
        "--rays",
        "16",
        "--out",
        f"{tmp_path}/out",
        "--json",
    ]
    subprocess.run([*command, *options], check=True)
    peak = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"\npeak memory of the figurine scene at 4080 × 3068 px: {peak / 1e9:.2f} GB")
    assert peak < MEMORY_TARGET


def test_noise_over_rays() -> None:
    camera, scene = preset("r12-mini"), plate()
    truth = render(scene, camera, RenderSettings(rays=4096, seed=99)).light
    counts = [4, 8, 16, 32, 64, 128, 256]
    errors = [
        float(np.sqrt(((render(scene, camera, RenderSettings(rays=n, seed=1)).light - truth) ** 2).mean()))
        for n in counts
    ]
    slope = float(np.polyfit(np.log(counts), np.log(errors), 1)[0])
    print("\nrays per pixel  noise")
    for count, error in zip(counts, errors, strict=True):
        print(f"{count:14d}  {error:.5f}")
    print(f"noise ∝ rays^{slope:.2f}; random rays: rays^-0.50")
    assert slope < -0.6
    assert pytest.approx(slope, abs=0.5) == -0.75
