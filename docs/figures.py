"""Draws the figures of the documentation into docs/images: `python docs/figures.py [FIGURE …]`. Some take minutes."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from matplotlib.figure import Figure
from scipy.special import erf

from plenodepth.camera import preset
from plenodepth.camera.summary import summarise
from plenodepth.depth.filters import FilterSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_image, read_ply, write_image
from plenodepth.metric.frame import estimate_depth
from plenodepth.metric.picture import depth_picture
from plenodepth.raw import load_raw
from plenodepth.sim.lidar import lidar_for_scene
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white
from plenodepth.view import camera_figure, write_figure

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 1200  # px of a picture
BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#d55e00", "#009e73", "#999999"
GRID = {"color": "#dddddd", "linewidth": 0.6}
sys.path.insert(0, str(ROOT / "benchmarks"))  # what a benchmark measures is drawn here by its own functions


def camera() -> None:
    """Blur and precision of R12-E."""
    write_figure(camera_figure(summarise(preset("r12-e"))), IMAGES / "r12-e.png")


def noise() -> None:
    """Noise of the tracer over rays per pixel, beside that of random rays."""
    optics = preset("r12-mini")
    texture = noise_image(2000, 1500, seed=1)
    pose = Pose(np.eye(3), np.array([0, 0, 1200.0]))
    scene = Scene((Rectangle(800, 600, pose, Material(texture=texture, emits=True)),))
    truth = render(scene, optics, RenderSettings(rays=8192, seed=99)).light
    counts = 2 ** np.arange(11)
    errors = [
        float(np.sqrt(((render(scene, optics, RenderSettings(rays=int(n), seed=1)).light - truth) ** 2).mean()))
        for n in counts
    ]
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.loglog(counts, errors, "o-", color=BLUE, label="scrambled Sobol")
    axes.loglog(counts, errors[0] / np.sqrt(counts), "--", color=GRAY, label="random rays: 1/√n")
    axes.set_xlabel("rays per pixel")
    axes.set_ylabel("noise (RMS, white = 1)")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    axes.grid(True, **GRID)
    axes.legend()
    write_figure(figure, IMAGES / "noise.png")


def figurines() -> None:
    """The example scene at full size: raw image, a detail of it, ground-truth depth, lidar cloud."""
    path = ROOT / "examples" / "scenes" / "figurines.yaml"
    scene = load_scene(path)
    settings = FrameSettings(
        RenderSettings(rays=64), SensorSettings(bit_depth=8), [lidar_for_scene(scene, 300_000, range_sigma=1.0)]
    )
    with tempfile.TemporaryDirectory() as folder:
        frame = Path(folder) / "figurines"
        info = simulate_scene(scene, preset("r12-e"), frame, settings).info
        print(f"{info.rays / 1e6:.0f} million rays, {info.cpu_seconds:.0f} CPU-seconds")
        raw = _display(read_image(frame / "raw.png"))
        depth = read_float_map(frame / "depth.tiff")
        cloud = read_ply(frame / "lidar.ply")
    height = raw.shape[0] * WIDTH // raw.shape[1]
    _write_jpeg("figurines-raw.jpg", cv2.resize(raw, (WIDTH, height), interpolation=cv2.INTER_AREA))
    _write_jpeg("figurines-detail.jpg", np.kron(raw[1450:1650, 900:1200], np.ones((4, 4, 1), np.uint8)))
    figure = Figure(figsize=(9, 6.6), layout="constrained")
    axes = figure.subplots()
    shown = axes.imshow(depth[::3, ::3], cmap="viridis_r", interpolation="nearest", extent=(0, 4080, 3068, 0))
    figure.colorbar(shown, label="z [mm]", shrink=0.8)
    axes.set_title("ground truth: depth along the chief ray of every pixel")
    write_figure(figure, IMAGES / "figurines-depth.png", dpi=110)
    _draw_cloud(cloud["points"], cloud["colors"])


def _write_jpeg(name: str, image: np.ndarray) -> None:
    cv2.imwrite(str(IMAGES / name), image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 85])


def _display(raw: np.ndarray) -> np.ndarray:
    """Linear light as a screen shows it, brightened to fill its range."""
    light = np.clip(raw / np.quantile(raw, 0.995), 0, 1)
    return np.rint(255 * light ** (1 / 2.2)).astype(np.uint8)


def _draw_cloud(points: np.ndarray, colors: np.ndarray) -> None:
    """The scan as its scanner sees it (x forwards, y left, z up) and from above."""
    shade = np.clip(colors / 255, 0, 1) ** (1 / 2.2)
    figure = Figure(figsize=(11, 5), layout="constrained")
    front, above = figure.subplots(1, 2)
    order = np.argsort(-points[:, 0])  # far ones first
    ahead = points[order]
    front.scatter(-ahead[:, 1] / ahead[:, 0], ahead[:, 2] / ahead[:, 0], s=0.3, c=shade[order], linewidths=0)
    front.set_title("as the scanner sees it")
    front.set_xlabel("right / forwards")
    front.set_ylabel("up / forwards")
    above.scatter(-points[:, 1], points[:, 0], s=0.3, c=shade, linewidths=0)
    above.set_title("from above")
    above.set_xlabel("right [mm]")
    above.set_ylabel("forwards [mm]")
    for axes in (front, above):
        axes.set_aspect("equal")
        axes.set_facecolor("#222222")
    write_figure(figure, IMAGES / "figurines-lidar.png", dpi=110)


def depth() -> None:
    """Depth of the example scene at N = 4 with the depth scale of R12-ES: per micro-image, and per pixel.

    That depth scale is for depths without an aperture model.
    """
    optics = preset("r12-es")
    scene = ROOT / "examples" / "scenes" / "figurines.yaml"
    settings = FrameSettings(RenderSettings(rays=32))
    with tempfile.TemporaryDirectory() as folder:
        frame, white = Path(folder) / "figurines", Path(folder) / "white"
        simulate_scene(load_scene(scene), optics, frame, settings)
        simulate_white(4.0, optics, white, settings)
        image = load_raw(frame / "raw.png", optics, white=white / "raw.png")
    unaware = DepthSettings(aperture_model="off")
    coarse = estimate_depth(image, optics, unaware).metric
    refined = estimate_depth(image, optics, replace(unaware, refined=True), FilterSettings(consistency=True)).metric
    assert coarse is not None
    assert refined is not None
    write_image(depth_picture(coarse.depth, "one depth per micro-image", "mm"), IMAGES / "figurines-coarse.png")
    title = "one depth per pixel, where neighbouring views agree"
    write_image(depth_picture(_block_medians(refined.depth, 6), title, "mm"), IMAGES / "figurines-refined.png")


def _block_medians(values: np.ndarray, side: int) -> np.ndarray:
    """Medians of what is there in blocks of side × side px; gaps would flicker in a small picture."""
    rows, columns = (size // side for size in values.shape)
    blocks = values[: rows * side, : columns * side].reshape(rows, side, columns, side).swapaxes(1, 2)
    blocks = np.sort(blocks.reshape(rows, columns, -1), axis=-1)  # NaN comes last
    count = np.isfinite(blocks).sum(axis=-1)
    return np.take_along_axis(blocks, np.maximum(count - 1, 0)[..., None] // 2, axis=-1)[..., 0]


def sigma() -> None:
    """Share of errors within t σ, expected and observed, on the walls of bench_depth.py."""
    from bench_depth import COARSE, DISTANCES, REFINED, SIGMA_NOISES, calibration, share_below

    t = np.linspace(0, 3, 61)
    expected = 100 * erf(t / np.sqrt(2))
    figure = Figure(figsize=(9, 4.9), layout="constrained")
    for axes, (title, settings) in zip(
        figure.subplots(1, 2, sharey=True), (("per micro-image", COARSE), ("per pixel", REFINED)), strict=True
    ):
        axes.plot([0, 100], [0, 100], "--", color=GRAY, label="σ is true")
        for name, color in zip(DISTANCES, (BLUE, ORANGE), strict=True):
            for noise, style in zip(SIGMA_NOISES, (":", "-", "-."), strict=True):
                ratios = calibration(settings, name, noise)
                observed = [100 * share_below(ratios, limit) for limit in t]
                label = f"{name.upper()}, {100 * noise:g} % noise added"
                axes.plot(expected, observed, style, color=color, linewidth=1.4, label=label)
        for limit in (1, 2):
            axes.axvline(100 * erf(limit / np.sqrt(2)), color="#cccccc", linewidth=0.8)
            axes.text(100 * erf(limit / np.sqrt(2)) - 1, 3, f"{limit} σ", ha="right", color="#777777")
        axes.set_title(title)
        axes.set_xlabel("errors expected within t σ [%]")
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.set_aspect("equal")
        axes.grid(True, **GRID)
    figure.axes[0].set_ylabel("errors observed within t σ [%]")
    figure.axes[0].legend(fontsize=7.5, loc="upper left")
    write_figure(figure, IMAGES / "sigma.png", dpi=110)


def blur() -> None:
    """Errors over distance, blur aware (B) and by disparity only (D), on the walls of bench_depth.py."""
    from bench_depth import B_AND_D, DISTANCES, errors

    lines = {
        "coarse B": (BLUE, "o-"),
        "coarse D": (ORANGE, "o-"),
        "refined B": (BLUE, "s--"),
        "refined D": (ORANGE, "s--"),
    }
    figure = Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col", sharey="row")
    for column, (name, distances) in enumerate(DISTANCES.items()):
        for label, (color, style) in lines.items():
            found = [errors(name, depth, B_AND_D[label]) for depth in distances]
            for axes, values in zip(
                panels[:, column], ([e.typical for e in found], [e.spread for e in found]), strict=True
            ):
                axes.plot(distances, 100 * np.array(values), style, color=color, markersize=4, label=label)
        panels[0, column].set_title(f"{name.upper()} at f/1.4")
        panels[1, column].set_xlabel("distance [mm]")
    panels[0, 0].set_ylabel("median |error| [% of z]")
    panels[1, 0].set_ylabel("median absolute deviation [% of z]")
    for axes in panels.flat:
        axes.set_ylim(0, None)
        axes.grid(True, **GRID)
    panels[0, 1].legend(fontsize=8, ncols=2)
    write_figure(figure, IMAGES / "blur-and-disparity.png", dpi=110)


FIGURES = {"camera": camera, "noise": noise, "figurines": figurines, "depth": depth, "sigma": sigma, "blur": blur}

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        print(f"==> {name}")
        FIGURES[name]()
