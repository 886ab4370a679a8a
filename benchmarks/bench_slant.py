"""Depth of textured planes against their slant, at f/4 and f/1.4: coarse, refined, dense.

    pytest benchmarks/bench_slant.py -s -o python_files="bench_*.py"

A plane of noise, its middle at v = 6, is turned about the vertical axis before a small R12-ES. Errors are those of 1/v:
median and 1.48 times the median absolute deviation, of the inner part of the image. Then, for some micro-images, the
estimated patch of bench_latent with and without a slope of 1/v, taken from a plane through the coarse 1/v of the lenses
around; and what a coarse depth belongs to. It takes about five minutes on two cores.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from bench_latent import Optics, Variant, refined
from numpy.typing import NDArray

import plenodepth
from plenodepth.camera import PlenopticCamera, preset, virtual_from_metric
from plenodepth.camera.depth import metric_from_virtual
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Pose
from plenodepth.metric import central_points
from plenodepth.raw import RawImage, clean_image
from plenodepth.sim.packed_scene import pack_scene
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.scenes.twins import view_center, view_size
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene
from plenodepth.sim.truth import first_hits, ground_truth

Float64 = NDArray[np.float64]
SLANTS, F_NUMBERS = (0.0, 45.0, 60.0, 75.0), (4.0, 1.4)  # degrees
DEPTH, RAYS, SIDE = 6.0, 256, 1.6  # v; rays per pixel; of the view
DENSE = plenodepth.DenseSettings(enabled=True)
SEED, NOISE, SAMPLE = 5, 0.005, 24
PLANE_REACH = 3.1  # pitches
COMPARED = 9.0  # px from a micro-image's centre
RIM = 0.15  # of the image, to each side: not judged


@cache
def camera(f_number: float) -> PlenopticCamera:
    small = replace(shrunk(preset("r12-es"), 40, 36), depth_scale=None)
    return replace(small, main_lens=replace(small.main_lens, f_number=f_number))


def plane(slant: float, seed: int) -> Scene:
    """A plane that fills the view; the texture's cells are squares on it, from 2 to 64 pixels of the view."""
    z = float(metric_from_virtual(DEPTH, camera(4.0)))
    side, stretch = SIDE * max(view_size(z, camera(4.0))), 1 / np.cos(np.radians(slant))
    texels = round(SIDE * camera(4.0).sensor.width / 2)
    texture = noise_image(round(texels * stretch), texels, octaves=6, cell=32.0, seed=seed)
    turn = Pose.from_rotation_vector([0.0, np.radians(slant), 0.0]).rotation
    pose = Pose(turn, view_center(z, camera(4.0)))
    return Scene((Rectangle(side * stretch, side, pose, Material(texture=texture, emits=True)),))


@cache
def exposed(scene: Scene, f_number: float, seed: int) -> NDArray[np.uint16]:
    light = render(scene, camera(f_number), RenderSettings(rays=RAYS, seed=seed, threads=2)).light
    return expose(light, SensorSettings(color=False, seed=seed))


@cache
def white(f_number: float) -> NDArray[np.uint16]:
    return exposed(white_scene(camera(f_number)), f_number, 99)


def view_truth(scene: Scene, shape: tuple[int, ...]) -> Float64:
    directions = central_points(np.ones(shape, np.float32), camera(4.0), scale=DENSE.scale).reshape(-1, 3)
    depth, _ = first_hits(pack_scene(scene), np.zeros_like(directions), directions)
    return depth.reshape(shape).astype(np.float64)


def errors(found: Float64, truth: Float64) -> str:
    """Of 1/v, in %, in the middle of maps of v."""
    rows, columns = (slice(round(RIM * size), size - round(RIM * size)) for size in found.shape)
    relative = 100 * (truth / found - 1)[rows, columns]
    relative = relative[np.isfinite(relative)]
    bias = np.median(relative)
    return f"{bias:+.2f} ({1.4826 * np.median(np.abs(relative - bias)):.2f})"


def image_of(scene: Scene, f_number: float) -> RawImage:
    return clean_image(exposed(scene, f_number, SEED), camera(f_number), white=white(f_number), name="plane")


def test_maps() -> None:
    print("\n| aperture | slant | v | coarse | refined | dense |\n|---|---|---|---|---|---|")
    for f_number in F_NUMBERS:
        for slant in SLANTS:
            known, scene = camera(f_number), plane(slant, SEED)
            image, truth = image_of(scene, f_number), ground_truth(scene, known)
            cells = [errors(estimate_virtual_depth(image, known).virtual_depth, truth.lens_virtual_depth)]
            pixels = estimate_virtual_depth(image, known, DepthSettings(refined=True))
            cells.append(errors(pixels.virtual_depth, np.where(truth.boundary, np.nan, truth.virtual_depth)))
            view = plenodepth.estimate_depth(image, known, dense=DENSE).dense
            assert view is not None
            dense = virtual_from_metric(view.depth.astype(np.float64), known)
            cells.append(errors(dense, virtual_from_metric(view_truth(scene, view.depth.shape), known)))
            inside = truth.lens_virtual_depth[3:-3, 3:-3]
            span = f"{inside.max():.1f} … {inside.min():.1f}"
            print(f"| f/{f_number:g} | {slant:g}° | {span} | " + " | ".join(cells) + " |", flush=True)


def slope_about(lens: int, v: Float64, centers: Float64, reach: float) -> tuple[float, float]:
    """∂(1/v) per px of the patch of a lens: a plane through the 1/v (J,) of the lenses up to `reach` px around."""
    away = centers - centers[lens]
    near = (np.linalg.norm(away, axis=1) < reach) & np.isfinite(v)
    system, weight = np.column_stack([np.ones(near.sum()), away[near]]), np.ones(near.sum())
    for _ in range(4):
        plane_of, *_ = np.linalg.lstsq(system * weight[:, None], weight / v[near], rcond=None)
        residual = np.abs(1 / v[near] - system @ plane_of)
        weight = 1 / np.sqrt(1 + (residual / (1.5 * np.median(residual) + 1e-9)) ** 2)
    return float(plane_of[1] * v[lens]), float(plane_of[2] * v[lens])  # the next lens sees a point 1/v pitches aside


def test_slopes() -> None:
    print("\n| aperture | slant | coarse | patch, facing | patch, with slopes |\n|---|---|---|---|---|")
    for f_number in F_NUMBERS:
        for slant in SLANTS[2:]:
            known, scene = camera(f_number), plane(slant, SEED)
            image = image_of(scene, f_number)
            truth = ground_truth(scene, known).lens_virtual_depth.astype(np.float64).ravel()
            v = estimate_virtual_depth(image, known).virtual_depth.astype(np.float64).ravel()
            optics = Optics(known)
            inside = (optics.k > 6) & (optics.k < 33) & (optics.l > 5) & (optics.l < 30) & np.isfinite(v)
            lenses = np.random.default_rng(0).choice(np.flatnonzero(inside), SAMPLE, replace=False)
            reach, variant = PLANE_REACH * known.micro_images.lattice.diameter, Variant(reach=1.8)
            slopes = [slope_about(int(lens), v, optics.center, reach) for lens in lenses]
            columns = [v[lenses]]
            for given in ([(0.0, 0.0)] * SAMPLE, slopes):
                found = [
                    refined(optics, image.gray, int(lens), v[lens], NOISE, variant, slope).v
                    for lens, slope in zip(lenses, given, strict=True)
                ]
                columns.append(np.array(found))
            ends = [100 * (truth[lenses] / column - 1) for column in columns]
            cells = " | ".join(f"{np.nanmean(end):+.2f} ({np.nanstd(end):.2f})" for end in ends)
            print(f"| f/{f_number:g} | {slant:g}° | {cells} |", flush=True)


def middle_of_texture(gray: NDArray[np.float32], center: Float64) -> Float64:
    """Mean (2,) px from a micro-image's centre of its compared pixels, weighted by the squared gradient of gray."""
    first = np.round(center).astype(int) - 10
    part = gray[first[1] : first[1] + 21, first[0] : first[0] + 21].astype(np.float64)
    down, across = np.gradient(part)
    y, x = np.mgrid[:21, :21]
    x, y = x + first[0] - center[0], y + first[1] - center[1]
    weight = np.where(x**2 + y**2 < COMPARED**2, np.nan_to_num(down**2 + across**2), 0)
    return np.array([(weight * x).sum(), (weight * y).sum()]) / weight.sum()


def test_where_a_depth_belongs() -> None:
    """A micro-image's depth is that of the middle of its texture: the slope takes it to the micro-image's centre."""
    print("\n| aperture | slant | coarse | moved to the centre | correlation |\n|---|---|---|---|---|")
    for f_number in F_NUMBERS:
        for slant in SLANTS[2:]:
            known, scene = camera(f_number), plane(slant, SEED)
            image = image_of(scene, f_number)
            truth = ground_truth(scene, known).lens_virtual_depth.astype(np.float64).ravel()
            v = estimate_virtual_depth(image, known).virtual_depth.astype(np.float64).ravel()
            k, l = (index.ravel() for index in known.micro_images.lattice.indices())
            centers = known.micro_images.center(k, l)
            lenses = np.flatnonzero((k > 6) & (k < 33) & (l > 5) & (l < 30) & np.isfinite(v))
            reach = PLANE_REACH * known.micro_images.lattice.diameter
            moved = np.array([
                np.dot(middle_of_texture(image.gray, centers[lens]), slope_about(int(lens), v, centers, reach))
                for lens in lenses
            ])  # fmt: skip
            before = 100 * (truth[lenses] / v[lenses] - 1)
            after = before - 100 * moved * truth[lenses]
            cells = " | ".join(f"{error.mean():+.2f} ({error.std():.2f})" for error in (before, after))
            print(f"| f/{f_number:g} | {slant:g}° | {cells} | {np.corrcoef(before, moved)[0, 1]:.2f} |", flush=True)
