"""Depth of a raw image, written as the files that `plenodepth depth` writes.

Files to try it on, typed in the folder of this project:

    plenodepth simulate scene examples/scenes/plane.yaml --camera r12-mini --out scene
    plenodepth simulate white --camera r12-mini --out white
    python examples/depth.py scene/raw.png r12-mini white/raw.png depth
"""

import sys

import numpy as np

import plenodepth


def main(raw: str, camera_source: str, white: str, out: str) -> None:
    """Estimate one depth per micro-image, say what came out, and save it."""
    camera = plenodepth.load_camera(camera_source)  # a preset's name or a camera file
    image = plenodepth.load_raw(raw, camera, white=white)
    depth = plenodepth.estimate_depth(image, camera)  # DepthSettings(refined=True): one depth per pixel

    found = np.isfinite(depth.z)  # missing depth is NaN
    print(f"{found.sum()} of {found.size} micro-images have a depth, at {np.median(depth.z[found]):.0f} mm (median)")
    print(f"σ {np.median(depth.sigma[found]):.1f} mm, confidence {np.median(depth.confidence[found]):.2f} (medians)")
    print(f"{len(depth.points)} points; the first is at {np.round(depth.points[0], 1)} mm")
    for path in depth.save(out):
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
