"""`plenodepth simulate scene`: a scene's raw image with its ground truth."""

from __future__ import annotations

from typing import Annotated

import typer

from plenodepth.camera import load_plenoptic_camera
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import ray_progress
from plenodepth.cli.simulate.options import (
    ApertureOption,
    CameraOption,
    NeighbourOption,
    OpticsOption,
    OutOption,
    RaysOption,
    SceneArgument,
    SeedOption,
    SensorOptions,
    ThreadsOption,
    VignettingOption,
    chosen_optics,
    print_cost,
)


@expand_groups
def scene(
    *,
    scene_file: SceneArgument,
    out: OutOption,
    camera: CameraOption = "r12-e",
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    aperture: ApertureOption = None,
    sensor: SensorOptions,
    vignetting: VignettingOption = True,
    neighbour_light: NeighbourOption = False,
    optics: OpticsOption = None,
    lidar: Annotated[bool, typer.Option("--lidar", help="Also scan the scene from beside the camera.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Render a scene: raw image, depth per pixel and per micro-image, masks, board corners, lidar.

    Example: [bold]plenodepth simulate scene figurines --camera r12-e --out figurines[/bold]
    """
    from plenodepth.sim import FrameSettings, RenderSettings, lidar_for_scene, load_scene, simulate_scene
    from plenodepth.sim.lidar import TERRESTRIAL_SIGMA
    from plenodepth.sim.scenes.scene_names import scene_path

    loaded, behind = load_scene(scene_file), load_plenoptic_camera(camera)
    settings = FrameSettings(
        RenderSettings(rays, seed, aperture, vignetting, neighbour_light, threads, chosen_optics(optics)),
        sensor.settings(seed),
        [lidar_for_scene(loaded, range_sigma=TERRESTRIAL_SIGMA, seed=seed)] if lidar else (),
    )
    with ray_progress(scene_file.stem, quiet=as_json) as progress:
        frame = simulate_scene(loaded, behind, out, settings, scene_file=scene_path(scene_file), progress=progress)
    print_cost(frame.info, out, as_json)
