"""Small folders of results, as `plenodepth depth` writes them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from shared_files import shared
from simulated import scene_shot, white_shot

from plenodepth.cache import cache_key
from plenodepth.camera import PlenopticCamera, preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.geometry import Pose
from plenodepth.io import write_float_map, write_image, write_ply
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.simulate import FrameSettings
from plenodepth.version import __version__

COUNT = 4000


def write_result(folder: Path, name: str = "raw", *, version: str = __version__, seed: int = 0) -> Path:
    """A cloud of two walls, 600 and 900 mm away, with every confidence from 0 to 1; and its record."""
    random = np.random.default_rng(seed)
    z = np.where(np.arange(COUNT) % 2, 600.0, 900.0)
    points = np.column_stack([random.uniform(-0.25, 0.25, (COUNT, 2)) * z[:, None], z])
    colors = random.integers(60, 255, (COUNT, 3), dtype=np.uint8)
    confidence, sigma = np.linspace(0, 1, COUNT), 0.01 * z
    folder.mkdir(parents=True, exist_ok=True)
    write_ply(points, folder / f"{name}.ply", colors=colors, confidence=confidence, sigma=sigma)
    write_record(folder / f"{name}.json", version=version)
    return folder


def write_relief(folder: Path, name: str = "raw") -> Path:
    """The dense view of a camera known by its grid: 30 × 40 virtual depths from 2 to 6, and a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    depth = np.linspace(2, 6, 1200, dtype=np.float32).reshape(30, 40)
    depth[0, :5] = np.nan
    write_float_map(depth, folder / f"{name}.dense.tiff")
    write_float_map(np.full_like(depth, 0.9), folder / f"{name}.dense.confidence.tiff")
    write_float_map(np.full_like(depth, 0.05), folder / f"{name}.dense.sigma.tiff")
    write_image(np.full((30, 40, 3), 128, np.uint8), folder / f"{name}.view.png")
    write_record(folder / f"{name}.json")
    return folder


def write_record(path: Path, *, version: str = __version__) -> None:
    """The part of NAME.json that the viewer reads."""
    path.write_text(json.dumps({"plenodepth": version, "image": path.stem, "camera": "r12-mini", "doubtful": False}))


@dataclass(frozen=True)
class RealResult:
    """What `plenodepth depth` writes for a simulated frame, with the files that it was made from."""

    folder: Path  # of the result
    camera: Path
    raw: Path
    white: Path

    @property
    def name(self) -> str:
        return "raw"

    @property
    def options(self) -> list[str]:
        """With which the viewer shows everything."""
        return ["--camera", str(self.camera), "--raw", str(self.raw), "--white", str(self.white)]


@cache
def small_camera() -> PlenopticCamera:
    return replace(shrunk(preset("r12-es"), 40, 36), name="small", depth_scale=None)


def rectangle(side: float, depth: float, seed: int) -> Rectangle:
    texture = noise_image(600, 600, octaves=7, cell=60, seed=seed)
    pose = Pose(np.eye(3), np.array([0.0, 0.0, depth]))
    return Rectangle(side, side, pose, Material(texture=texture, emits=True))


@cache
def real_result() -> RealResult:
    """A square, 800 mm away, before a wall, 1400 mm away; estimated once in a test run, with its dense view."""
    import plenodepth

    frame = FrameSettings(RenderSettings(rays=24))
    scene = Scene((rectangle(32.0, 800.0, 4), rectangle(300.0, 1400.0, 9)), ambient=1.0)
    shot, white = scene_shot(scene, small_camera(), frame), white_shot(4.0, small_camera(), frame)

    def make(folder: Path) -> None:
        folder.mkdir()
        save_camera(small_camera(), folder / "camera.yaml")
        image = plenodepth.load_raw(shot / "raw.png", small_camera(), white=white / "raw.png")
        dense = plenodepth.DenseSettings(enabled=True)
        plenodepth.estimate_depth(image, small_camera(), dense=dense).save(folder / "result")

    made = shared(cache_key({"shown": scene, "camera": small_camera(), "by": frame}), make)
    return RealResult(made / "result", made / "camera.yaml", shot / "raw.png", white / "raw.png")
