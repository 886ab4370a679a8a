"""Accuracy and speed of the depth estimation on simulated planes, where the truth is known."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from plenodepth.camera import metric_from_virtual, preset, virtual_from_metric
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_depth
from plenodepth.depth.kernels import reference
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles
from plenodepth.depth.views import plan_views
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.twins import wall_scene

DISTANCES = range(500, 2000, 200)
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)
INNER = (slice(3, -3), slice(3, -3))


def wall_image(camera: object, depth: float, rays: int = 64, noise: float = 0.005) -> RawImage:
    """A wall at large aperture, where the depth scale vanishes, with some noise."""
    settings = RenderSettings(rays=rays, f_number=1.4, vignetting=False, seed=int(depth))
    light = render(camera, wall_scene(camera, depth, 3), settings).light @ LUMINANCE  # type: ignore[arg-type]
    light = light + np.random.default_rng(0).normal(0, noise, light.shape)
    return RawImage(light.astype(np.float32), None, noise, Devignetting.NONE, f"{depth:g}")


def test_accuracy_over_distance() -> None:
    camera = replace(shrunk(preset("r12-es"), 40, 36), depth_scale=None)
    k, l = camera.micro_images.lattice.indices()
    print(
        "\nf/1.4, one depth per micro-image: median error, median absolute deviation, share within 2 % and within 1 σ"
    )
    for depth in DISTANCES:
        image = wall_image(camera, float(depth))
        cells = []
        for blur in (True, False):
            found = estimate_depth(image, camera, DepthSettings(blur=blur))
            z = metric_from_virtual(camera, found.virtual_depth.astype(np.float64), k, l, invalid="nan")
            error = (z / depth - 1)[INNER]
            sigmas = np.abs(found.virtual_depth - virtual_from_metric(camera, float(depth), k, l)) / found.sigma
            spread = np.nanmedian(np.abs(error - np.nanmedian(error)))
            cells.append(
                f"{'B' if blur else 'D'} {100 * np.nanmedian(error):+.2f} % {100 * spread:.2f} % "
                f"{(np.abs(error) < 0.02).mean():.3f} {(sigmas[INNER] < 1).mean():.2f}"
            )
            if blur:
                assert abs(np.nanmedian(error)) < 0.003
                assert (np.abs(error) < 0.02).mean() > 0.95
        print(f"{depth:5d} mm   " + "   ".join(cells))


def test_bias_over_smoothing() -> None:
    """Why views are smoothed by 0.3 px², and not more: the default was chosen from this table."""
    camera = replace(shrunk(preset("r12-es"), 32, 28), depth_scale=None)
    k, l = camera.micro_images.lattice.indices()
    depths = (500, 700, 1000, 1400)
    images = [wall_image(camera, float(depth), noise=0.015) for depth in depths]
    print("\nmedian error in % at", ", ".join(f"{depth} mm" for depth in depths), "with 1.5 % noise")
    worst = {}
    for smoothing in (0.0, 0.15, 0.3, 0.6, 1.0):
        errors = []
        for depth, image in zip(depths, images, strict=True):
            found = estimate_depth(image, camera, DepthSettings(smoothing=smoothing))
            z = metric_from_virtual(camera, found.virtual_depth.astype(np.float64), k, l, invalid="nan")
            errors.append(100 * float(np.nanmedian((z / depth - 1)[INNER])))
        worst[smoothing] = max(abs(error) for error in errors)
        print(f"smoothing {smoothing:4.2f} px²: " + "  ".join(f"{error:+.2f}" for error in errors))
    assert worst[0.3] < worst[0.0]
    assert worst[0.3] < worst[1.0]


def test_speed_of_a_full_frame() -> None:
    camera = replace(preset("r12-es"), depth_scale=None)
    image = wall_image(camera, 900.0, rays=8)
    for settings in (DepthSettings(), DepthSettings(blur=False), DepthSettings(refined=True)):
        estimate_depth(image, camera, settings)  # compiles
        times = []
        for threads in (1, 2):
            start, cpu = time.perf_counter(), time.process_time()
            estimate_depth(image, camera, settings, threads=threads)
            times.append((time.perf_counter() - start, time.process_time() - cpu))
        kind = f"{'refined' if settings.refined else 'coarse'} {'B' if settings.blur else 'D'}"
        print(
            f"\n4080 × 3068 px, {kind}: {times[0][1]:.1f} CPU-seconds; {times[0][0]:.1f} s on one thread, "
            f"{times[1][0]:.1f} s on two ({times[0][0] / times[1][0]:.2f} times faster)",
            end="",
        )
    settings = DepthSettings()
    tiles, views = cut_tiles(image.gray, camera, settings), plan_views(camera, settings)
    start = time.process_time()
    for lens in range(13_000, 13_010):
        reference.coarse_depth(tiles, views, settings, lens)
    per_lens = (time.process_time() - start) / 10
    start = time.process_time()
    estimate_depth(image, camera, settings)
    ratio = per_lens * views.rows * views.columns / (time.process_time() - start)
    print(f"\nthe NumPy reference would take {ratio:.0f} times as long")
    assert ratio > 50
