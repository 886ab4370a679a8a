"""`plenodepth simulate views`: what pinholes see of a scene, the truth for rendered views."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from plenodepth.camera import load_plenoptic_camera, load_views
from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.cli.shared.progress import ray_progress
from plenodepth.cli.simulate.options import OutOption, SceneArgument, ThreadsOption
from plenodepth.errors import InputError


def views(
    scene_file: SceneArgument,
    out: OutOption,
    camera: Annotated[
        str | None, typer.Option("--camera", help="A preset (r12-e, …) or a camera file.", show_default="r12-e")
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            "--grid", metavar="CxR", help="Views over the pupil, as 5x5.", show_default="1x1, the central view"
        ),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option("--scale", help="Side of a view's pixel, in pixels of the sensor.", show_default="2"),
    ] = None,
    span: Annotated[
        float | None,
        typer.Option("--span", help="Where the grid's first and last views stand, in radii.", show_default="0.6"),
    ] = None,
    like: Annotated[
        Path | None, typer.Option("--like", help="Folder of rendered views: the same views, instead of a grid.")
    ] = None,
    samples: Annotated[int, typer.Option("--samples", help="Rays along each side of a pixel.")] = 4,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Trace what pinholes in the main lens see of a scene: colour without noise or blur, and depth.

    Rendered views are measured against these: `plenodepth evaluate views`. The folder holds NAME.png (sRGB),
    NAME.light.tiff (linear light), NAME.depth.tiff (mm) and NAME.objects.png for each view, and views.json.

    Example: [bold]plenodepth simulate views figurines --camera r12-es --grid 5x5 --out
    truth[/bold]
    """
    from plenodepth.sim import load_scene, simulate_views, view_grid
    from plenodepth.sim.views import SCALE, SPAN

    if like is None:
        columns, rows = _parse_grid(grid or "1x1")
        behind = load_plenoptic_camera(camera or "r12-e")
        wanted = view_grid(behind, columns, rows, scale=SCALE if scale is None else scale, span=span or SPAN)
    else:
        given = {"--camera": camera, "--grid": grid, "--scale": scale, "--span": span}
        clash = [name for name, value in given.items() if value is not None]
        if clash:
            raise InputError("says where the views are", field="--like", fix=f"leave out {', '.join(clash)}")
        wanted = load_views(like)
    scene, start, cpu_start = load_scene(scene_file), time.perf_counter(), time.process_time()
    with ray_progress(scene_file.stem, quiet=as_json) as progress:
        simulate_views(scene, wanted, out, samples=samples, threads=threads, progress=progress)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    if as_json:
        names = [view.name for view in wanted]
        print_json({"views": names, "out": str(out), "seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)})
    else:
        console().print(f"{out}: {len(wanted)} views in {cpu:.1f} CPU-seconds ({seconds:.1f} s)")


def _parse_grid(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", text.strip())
    if match is None:
        raise InputError(f"is '{text}'", field="--grid", fix="give columns and rows, as in 5x5")
    return int(match[1]), int(match[2])
