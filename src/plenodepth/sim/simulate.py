"""One frame from scene to folder, and white images."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.geometry import Pose
from plenodepth.sim.lidar import LidarSettings, extrinsic_targets, joined, scan
from plenodepth.sim.output import whole_folder, write_info, write_lidar, write_raw, write_targets, write_truth
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import Progress, RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.truth import ground_truth

WHITE_DISTANCE = 1000.0  # mm; a white wall looks the same from everywhere


@dataclass(frozen=True, eq=False)
class FrameSettings:
    """All that a frame depends on beside camera and scene."""

    render: RenderSettings = field(default_factory=RenderSettings)
    sensor: SensorSettings = field(default_factory=SensorSettings)
    lidar: LidarSettings | None = None
    more_stations: tuple[LidarSettings, ...] = ()  # whose scans are joined to that one


def simulate_scene(
    scene: Scene,
    camera: PlenopticCamera,
    out: str | Path,
    settings: FrameSettings | None = None,
    *,
    frame: int = 0,
    scene_file: Path | None = None,
    more: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Render a scene into the folder `out` with its ground truth; returns what info.json holds."""
    settings = settings or FrameSettings()
    depths = scene_depths(scene, camera.main_lens.focal_length)
    with whole_folder(out) as folder:
        setup = ray_setup(camera, *depths, f_number=settings.render.f_number)
        rendering = render(scene, camera, settings.render, setup=setup, progress=progress)
        write_raw(expose(rendering.light, settings.sensor, setup.owner, threads=settings.render.threads), folder)
        write_truth(scene, ground_truth(scene, camera, setup=setup), folder, frame)
        if settings.lidar is not None:
            write_lidar(joined([scan(scene, one) for one in (settings.lidar, *settings.more_stations)]), folder)
            if any(isinstance(thing, Checkerboard) for thing in scene.objects):
                write_targets(extrinsic_targets(scene, settings.lidar.cam_from_lidar), folder)
        if scene_file is not None:
            shutil.copyfile(scene_file, folder / "scene.yaml")
        names = [thing.name for thing in scene.objects]
        content = {"kind": "scene", "frame": frame, "objects": names, **(more or {})}
        return write_info(folder, camera, rendering, settings.render, settings.sensor, content)


def white_scene(camera: PlenopticCamera) -> Scene:
    """A glowing wall that fills every ray."""
    distance = max(WHITE_DISTANCE, 4 * camera.main_lens.focal_length)
    wall = Pose(np.eye(3), np.array([0.0, 0.0, distance]))
    return Scene((Rectangle(20 * distance, 20 * distance, wall, Material(emits=True), name="white"),))


def simulate_white(
    f_number: float,
    camera: PlenopticCamera,
    out: str | Path,
    settings: FrameSettings | None = None,
    *,
    more: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Render the white image of a camera at an f-number into the folder `out`."""
    settings = settings or FrameSettings()
    tracing = replace(settings.render, f_number=f_number)
    scene = white_scene(camera)
    with whole_folder(out) as folder:
        setup = ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length), f_number=f_number)
        rendering = render(scene, camera, tracing, setup=setup, progress=progress)
        write_raw(expose(rendering.light, settings.sensor, setup.owner, threads=tracing.threads), folder)
        return write_info(folder, camera, rendering, tracing, settings.sensor, {"kind": "white", **(more or {})})
