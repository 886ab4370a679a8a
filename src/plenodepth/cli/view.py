"""``plenodepth view``: look at results in the browser."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.camera import load_camera
from plenodepth.cli.shared.common import parse_image_size
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.view.browser.frames import Frame
    from plenodepth.view.browser.instrument import Instrument

LOOPBACK = "127.0.0.1"


@expand_groups
def view(
    *,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Folder of results, a cloud (.ply, .pts …), or a raw image.", show_default=False
        ),
    ],
    raw: RawOptions,
    raw_image: Annotated[
        Path | None,
        typer.Option("--raw", help="Raw image of the result, or a folder of them: for pictures and cost curves."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--truth", help="True depth: a map of the raw image, or a cloud. Needs a calibrated camera."),
    ] = None,
    cam_from_lidar: Annotated[
        Path | None, typer.Option("--cam-from-lidar", help="Pose of the scanner whose cloud the truth is.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Where to listen; the default is this machine alone.")] = LOOPBACK,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen at; 0: any free one.")] = 8080,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
    points: Annotated[
        int, typer.Option("--points", min=1000, help="Points that are drawn at most; larger clouds are thinned.")
    ] = 1_000_000,
    rrd: Annotated[
        Path | None,
        typer.Option("--rrd", metavar="FILE.rrd", help="Write all frames for rerun instead; no page is served."),
    ] = None,
    rrd_color: Annotated[
        str | None,
        typer.Option(
            "--rrd-color",
            metavar="KIND",
            help="Colours of its points: picture, depth, confidence, sigma or error; the default is the picture.",
        ),
    ] = None,
) -> None:
    """Look at a result in the browser: cloud, pictures, cost curves, distances. Ctrl-C ends it.

    Example: [bold]plenodepth view depth --open[/bold]

    With all that there is to see: [bold]plenodepth view depth --camera r12-es --raw raw.png --white white.png[/bold]

    For rerun: [bold]plenodepth view depth --rrd depth.rrd[/bold]
    """
    from plenodepth.view.browser.server import address, is_loopback, require_viser, served
    from plenodepth.view.browser.viewer import Viewer

    if rrd is None:
        _refuse_without_rrd(rrd_color)
        require_viser()
    else:
        _require_export(rrd, open_page)
    frames, instrument, notes = _opened(source, raw, raw_image)
    true = None
    if truth is not None:
        from plenodepth.view.browser.truth import load_truth

        true = load_truth(truth, None if instrument is None else instrument.camera, cam_from_lidar)
    if rrd is not None:
        _export(frames, rrd, source, points, instrument=instrument, truth=true, color=rrd_color, notes=notes)
        return
    try:
        with (
            served(host, port, source.name) as server,
            Viewer(server, frames, instrument=instrument, truth=true, most_points=points, notes=notes),
        ):
            print(f"{source}: look at {address(server)} (Ctrl-C ends)", flush=True)
            if not is_loopback(host):
                print(f"plenodepth: note: whoever reaches {host} sees this result", file=sys.stderr)
            if open_page:
                typer.launch(address(server))
            threading.Event().wait()
    except KeyboardInterrupt:
        print("ended")


def _refuse_without_rrd(color: str | None) -> None:
    if color is not None:
        raise InputError("colours what --rrd writes", field="--rrd-color", fix="add --rrd FILE.rrd")


def _require_export(path: Path, open_page: bool) -> None:
    """Say what is missing before the work begins."""
    from plenodepth.view.rerun_export import require_rerun, require_rrd

    require_rerun()
    require_rrd(path)
    if open_page:
        raise InputError("opens no page with --rrd", field="--open", fix="leave one of them out")


def _export(frames: Sequence[Frame], path: Path, source: Path, most_points: int, **shown: Any) -> None:
    """Write the frames for rerun, and say how many points they have."""
    from plenodepth.view.rerun_export import write_rrd

    with row_progress(path.name) as bar:
        found = write_rrd(frames, path, name=source.name, most_points=most_points, started=bar.frame, **shown)
    thinned = "" if found.points == found.points_of_clouds else f" of {found.points_of_clouds:,}"
    count = f"{found.frames} frame{'s' if found.frames != 1 else ''}"
    print(f"{path}: {count}, {found.points:,}{thinned} points; `rerun {path}` shows them")


def _opened(
    source: Path, raw: RawOptions, raw_image: Path | None
) -> tuple[Sequence[Frame], Instrument | None, list[str]]:
    """The frames, what took them, and what is to be said about that."""
    from plenodepth.view.browser.frames import is_cloud, open_frames
    from plenodepth.view.browser.opening import instrument_of, preset_of

    if source.is_file() and not is_cloud(source):
        return _estimated(source, raw)
    frames, notes = open_frames(source), list[str]()
    if raw_image is not None and raw.camera is not None and raw_image.is_file():
        camera, note = raw.load_camera(raw_image)
        notes += [note] if note else []
    elif raw.camera is not None:
        camera = load_camera(raw.camera, parameters=raw.params, image_size=parse_image_size(raw.image_size))
    elif (known := preset_of(frames)) is not None:
        camera = known
        notes.append(f"The camera is the preset {known.name}, by the name in the record; --camera names another.")
    elif raw_image is not None:
        raise InputError("is missing", field="--camera", fix="give the camera that took the raw image")
    else:
        return frames, None, notes
    return frames, instrument_of(camera, raw_image, frames, lambda path: raw.load_image(path, camera)), notes


def _estimated(source: Path, raw: RawOptions) -> tuple[Sequence[Frame], Instrument, list[str]]:
    """The depth of a raw image, with its dense view: what `plenodepth depth --dense` finds."""
    from plenodepth.depth.dense_settings import DenseSettings
    from plenodepth.metric.frame import estimate_depth
    from plenodepth.view.browser.instrument import Instrument
    from plenodepth.view.browser.opening import frame_of

    camera, note = raw.load_camera(source)
    with row_progress(source.name) as bar, compiling_notice(bar.note, refined=False):
        image = raw.load_image(source, camera)
        result = estimate_depth(image, camera, dense=DenseSettings(enabled=True), progress=bar)
    return [frame_of(result)], Instrument(result.camera, lambda _: image), [note] if note else []
