"""Rendered views against the truth, side by side with patch tiling, the open converters' method.

    pytest benchmarks/bench_views.py -s -o python_files="bench_*.py"

Scenes of examples/scenes through R12-ES at f/4, full size, own depth, 32 rays per pixel. It takes about five minutes on
two cores. Asked of the all-in-focus view: 32 dB, and 3 dB more than tiling; edges sharper than through any lens type
alone, at every distance. Light is compared as it comes: no gain is fitted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import plenodepth
from plenodepth.camera import PlenopticCamera, central_pinhole, preset
from plenodepth.evaluate import ViewComparison, compare_view
from plenodepth.render import all_in_focus
from plenodepth.sim import FrameSettings, RenderSettings, load_scene, simulate_scene, simulate_white, true_view
from plenodepth.studies.views.tiling import tiled_view

SCENES = Path(__file__).parents[1] / "examples" / "scenes"
RAYS, SCALES = 32, (2, 4, 8)
DISTANCES = (500, 650, 850, 1100, 1400)  # mm, of the boards of edges.yaml
ASKED_GAIN, ASKED_PSNR = 3.0, 32.0  # dB


@cache
def camera() -> PlenopticCamera:
    return preset("r12-es")


@dataclass(frozen=True, eq=False)
class Shot:
    """A scene's name, and the depth of its raw image with the dense view."""

    name: str
    depth: plenodepth.DepthResult

    def compared(self, light: NDArray[np.float32], scale: int) -> ViewComparison:
        """A view of it against the truth."""
        shape = camera().sensor.height // scale, camera().sensor.width // scale
        truth = true_view(load_scene(SCENES / f"{self.name}.yaml"), central_pinhole(camera(), scale), shape)
        return compare_view(light, truth.light, truth.depth)

    def tiled(self, scale: int, lens_type: int | None = None) -> ViewComparison:
        """The baseline."""
        virtual = self.depth.virtual.virtual_depth
        return self.compared(tiled_view(self.depth.image, camera(), virtual, scale=scale, lens_type=lens_type), scale)


@pytest.fixture(scope="module")
def white(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("white") / "white"
    simulate_white(4.0, camera(), folder, FrameSettings(RenderSettings(rays=RAYS)))
    return folder / "raw.png"


def shot(name: str, white: Path, folder: Path) -> Shot:
    simulate_scene(SCENES / f"{name}.yaml", camera(), folder / name, FrameSettings(RenderSettings(rays=RAYS)))
    image = plenodepth.load_raw(folder / name / "raw.png", camera(), white=white)
    return Shot(name, plenodepth.estimate_depth(image, camera(), dense=plenodepth.DenseSettings(enabled=True)))


@pytest.mark.parametrize("name", ["figurines", "plane", "shapes"])
def test_all_in_focus_against_tiling(name: str, white: Path, tmp_path: Path) -> None:
    made = shot(name, white, tmp_path)
    print(f"\n{name}\n| px of the sensor | PSNR, tiled | all in focus | gain dB | SSIM, tiled | all in focus | CPU-s |")
    print("|---|---|---|---|---|---|---|")
    gains = {}
    for scale in SCALES:
        start = time.process_time()
        light = all_in_focus(made.depth, scale=scale).light
        cost = time.process_time() - start
        tiled, ours = made.tiled(scale), made.compared(light, scale)
        gains[scale] = ours.psnr - tiled.psnr
        numbers = f"{tiled.psnr:.2f} | {ours.psnr:.2f} | {gains[scale]:+.2f} | {tiled.ssim:.3f} | {ours.ssim:.3f}"
        print(f"| {scale} | {numbers} | {cost:.1f} |")
        if scale == SCALES[0]:
            reached = ours.psnr
            assert ours.completeness > 0.999
    asked, found = f"{ASKED_PSNR:g} dB, {ASKED_GAIN:+g} dB", f"{reached:.2f} dB, {gains[SCALES[0]]:+.2f} dB"
    print(f"at {SCALES[0]} px: asked {asked}, reached {found}")
    assert min(gains.values()) > 0


def test_edges_are_sharper_than_through_any_lens_type_alone(white: Path, tmp_path: Path) -> None:
    made = shot("edges", white, tmp_path)
    views = {f"type {index}": made.tiled(2, index) for index in range(camera().type_count)}
    views |= {"tiled, all": made.tiled(2)}
    views |= {"not sharpened": made.compared(all_in_focus(made.depth, sharpen=False).light, 2)}
    views |= {"all in focus": made.compared(all_in_focus(made.depth).light, 2)}
    print(f"\nMTF50 [cycles per px of the view]\n| mm | {' | '.join(views)} |\n|{'---|' * (len(views) + 1)}")
    for distance in DISTANCES:
        found = {name: _mtf50(view, distance) for name, view in views.items()}
        print(f"| {distance} | {' | '.join(f'{value:.4f}' for value in found.values())} |")
        assert found["all in focus"] > max(value for name, value in found.items() if name.startswith("type"))


def _mtf50(view: ViewComparison, distance: float) -> float:
    """Median over the edges of a board."""
    return float(np.nanmedian([edge.mtf50 for edge in view.edges if abs(edge.depth - distance) < 5]))
