"""``plenodepth depth``: raw images in, virtual and metric depth out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from plenodepth.camera import load_camera
from plenodepth.cli.common import ImageSizeOption, JsonOption, ParametersOption, console, parse_image_size, print_json
from plenodepth.cli.progress import FrameProgress, row_progress
from plenodepth.errors import InputError, PlenodepthError


def depth(
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGE…", help="Raw images (.png, .tiff).", show_default=False)
    ],
    camera: Annotated[str, typer.Option("--camera", help="A preset, a camera file, or a vendor's grid (.xml).")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the results; made if it is not there.")],
    white: Annotated[Path | None, typer.Option("--white", help="White image at the same aperture.")] = None,
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None,
    refined: Annotated[bool, typer.Option("--refined", help="One depth per pixel instead of per micro-image.")] = False,
    blur: Annotated[
        bool, typer.Option("--blur/--no-blur", help="Compare equally blurred views, or disparity only.")
    ] = True,
    min_z: Annotated[float | None, typer.Option("--min-z", help="Nearest depth to keep, mm.")] = None,
    max_z: Annotated[float | None, typer.Option("--max-z", help="Farthest depth to keep, mm.")] = None,
    consistent: Annotated[
        bool, typer.Option("--consistent", help="Keep only what neighbouring views agree on.")
    ] = False,
    least_confidence: Annotated[float, typer.Option("--least-confidence", help="Drop estimates below it.")] = 0.0,
    threads: Annotated[int | None, typer.Option("--threads", help="Default: all cores.")] = None,
    params: ParametersOption = None,
    image_size: ImageSizeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate depth: maps (TIFF), point cloud (PLY), picture and figures of each image.

    Example: [bold]plenodepth depth raw.png --camera r12-e --white white.png --out depth[/bold]
    """
    from plenodepth.depth.filters import FilterSettings
    from plenodepth.depth.settings import DepthSettings

    loaded = load_camera(camera, parameters=params, image_size=parse_image_size(image_size))
    settings = DepthSettings(refined=refined, blur=blur)
    filters = FilterSettings(
        near=min_z,
        far=max_z,
        consistency=consistent,
        confidence=least_confidence > 0,
        least_confidence=least_confidence,
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=out, fix="give a writable folder") from None
    summaries, failed = [], 0
    with row_progress("", quiet=as_json) as progress:
        for index, path in enumerate(images):
            progress.frame(index, len(images), path.name)
            try:
                summaries.append(_one(path, loaded, white, bayer, settings, filters, out, threads, progress))
            except PlenodepthError as error:
                # The other frames still finish; the exit code tells.
                print(f"plenodepth: {error}", file=sys.stderr)
                failed += 1
    if as_json:
        print_json({"frames": summaries, "failed": failed})
    else:
        for summary in summaries:
            console().print(_line(summary, out))
    if failed:
        raise typer.Exit(2)


def _one(
    path: Path,
    camera: Any,
    white: Path | None,
    bayer: str | None,
    settings: Any,
    filters: Any,
    out: Path,
    threads: int | None,
    progress: FrameProgress,
) -> dict[str, Any]:
    from plenodepth.metric.frame import frame_depth, write_frame
    from plenodepth.raw import load_raw
    from plenodepth.view import depth_figure, save_figure

    image = load_raw(path, camera, white=white, bayer=bayer)
    frame = frame_depth(image, camera, settings, filters, threads=threads, progress=progress)
    write_frame(frame, out)
    kind, cue = "refined" if settings.refined else "coarse", "blur aware" if settings.blur else "disparity only"
    title = f"{image.name}: {kind}, {cue}"
    if frame.metric is None:
        figure = depth_figure(frame.virtual.virtual_depth, title, "virtual depth")
    else:
        figure = depth_figure(frame.metric.depth, title, "mm")
    save_figure(figure, out / f"{image.name}.png", dpi=110)
    return frame.summary


def _line(summary: dict[str, Any], out: Path) -> str:
    coverage = f"{100 * summary['valid_fraction']:.0f} % with depth"
    if summary.get("median_z_mm") is not None:
        coverage += f", median {summary['median_z_mm']:.0f} mm"
    elif summary["median_virtual_depth"] is not None:
        coverage += f", median virtual depth {summary['median_virtual_depth']:.2f}"
    note = f"; {summary['note']}" if "note" in summary else ""
    return (
        f"{summary['image']}: {coverage}, {summary['cpu_seconds']:.1f} CPU-seconds, devignetted by "
        f"{summary['devignetting']}{note}; see {out}/{summary['image']}.png"
    )
