"""Variants of the search and of the weights on a scene with depth edges: examples/scenes/figurines.yaml at N = 1.4.

Full size, 16 rays per pixel. A micro-image or pixel is bad where its depth is more than 5 % off; at an edge some are
bad whatever the method, since one window or micro-image sees two depths there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import read_float_map, read_image
from plenodepth.metric import metric_depth_map
from plenodepth.raw import load_raw
from plenodepth.raw.image import RawImage
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene

SCENE = Path(__file__).parents[1] / "examples" / "scenes" / "figurines.yaml"
RAYS = 16
BAND = slice(1400, 1553)  # rows of a twentieth of the frame, for what would take many minutes
COARSE, REFINED = DepthSettings(), DepthSettings(refined=True)
CONFIDENCES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 1.01)
PUBLISHED = {"search": "golden", "first_hypothesis": "same_type"}
ALL_PUBLISHED = {**PUBLISHED, "weights": "constant", "equalisation": "s_transform", "margin": 1.5, "smoothing": 0.0}


@dataclass(frozen=True)
class Frame:
    """The simulated frame: what is estimated from, and the truth."""

    folder: Path
    camera: PlenopticCamera

    @cached_property
    def image(self) -> RawImage:
        return load_raw(self.folder / "raw.png", self.camera, devignetting="none")

    @cached_property
    def band(self) -> RawImage:
        """The image with nothing in it outside some rows."""
        gray = np.full_like(self.image.gray, np.nan)
        gray[BAND] = self.image.gray[BAND]
        return replace(self.image, gray=gray)

    @cached_property
    def edge(self) -> NDArray[np.bool_]:
        """Pixels within 2 px of a depth edge."""
        return read_image(self.folder / "boundary.png") > 0

    @cached_property
    def edge_lens(self) -> NDArray[np.bool_]:
        """Micro-images with an edge in them."""
        lattice = self.camera.micro_images.lattice
        owner = owner_map(self.camera.micro_images, *self.edge.shape)[self.edge]
        counts = np.bincount(owner[owner >= 0], minlength=lattice.rows * lattice.columns)
        return counts.reshape(lattice.rows, lattice.columns) > 0

    def truth(self, refined: bool) -> NDArray[np.float32]:
        return read_float_map(self.folder / ("depth.tiff" if refined else "lens_depth.tiff"))


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Frame:
    folder = tmp_path_factory.mktemp("figurines") / "scene"
    whole = preset("r12-es")
    camera = replace(whole, main_lens=replace(whole.main_lens, f_number=1.4), depth_scale=None)
    settings = FrameSettings(RenderSettings(rays=RAYS, f_number=1.4, vignetting=False))
    simulate_scene(SCENE, camera, folder, settings)
    return Frame(folder, camera)


@dataclass(frozen=True)
class Score:
    """In percent, but for the seconds."""

    found: float
    median: float
    over_1: float
    over_5: float
    over_5_inside: float  # where there is no edge
    cpu_seconds: float

    def row(self, name: str) -> str:
        shares = f"{self.over_1:.1f} | {self.over_5:.2f} | {self.over_5_inside:.2f}"
        return f"| {name} | {self.found:.1f} | {self.median:.2f} | {shares} | {self.cpu_seconds:.1f} |"


def score(frame: Frame, settings: DepthSettings, image: RawImage | None = None) -> Score:
    source = image or frame.image
    estimate_virtual_depth(_small(source), frame.camera, settings)  # compiles
    start = time.process_time()
    found = estimate_virtual_depth(source, frame.camera, settings)
    seconds = time.process_time() - start
    error = np.abs(metric_depth_map(found, frame.camera).depth / frame.truth(settings.refined) - 1)
    there, edge = np.isfinite(error), frame.edge if settings.refined else frame.edge_lens
    errors, inside = error[there], error[there & ~edge]
    return Score(
        100 * found.valid_fraction / (np.isfinite(source.gray).mean() if settings.refined else 1),
        100 * float(np.median(errors)),
        *(100 * float((part > limit).mean()) for part, limit in ((errors, 0.01), (errors, 0.05), (inside, 0.05))),
        seconds,
    )


def _small(image: RawImage) -> RawImage:
    """The image with little in it."""
    gray = np.full_like(image.gray, np.nan)
    gray[:60] = image.gray[:60]
    return replace(image, gray=gray)


def table(title: str, rows: dict[str, Score]) -> None:
    print(f"\n| {title} | found % | median % | > 1 % | > 5 % | > 5 %, no edge | CPU-s |\n|---|---|---|---|---|---|---|")
    for name, result in rows.items():
        print(result.row(name))


def test_sweep_against_golden_section(frame: Frame) -> None:
    found = {
        "sweep": score(frame, COARSE),
        "golden section, same type first": score(frame, replace(COARSE, **PUBLISHED)),
        "golden section, all types first": score(frame, replace(COARSE, search="golden")),
        "all as published": score(frame, replace(COARSE, **ALL_PUBLISHED)),
    }
    table("coarse", found)
    published = found["golden section, same type first"]
    assert found["sweep"].over_5 < published.over_5
    assert found["sweep"].cpu_seconds < published.cpu_seconds


def test_sweep_against_golden_section_per_pixel(frame: Frame) -> None:
    found = {
        "sweep": score(frame, REFINED, frame.band),
        "golden section, same type first": score(frame, replace(REFINED, **PUBLISHED), frame.band),
    }
    table("refined, a twentieth of the frame", found)
    assert found["sweep"].over_5 < found["golden section, same type first"].over_5


def test_variants(frame: Frame) -> None:
    """The same rows for both: what a default gains or loses."""
    changes = {
        "default": {},
        "D": {"blur": False},
        "equalisation: s_transform": {"equalisation": "s_transform"},
        "first_hypothesis: same_type": {"first_hypothesis": "same_type"},
        "weights: constant": {"weights": "constant"},
        "weights: disparity": {"weights": "disparity"},
    }
    for settings in (COARSE, REFINED):
        kind = "refined" if settings.refined else "coarse"
        found = {
            name: score(frame, replace(settings, **change))
            for name, change in changes.items()
            if not (settings.refined and "constant" in name)  # windows count pixels anyway: the same as the default
        }
        table(kind, found)
        assert found["default"].over_5 <= found["D"].over_5


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
def test_confidence_tells_the_bad_ones(frame: Frame, refined: bool) -> None:
    found = estimate_virtual_depth(frame.image, frame.camera, DepthSettings(refined=refined))
    error = np.abs(metric_depth_map(found, frame.camera).depth / frame.truth(refined) - 1)
    there = np.isfinite(error)
    bad, confidence = error[there] > 0.05, found.confidence[there]
    print(f"\n| confidence, {'refined' if refined else 'coarse'} | share % | > 5 % |\n|---|---|---|")
    shares = []
    for low, high in pairwise(CONFIDENCES):
        inside = (confidence >= low) & (confidence < high)
        shares.append(float(bad[inside].mean()))
        print(f"| {low:g} … {min(high, 1):g} | {100 * inside.mean():.1f} | {100 * shares[-1]:.1f} |")
    assert shares[-1] < 0.2 * bad.mean()
    assert shares[-1] < 0.05 * shares[0]
