"""The whole chain on a simulated scene: raw image, depth per micro-image and per pixel, compared with the truth.

python examples/demo.py OUT
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import plenodepth
from plenodepth.io import read_float_map, read_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import FrameSettings

SCENE = Path(__file__).parent / "scenes" / "figurines.yaml"
RAYS = 12  # per pixel: grainy, and quick


def main(out: Path) -> None:
    """Simulate, estimate, compare; print what came out and where it is."""
    camera = plenodepth.preset("r12-es")  # at its own f-number, 4: the aperture's effect on depth can be undone
    settings = FrameSettings(RenderSettings(rays=RAYS))
    info = plenodepth.simulate_scene(SCENE, camera, out / "scene", settings).info
    print(f"raw image     {out}/scene/raw.png ({info.rays / 1e6:.0f} million rays, {info.seconds:.0f} s)")
    plenodepth.simulate_white(4.0, camera, out / "white", settings)
    image = plenodepth.load_raw(out / "scene" / "raw.png", camera, white=out / "white" / "raw.png")
    boundary = read_image(out / "scene" / "boundary.png") > 0
    for refined in (False, True):
        depth = plenodepth.estimate_depth(image, camera, plenodepth.DepthSettings(refined=refined))
        folder = out / ("refined" if refined else "coarse")
        depth.save(folder)
        truth = read_float_map(out / "scene" / ("depth.tiff" if refined else "lens_depth.tiff"))
        error = np.abs(depth.z / truth - 1)
        if refined:
            error = error[~boundary]
        error = error[np.isfinite(error)]
        there, good = 100 * depth.virtual.valid_fraction, 100 * (error < 0.05).mean()
        print(f"{folder.name:13s} {folder}/raw.png, {folder}/raw.ply")
        shares = f"{there:.0f} % with depth, {good:.0f} % within 5 %"
        print(f"{'':13s} median error {100 * np.median(error):.1f} %, {shares}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
