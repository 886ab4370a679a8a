"""Depth against the truth: how far off it is, and whether confidence and σ are worth anything.

Files to try it on, typed in the folder of this project:

    plenodepth simulate scene examples/scenes/plane.yaml --camera r12-mini --out scene
    plenodepth simulate white --camera r12-mini --out white
    python examples/evaluation.py scene r12-mini white/raw.png
"""

import sys
from pathlib import Path

import plenodepth
from plenodepth.evaluate import compare_sigma, depth_differences, sparsification_curves
from plenodepth.io import read_float_map


def main(frame: str, camera_source: str, white: str) -> None:
    """Estimate the depth of a simulated frame and compare it with the frame's true depth."""
    camera = plenodepth.load_camera(camera_source)
    image = plenodepth.load_raw(Path(frame) / "raw.png", camera, white=white)
    depth = plenodepth.estimate_depth(image, camera)
    truth = read_float_map(Path(frame) / "lens_depth.tiff")  # one true depth per micro-image, mm

    differences = depth_differences(depth.z, truth)
    print(f"difference {differences.median:.1f} mm (median), bias {differences.bias:+.1f} mm")
    print(f"{100 * differences.completeness:.0f} % of the micro-images have a depth")
    print(f"{differences.bad_parts[0.05]:.1f} % of these are off by more than 5 %")
    order = sparsification_curves(differences.signed, depth.confidence)
    print(f"confidence: gain {order.gain:.2f} (1: orders errors perfectly, 0: says nothing)")
    sigma = compare_sigma(differences.signed, depth.sigma)
    print(f"σ: errors are {sigma.spread:.1f} times as large as it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
