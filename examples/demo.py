"""The whole chain on a simulated scene: raw image, depth per micro-image, per pixel and dense, compared with the truth.

python examples/demo.py OUT
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import plenodepth
from plenodepth.io import read_image
from plenodepth.metric import MetricDepthMap, central_points
from plenodepth.metric.central_view import central_view
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import FrameSettings, SimulatedFrame
from plenodepth.view.figures import cloud_picture, overview_figure, write_figure

SCENE = Path(__file__).parent / "scenes" / "figurines.yaml"
RAYS = 12  # per pixel: grainy, and quick
ENLARGED = slice(1230, 1440), slice(700, 980)  # rows and columns of the raw image: an ear of the cat before the tower
STEEPEST = 4.0  # mm per pixel of the central view: what is steeper is no surface but the step between two


def main(out: Path) -> None:
    """Simulate, estimate, compare; print what came out and where it is."""
    began = time.perf_counter()
    camera = plenodepth.preset("r12-es")  # at its own f-number, 4: the aperture's effect on depth can be undone
    settings = FrameSettings(RenderSettings(rays=RAYS))
    frame = plenodepth.simulate_scene(SCENE, camera, out / "scene", settings)
    print(f"raw image    {out}/scene/raw.png: {frame.info.rays / 1e6:.0f} million rays", flush=True)
    plenodepth.simulate_white(4.0, camera, out / "white", settings)
    image = plenodepth.load_raw(out / "scene" / "raw.png", camera, white=out / "white" / "raw.png")
    found = {}
    for name, refined in (("coarse", False), ("refined", True)):
        dense = plenodepth.DenseSettings(enabled=not refined)
        depth = plenodepth.estimate_depth(image, camera, plenodepth.DepthSettings(refined=refined), dense=dense)
        depth.save(out / name)
        print(f"{name:12s} {out}/{name}/raw.ply and maps: {compared(depth, frame)}", flush=True)
        found[name] = depth
    draw(found["coarse"], found["refined"], frame, out / "demo.png")
    print(f"dense        {out}/coarse/raw.view.png and raw.dense.ply: the picture, with a depth for every pixel")
    print(
        f"picture      {out}/demo.png shows the raw image, the scene put together from it, and depth beside the truth"
    )
    print(f"{time.perf_counter() - began:.0f} s in all")


def compared(depth: plenodepth.DepthResult, frame: SimulatedFrame) -> str:
    """How far depth is from the truth; beside the outlines of things, where a pixel sees two depths."""
    refined = depth.virtual.refined
    truth = frame.truth.depth if refined else frame.truth.lens_depth
    error = np.abs(depth.z / truth - 1)
    error = error[~frame.truth.boundary] if refined else error
    error = error[np.isfinite(error)]
    there, good = 100 * depth.virtual.valid_fraction, 100 * (error < 0.05).mean()
    return f"{there:.0f} % have depth, median error {100 * np.median(error):.1f} %, {good:.0f} % within 5 %"


def draw(coarse: plenodepth.DepthResult, refined: plenodepth.DepthResult, frame: SimulatedFrame, path: Path) -> None:
    """One picture of everything, as a pinhole in place of the main lens sees it."""
    camera, dense = coarse.camera, coarse.dense
    depth, colors = dense.depth, dense.picture
    flat = np.hypot(*np.gradient(depth)) < STEEPEST
    view = cloud_picture(central_points(depth, camera)[flat], colors[flat])
    true_map = replace(refined.virtual, virtual_depth=frame.truth.virtual_depth.astype(np.float32))
    true_depth = MetricDepthMap(frame.truth.depth.astype(np.float32), refined.sigma, refined.confidence, True)
    figure = overview_figure(
        read_image(path.parent / "scene" / "raw.png"),
        ENLARGED,
        colors,
        view,
        central_view(true_map, camera, metric=true_depth),
        {"Depth per micro-image": coarse.central, "Dense depth": depth},
        "Depth in millimetres from one raw image of a plenoptic camera (simulated Raytrix R12 at f/4)",
    )
    write_figure(figure, path, dpi=120)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
