"""The dense central view against the truth and against the coarse one, and what it costs.

    pytest benchmarks/bench_dense.py -s -o python_files="bench_*.py"

Scenes of R12-ELP20 that nothing was chosen on, full size, f/4, the true camera. It takes about two minutes on
two cores. The truth is traced from the main lens' centre through the pixels of the view.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

import plenodepth
from plenodepth.camera import PlenopticCamera
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import read_float_map
from plenodepth.metric import central_points
from plenodepth.sim.packed_scene import pack_scene
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import elp20_scene, twin
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white
from plenodepth.sim.truth import first_hits

SCENES = ("plane-2", "figurines-1")
RAYS, SEED = 64, 0
DENSE = DenseSettings(enabled=True)
EDGE, NEAR_EDGE = 0.02, 3  # of the depth; px
LARGEST_COST = 2.5  # times the refined search


@cache
def camera() -> PlenopticCamera:
    return replace(twin("r12-elp20").camera, depth_scale=None)


@dataclass(frozen=True, eq=False)
class Judged:
    """A frame with its dense view, and the truth (h, w) of that and of the raw image's pixels."""

    result: plenodepth.DepthResult
    truth: NDArray[np.float32]
    pixel_truth: NDArray[np.float32]
    edge: NDArray[np.bool_]


@pytest.fixture(scope="module", params=SCENES)
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder, settings = tmp_path_factory.mktemp(request.param), FrameSettings(RenderSettings(rays=RAYS))
    scene = elp20_scene(request.param, camera(), 1.0, False, SEED)
    simulate_scene(scene, camera(), folder / "scene", settings)
    simulate_white(4.0, camera(), folder / "white", settings)
    image = _image(folder)
    truth = _truth(scene)
    pixel_truth = read_float_map(folder / "scene" / "depth.tiff")
    return Judged(plenodepth.estimate_depth(image, camera(), dense=DENSE), truth, pixel_truth, _edges(truth))


def _image(folder: Path) -> plenodepth.RawImage:
    return plenodepth.load_raw(folder / "scene" / "raw.png", camera(), white=folder / "white" / "raw.png")


def _truth(scene: Scene) -> NDArray[np.float32]:
    shape = (camera().sensor.height // DENSE.scale, camera().sensor.width // DENSE.scale)
    directions = central_points(np.ones(shape, np.float32), camera(), scale=DENSE.scale).reshape(-1, 3)
    depth, index = first_hits(pack_scene(scene), np.zeros_like(directions), directions)
    return np.where(index >= 0, depth, np.nan).reshape(shape).astype(np.float32)


def _edges(truth: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Pixels within `NEAR_EDGE` px of a step."""
    near, far = (
        ndimage.minimum_filter(np.nan_to_num(truth, nan=1e9), 3),
        ndimage.maximum_filter(np.nan_to_num(truth), 3),
    )
    return np.asarray(ndimage.binary_dilation(far / near - 1 > EDGE, iterations=NEAR_EDGE - 1))


def test_the_dense_view_is_complete_and_better_than_the_coarse_one(judged: Judged) -> None:
    view, truth = judged.result.dense, judged.truth
    assert view is not None
    shares = {}
    print("\n| | with depth % | median error % | > 5 % | at edges | elsewhere |\n|---|---|---|---|---|---|")
    for name, depth in (("coarse", judged.result.central), ("dense", view.depth)):
        there = np.isfinite(depth) & np.isfinite(truth)
        error = np.abs(depth / truth - 1)
        bad = [100 * float((error[there & part] > 0.05).mean()) for part in (True, judged.edge, ~judged.edge)]
        found = 100 * there.sum() / np.isfinite(truth).sum()
        shares[name] = bad
        numbers = " | ".join(f"{value:.2f}" for value in (found, 100 * np.median(error[there]), *bad))
        print(f"| {name} | {numbers} |")
    assert np.isfinite(view.depth).mean() >= 0.97
    assert shares["dense"][0] <= 3
    assert shares["dense"][1] < 0.8 * shares["coarse"][1]


def test_its_pixels_are_more_and_more_exact_than_refined_ones(judged: Judged) -> None:
    image, truth = judged.result.image, judged.pixel_truth
    shares, scatters, spreads = [], [], []
    print("\n| | with depth % | median error % | scatter % | > 5 % | within 1 σ, 2 σ % |\n|---|---|---|---|---|---|")
    for name, dense in (("refined", None), ("refined, dense", DENSE)):
        found = plenodepth.estimate_depth(image, camera(), DepthSettings(refined=True), dense=dense)
        there = np.isfinite(found.z) & np.isfinite(truth)
        error = (found.z / truth - 1)[there]
        scatter = 1.4826 * float(np.median(np.abs(error - np.median(error))))
        within = [100 * float((np.abs(found.z - truth)[there] < t * found.sigma[there]).mean()) for t in (1, 2)]
        bad = 100 * float((np.abs(error) > 0.05).mean())
        numbers = (100 * there.sum() / np.isfinite(truth).sum(), 100 * np.median(np.abs(error)), 100 * scatter, bad)
        print(f"| {name} | {' | '.join(f'{value:.2f}' for value in numbers)} | {within[0]:.0f}, {within[1]:.0f} |")
        shares.append(there.sum())
        scatters.append(scatter)
        spreads.append(within[1])
    assert shares[1] > shares[0]
    assert scatters[1] < 0.5 * scatters[0]
    assert spreads[1] >= 93


def test_sigma_and_confidence_are_true(judged: Judged) -> None:
    view, truth = judged.result.dense, judged.truth
    assert view is not None
    there = np.isfinite(view.depth) & np.isfinite(truth)
    deviation = (np.abs(view.depth - truth) / view.sigma)[there]
    print(f"\nwithin 1 σ {100 * (deviation < 1).mean():.0f} %, within 2 σ {100 * (deviation < 2).mean():.0f} %")
    right = (np.abs(view.depth / truth - 1) < 0.05)[there]
    for low, high in ((0, 0.3), (0.3, 0.6), (0.6, 0.9), (0.9, 0.99), (0.99, 1.01)):
        mine = (view.confidence[there] >= low) & (view.confidence[there] < high)
        shares = f"{100 * mine.mean():.1f} % of the pixels, {100 * right[mine].mean():.1f} % right"
        print(f"confidence {low:g} … {min(high, 1):g}: {shares}")
    assert (deviation < 2).mean() >= 0.93


def test_its_cost_over_that_of_the_refined_search(judged: Judged) -> None:
    image, settings = judged.result.image, DepthSettings(refined=True)
    estimate_virtual_depth(image, camera(), settings)  # compiles
    start = time.process_time()
    estimate_virtual_depth(image, camera(), settings)
    refined = time.process_time() - start
    stages = plenodepth.estimate_depth(image, camera(), dense=DENSE).summary.clock.stages
    dense, coarse = stages["dense"].cpu, stages["search"].cpu
    print(f"\nrefined search {refined:.1f}, dense view {dense:.1f} CPU-seconds ({dense / refined:.2f} times),", end="")
    print(f" with the coarse search {dense + coarse:.1f} ({(dense + coarse) / refined:.2f} times)")
    assert dense <= LARGEST_COST * refined
