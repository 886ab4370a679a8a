"""`plenodepth simulate white`: a white image."""

from __future__ import annotations

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
    SeedOption,
    SensorOptions,
    ThreadsOption,
    chosen_optics,
    print_cost,
)


@expand_groups
def white(
    *,
    out: OutOption,
    camera: CameraOption = "r12-e",
    aperture: ApertureOption = None,
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    sensor: SensorOptions,
    neighbour_light: NeighbourOption = False,
    optics: OpticsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Render a white image, at any f-number.

    Example: [bold]plenodepth simulate white --camera r12-e --aperture 5.66 --out white[/bold]
    """
    from plenodepth.sim import FrameSettings, RenderSettings, simulate_white

    settings = FrameSettings(
        RenderSettings(rays, seed, neighbour_light=neighbour_light, threads=threads, optics=chosen_optics(optics)),
        sensor.settings(seed),
    )
    behind = load_plenoptic_camera(camera)
    with ray_progress("white image", quiet=as_json) as progress:
        frame = simulate_white(aperture, behind, out, settings, progress=progress)
    print_cost(frame.info, out, as_json)
