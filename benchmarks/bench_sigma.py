"""Whether σ is true on scenes, how well it orders depths, what confidence is worth, and what widening σ costs.

    pytest benchmarks/bench_sigma.py -s -o python_files="bench_*.py"

Scenes of R12-ELP20 that nothing was fitted to, full size, the true camera: two at f/4 with the aperture undone per
pixel, one at f/1.4 where there is nothing to undo. It takes about three minutes on two cores. All depths are judged,
wrong ones too. An outlier is a depth that is more than 5 % of z off.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import plenodepth
from plenodepth.camera import PlenopticCamera
from plenodepth.depth import estimate
from plenodepth.depth.settings import DepthSettings
from plenodepth.evaluate import compare_sigma
from plenodepth.evaluate.maps.sparsification import sparsification_curves
from plenodepth.metric import metric_depth_map
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import elp20_scene, twin
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white
from plenodepth.sim.truth import GroundTruth

SCENES = (("plane-2", 0, 4.0), ("figurines-1", 0, 4.0), ("figurines-1", 3, 1.4))  # seeds and f-numbers
RAYS = 32
EVERY = 11  # of the pixels of a refined map
OUTLIER = 0.05  # of z
BANDS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 1.01)  # of confidence
LARGEST_COST = {False: 0.1, True: 0.3}  # CPU-seconds, coarse and refined; printed, and asserted with room for noise

Float64 = NDArray[np.float64]


class Scene(NamedTuple):
    """A frame and its truth."""

    name: str
    camera: PlenopticCamera
    image: plenodepth.RawImage
    truth: GroundTruth


@dataclass(frozen=True, eq=False)
class Judged:
    """Errors and σ, relative to z, and confidences (n,); CPU-seconds that widening σ took."""

    error: Float64
    sigma: Float64
    of_match: Float64  # σ as the search leaves it
    confidence: Float64
    cost: float


@cache
def camera(f_number: float) -> PlenopticCamera:
    found = twin("r12-elp20").camera
    return replace(found, main_lens=replace(found.main_lens, f_number=f_number), depth_scale=None)


@pytest.fixture(scope="module", params=SCENES, ids=lambda scene: f"{scene[0]} at f/{scene[2]:g}")
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """The frame of a scene."""
    name, seed, f_number = request.param
    folder, mine, settings = tmp_path_factory.mktemp(name), camera(f_number), FrameSettings(RenderSettings(rays=RAYS))
    frame = simulate_scene(elp20_scene(name, mine, 1.0, False, seed), mine, folder / "scene", settings)
    assert frame.truth is not None
    if f_number > 2:
        simulate_white(f_number, mine, folder / "white", settings)
        image = plenodepth.load_raw(folder / "scene" / "raw.png", mine, white=folder / "white" / "raw.png")
    else:
        image = plenodepth.load_raw(folder / "scene" / "raw.png", mine, devignetting="none")
    return Scene(f"{name} at f/{f_number:g}", mine, image, frame.truth)


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
def test_sigma_on_a_scene(scene: Scene, refined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = judged(scene, refined, monkeypatch)
    print(f"\n{scene.name}, {'refined' if refined else 'coarse'}", end="")
    outliers = found.error > OUTLIER
    print(f": median error {100 * np.median(found.error):.2f} %, outliers {100 * outliers.mean():.2f} %")
    print("| σ | within 1 σ % | 2 σ % | 3 σ % | area % of z | oracle % | ratio | if σ were true |")
    print("|---|---|---|---|---|---|---|---|")
    within = {}
    for label, sigma in (("of the match", found.of_match), ("of the depth", found.sigma)):
        result = compare_sigma(found.error, sigma)
        ratio = found.error / sigma
        within[label] = [float((ratio < t).mean()) for t in (1, 2, 3)]
        area, oracle = areas(found.error, sigma)
        drawn = sigma * np.abs(np.random.default_rng(0).standard_normal(len(sigma)))
        ideal = np.divide(*areas(drawn, sigma))
        shares = " | ".join(f"{100 * share:.1f}" for share in within[label])
        print(f"| {label} | {shares} | {100 * area:.3f} | {100 * oracle:.3f} | {area / oracle:.2f} | {ideal:.2f} |")
        assert result.without_sigma == 0
    print("wrong of a confidence: ", end="")
    for low, high in pairwise(BANDS):
        mine = (found.confidence >= low) & (found.confidence < high)
        share = f"{100 * outliers[mine].mean():.1f} % of the {100 * mine.mean():.1f} %"
        print(f"{low:g} … {min(high, 1):g}: {share}; ", end="")
    print(f"\nwidening σ: {found.cost:.3f} CPU-s (at most {LARGEST_COST[refined]:g} are wanted)")
    one, two, _ = within["of the depth"]
    assert 0.60 < one < 0.76
    assert two >= 0.93
    assert two > within["of the match"][1]
    assert found.cost < 1.5 * LARGEST_COST[refined]


def judged(scene: Scene, refined: bool, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """The depths of a scene against the truth."""
    mine = scene.camera
    widen, cost, before = estimate.widen_sigma, [], []

    def timed(tiles, views, maps, *rest) -> None:  # type: ignore[no-untyped-def]
        before[:] = [maps.sigma.copy()]
        with ThreadPoolExecutor(1) as pool:
            start = time.process_time()
            widen(tiles, views, maps, *rest[:-1], pool)
            cost.append(time.process_time() - start)

    monkeypatch.setattr(estimate, "widen_sigma", timed)
    settings = DepthSettings(refined=refined)
    for _ in range(2):  # the first compiles
        found = estimate.estimate_virtual_depth(scene.image, mine, settings)
    assert found.aperture_model == ("per_pixel" if mine.main_lens.f_number == 4 else "off")
    of_match = metric_depth_map(replace(found, sigma=before[0]), mine).sigma
    metric = metric_depth_map(found, mine)
    true = scene.truth.depth if refined else scene.truth.lens_depth
    there = np.flatnonzero(np.isfinite(metric.depth) & np.isfinite(true))[:: EVERY if refined else 1]
    z, sigma, match, confidence, true = (
        values.ravel()[there].astype(np.float64)
        for values in (metric.depth, metric.sigma, of_match, metric.confidence, true)
    )
    return Judged(np.abs(z - true) / true, sigma / z, match / z, confidence, min(cost))


def areas(error: Float64, sigma: Float64) -> tuple[float, float]:
    """Areas under the curves of the mean error of what is left, by σ and by the oracle."""
    curves = sparsification_curves(error, -sigma)
    return float(np.trapezoid(curves.by_confidence, curves.removed)), float(np.trapezoid(curves.oracle, curves.removed))
