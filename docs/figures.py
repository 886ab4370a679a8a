"""Draws the figures of the documentation into docs/images: `python docs/figures.py [FIGURE …]`. Some take minutes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
from matplotlib.figure import Figure

from plenodepth.camera import preset
from plenodepth.camera.summary import summarise
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_image, read_ply
from plenodepth.sim.lidar import settings_for
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scene import Material, Rectangle, Scene
from plenodepth.sim.scene_file import load_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene
from plenodepth.sim.textures import noise_image
from plenodepth.view import camera_figure, save_figure

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
WIDTH = 1200  # px of a picture


def camera() -> None:
    """Blur and precision of R12-E."""
    save_figure(camera_figure(summarise(preset("r12-e"))), IMAGES / "r12-e.png")


def noise() -> None:
    """Noise of the tracer over rays per pixel, beside that of random rays."""
    optics = preset("r12-mini")
    texture = noise_image(2000, 1500, seed=1)
    pose = Pose(np.eye(3), np.array([0, 0, 1200.0]))
    scene = Scene((Rectangle(800, 600, pose, Material(texture=texture, emits=True)),))
    truth = render(optics, scene, RenderSettings(rays=8192, seed=99)).light
    counts = 2 ** np.arange(11)
    errors = [
        float(np.sqrt(((render(optics, scene, RenderSettings(rays=int(n), seed=1)).light - truth) ** 2).mean()))
        for n in counts
    ]
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.loglog(counts, errors, "o-", color="#0072b2", label="scrambled Sobol")
    axes.loglog(counts, errors[0] / np.sqrt(counts), "--", color="#999999", label="random rays: 1/√n")
    axes.set_xlabel("rays per pixel")
    axes.set_ylabel("noise (RMS, white = 1)")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend()
    save_figure(figure, IMAGES / "noise.png")


def figurines() -> None:
    """The example scene at full size: raw image, a detail of it, ground-truth depth, lidar cloud."""
    path = ROOT / "examples" / "scenes" / "figurines.yaml"
    scene = load_scene(path)
    settings = FrameSettings(
        RenderSettings(rays=64), SensorSettings(bit_depth=8), settings_for(scene, 300_000, range_sigma=1.0)
    )
    with tempfile.TemporaryDirectory() as folder:
        frame = Path(folder) / "figurines"
        info = simulate_scene(preset("r12-e"), scene, frame, settings)
        print(f"{info['rays'] / 1e6:.0f} million rays, {info['cpu_seconds']:.0f} CPU-seconds")
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
    save_figure(figure, IMAGES / "figurines-depth.png", dpi=110)
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
    save_figure(figure, IMAGES / "figurines-lidar.png", dpi=110)


FIGURES = {"camera": camera, "noise": noise, "figurines": figurines}

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        print(f"==> {name}")
        FIGURES[name]()
