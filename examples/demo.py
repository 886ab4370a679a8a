"""The whole chain on a simulated scene: raw image, depth per micro-image and per pixel, compared with the truth.

python examples/demo.py OUT
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from plenodepth.camera import preset
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import read_float_map, read_image
from plenodepth.metric.frame import estimate_depth, write_frame
from plenodepth.raw import load_raw
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white
from plenodepth.view import depth_figure, save_figure

SCENE = Path(__file__).parent / "scenes" / "figurines.yaml"
RAYS = 12  # per pixel: grainy, and quick


def main(out: Path) -> None:
    """Simulate, estimate, compare; print what came out and where it is."""
    camera = preset("r12-es")  # at its own f-number, 4: the aperture's effect on depth can be undone
    settings = FrameSettings(RenderSettings(rays=RAYS))
    info = simulate_scene(SCENE, camera, out / "scene", settings).info
    print(f"raw image     {out}/scene/raw.png ({info.rays / 1e6:.0f} million rays, {info.seconds:.0f} s)")
    simulate_white(4.0, camera, out / "white", settings)
    image = load_raw(out / "scene" / "raw.png", camera, white=out / "white" / "raw.png")
    boundary = read_image(out / "scene" / "boundary.png") > 0
    for refined in (False, True):
        frame = estimate_depth(image, camera, DepthSettings(refined=refined))
        folder = out / ("refined" if refined else "coarse")
        folder.mkdir(parents=True, exist_ok=True)
        write_frame(frame, folder)
        assert frame.metric is not None
        save_figure(depth_figure(frame.metric.depth, folder.name, "mm"), folder / "depth.png", dpi=110)
        truth = read_float_map(out / "scene" / ("depth.tiff" if refined else "lens_depth.tiff"))
        error = np.abs(frame.metric.depth / truth - 1)
        if refined:
            error = error[~boundary]
        error = error[np.isfinite(error)]
        shares = (
            f"{100 * frame.virtual.valid_fraction:.0f} % with depth, {100 * (error < 0.05).mean():.0f} % within 5 %"
        )
        cost = f"{frame.summary['cpu_seconds']:.1f} CPU-seconds"
        print(f"{folder.name:13s} {folder}/depth.png, {folder}/raw.ply")
        print(f"{'':13s} median error {100 * np.median(error):.1f} %, {shares}, {cost}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
