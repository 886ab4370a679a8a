"""Draws the figures of depth-scale.md into docs/images: `python docs/figures_scale.py [FIGURE …]`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from plenodepth.calib.scale.prediction import predict_scale
from plenodepth.camera import PlenopticCamera, lens_distances, preset, unscaled_depth, virtual_from_metric
from plenodepth.camera.aperture.clipping import aperture_table, disc_of_pupil, open_lens
from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.chief_rays import spots_of, with_uniform_blur
from plenodepth.depth.aperture.resampling import ray_positions
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import empty_tiles, smoothing_of
from plenodepth.depth.views import plan_views
from plenodepth.raw.vignetting import model_white_image
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.simulate import white_scene
from plenodepth.view import write_figure

IMAGES = Path(__file__).resolve().parent / "images"
TYPE_COLORS = ("#0072b2", "#d55e00", "#009e73")
OPEN, LENS, PUPIL = "#ffd27f", "#0072b2", "#d55e00"
DEPTH = 600.0  # mm, of the examples
# Median error, %, of coarse depth maps of traced walls of noise, without any correction (bench_aperture prints such).
MEASURED = {
    2.8: {500: 4.53, 900: 2.88, 1500: 1.36},
    4.0: {500: 22.01, 600: 21.10, 700: 19.10, 800: 17.83, 900: 16.58, 1000: 15.38, 1100: 13.82, 1200: 11.76,
          1300: 10.37, 1400: 8.79, 1500: 7.25, 1600: 5.85, 1700: 4.34, 1800: 2.67, 1900: 1.49},
    5.6: {500: 47.66, 900: 32.18, 1500: 13.06},
    8.0: {500: 82.56, 700: 62.02, 900: 49.37, 1300: 28.80, 1700: 10.43},
}  # fmt: skip
APERTURE_COLORS = (*TYPE_COLORS, "#cc79a7")


def small() -> PlenopticCamera:
    """R12-ES on a small sensor, without Γ."""
    return replace(shrunk(preset("r12-es")), depth_scale=None)


def discs() -> None:
    """What three pixels see of their lens."""
    camera, pixel = small(), small().sensor.pixel_size
    half = camera.micro_lenses.lens_diameter / 2 / pixel
    ratio, radius = disc_of_pupil(*lens_distances(camera), 0, camera)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axes, x in zip(figure.subplots(1, 3, sharey=True), (0.0, 4.0, 8.0), strict=True):
        part = open_lens(x * pixel, 0, camera)
        lens, pupil = Circle((0, 0), half, fill=False), Circle((float(ratio) * x, 0), float(radius) / pixel, fill=False)
        axes.add_patch(lens)
        axes.add_patch(pupil)
        area = Circle((0, 0), half, color=OPEN, linewidth=0)
        axes.add_patch(area)
        area.set_clip_path(pupil)
        for patch, color in ((lens, LENS), (pupil, PUPIL)):
            patch.set(edgecolor=color, linewidth=2, zorder=3)
        axes.plot(part.centroid / pixel, 0, "k+", markersize=12, markeredgewidth=2, zorder=4)
        axes.set_title(f"pixel at x = {x:g} px: {100 * part.area:.0f} % open, ȳ = {part.centroid / pixel:.1f} px")
        axes.set(xlim=(-19, 38), ylim=(-19, 19), aspect="equal", xlabel="on the micro-lens [px]")
    write_figure(figure, IMAGES / "aperture-discs.png", dpi=110)


def shift() -> None:
    """Vignetting, and where pixels look, over the micro-image."""
    camera = small()
    table, inverse = aperture_table(camera), 1 / float(virtual_from_metric(DEPTH, camera))
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    light, look = figure.subplots(1, 2)
    white = render(white_scene(camera), camera, RenderSettings(rays=256)).light[..., 0]
    _profiles(light, camera, white, "o", "traced")
    for lens_type, color in enumerate(TYPE_COLORS):
        light.plot(table.radius, table.area[lens_type], color=color, label=f"type {lens_type}, model")
        looked = table.effective_radius(lens_type, inverse)
        look.plot(table.radius, looked - table.radius, color=color, label=f"type {lens_type}")
    light.set(
        xlabel="distance from the micro-image's centre [px]", ylabel="open part of the lens", title="white image at f/4"
    )
    look.set(
        xlabel="pixel's distance x from the centre [px]",
        ylabel="x_eff − x [px]",
        title=f"where pixels look, at f/4 and {DEPTH:g} mm",
    )
    look.axhline(0, color="#999999", linewidth=0.8)
    for axes in (light, look):
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.legend()
    write_figure(figure, IMAGES / "aperture-shift.png", dpi=110)


def spots() -> None:
    """How wide the spots of pixels are, before and after a tile is made even."""
    camera, settings = small(), DepthSettings(aperture_model="per_pixel")
    table, tiles = aperture_table(camera), empty_tiles(camera, settings, "per_pixel")
    smoothing = smoothing_of(settings, "per_pixel")
    inverse = plan_views(camera, settings, 0.0, "per_pixel").inverse_depths.astype(np.float64)
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axes, depth in zip(figure.subplots(1, 2, sharey=True), (DEPTH, 1200.0), strict=True):
        nearest = int(np.argmin(np.abs(inverse - 1 / float(virtual_from_metric(depth, camera)))))
        _, uniform, share = ray_positions(table, 0, inverse, smoothing, tiles)
        raw = spots_of(table, 0, inverse, smoothing)
        even = with_uniform_blur(table.radius, raw, uniform, share, float(tiles.blur_unit))
        for found, style, label in ((raw, "--", "as it is"), (even, "-", "made even")):
            axes.plot(table.radius, found.along[nearest], style, color=LENS, label=f"along the radius, {label}")
            axes.plot(table.radius, found.across[nearest], style, color=PUPIL, label=f"across, {label}")
        axes.axvspan(float(tiles.radius), table.radius[-1], color="0.9", label="not compared")
        axes.set(title=f"{depth:g} mm", xlabel="pixel's distance from the centre [px]", xlim=(0, table.radius[-1]))
    figure.axes[0].set(ylabel="variance of the spot [px²]", ylim=(0, None))
    figure.axes[1].legend()
    write_figure(figure, IMAGES / "aperture-spots.png", dpi=110)


def _profiles(axes: Axes, camera: PlenopticCamera, image: np.ndarray, marker: str, label: str) -> None:
    """Mean of an image over rings of the micro-images of each type."""
    rows, columns = np.indices(image.shape)
    where = np.stack([columns, rows], axis=-1)
    k, l = camera.micro_images.owner(where)
    distance = np.linalg.norm(where - camera.micro_images.center(k, l), axis=-1)
    for lens_type, color in enumerate(TYPE_COLORS):
        mine = (k >= 0) & (camera.micro_images.lens_type(k, l) == lens_type)
        rings = np.arange(0.5, 12.0)
        means = [image[mine & (np.abs(distance - ring) < 0.1)].mean() for ring in rings]
        axes.plot(rings, means, marker, color=color, markersize=5, label=f"type {lens_type}, {label}")


def white() -> None:
    """Model and traced white image, and their difference."""
    camera = small()
    figure = Figure(figsize=(11, 4), layout="constrained")
    traced = render(white_scene(camera), camera, RenderSettings(rays=256)).light[..., 0]
    model = model_white_image(camera)
    part = np.s_[150:230, 200:300]
    titles = ("model at f/4", "traced", "model − traced")
    for axes, image, title in zip(figure.subplots(1, 3), (model, traced, model - traced), titles, strict=True):
        limit = (
            {"vmin": 0, "vmax": 1, "cmap": "gray"}
            if title != titles[2]
            else {"vmin": -0.05, "vmax": 0.05, "cmap": "RdBu"}
        )
        shown = axes.imshow(image[part], **limit)
        axes.set_title(title)
        axes.set_axis_off()
        figure.colorbar(shown, ax=axes, shrink=0.7)
    write_figure(figure, IMAGES / "white-model.png", dpi=110)


def scale() -> None:
    """Predicted and measured error of depth."""
    camera = small()
    depths = np.arange(500.0, 2000.0, 100.0)
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for number, color in zip(MEASURED, APERTURE_COLORS, strict=True):
        for method, style in (("matching", "-"), ("slope", ":")):
            predicted = predict_scale(camera, number, depths, method=method)
            axes.plot(depths, 100 * predicted.relative_error, style, color=color, label=f"f/{number:g}, {method}")
        points = MEASURED[number]
        axes.plot(list(points), list(points.values()), "o", color=color, label=f"f/{number:g}, measured")
    theirs = unscaled_depth(depths, preset("r12-es"))
    axes.plot(depths, 100 * (theirs / depths - 1), "--", color="#333333", label="the paper's Γ⁻¹ (f/4)")
    axes.set(xlabel="true distance [mm]", ylabel="depth found, too large by [%]", title="R12-ES without correction")
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.legend(ncols=2)
    write_figure(figure, IMAGES / "predicted-scale.png", dpi=110)


FIGURES = {"discs": discs, "shift": shift, "spots": spots, "white": white, "scale": scale}

if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        print(f"==> {name}")
        FIGURES[name]()
