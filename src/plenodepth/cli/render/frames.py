"""What the commands that render have in common: a raw image, and its depth with the dense view."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.shared.common import console, print_json
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.progress import FrameProgress, row_progress
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.memory import keep_freed_memory
from plenodepth.threads import limited_threads

if TYPE_CHECKING:
    from plenodepth.metric.result import DepthResult

RawArgument = Annotated[
    Path, typer.Argument(metavar="RAW", help="Raw image of any format, or a video.", show_default=False)
]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder for the results; made if it is not there.")]
ConvergeOption = Annotated[
    str | None,
    typer.Option(
        "--converge", metavar="DEPTH", help="What lies there stays where it is, as 900mm; of a grid a virtual depth."
    ),
]
SpanOption = Annotated[
    float, typer.Option("--span", help="How far from the pupil's middle the outermost views stand, in radii.")
]


@dataclass(frozen=True)
class RenderOptions:
    """How views are made."""

    scale: Annotated[
        float, typer.Option("--scale", help="Side of a view's pixel, in pixels of the sensor; 2: a quarter of them.")
    ] = 2.0
    sharpen: Annotated[
        bool, typer.Option("--sharpen/--no-sharpen", help="Take off the blur that the camera's model predicts.")
    ] = True
    gamma: Annotated[
        bool,
        typer.Option(
            "--gamma/--no-gamma",
            help="The image's numbers are sRGB, not proportional to the light. Those of videos always are.",
        ),
    ] = False
    settings: Annotated[
        Path | None, typer.Option("--settings", help="Settings of the depth (.yaml), or NAME.json of a frame.")
    ] = None
    threads: Annotated[int | None, typer.Option("--threads", help="Default: all cores.")] = None


@contextmanager
def rendering(options: RenderOptions, *, quiet: bool) -> Iterator[FrameProgress]:
    """Progress and threads of a command."""
    keep_freed_memory()
    with (
        row_progress("", quiet=quiet) as progress,
        compiling_notice(progress.note, refined=True),
        limited_threads(options.threads),
    ):
        yield progress


def depths_of(
    path: Path, raw: RawOptions, options: RenderOptions, progress: FrameProgress, *, all_frames: bool = False
) -> Iterator[DepthResult]:
    """The depth of an image, or of all frames of a video."""
    from dataclasses import replace

    from plenodepth.depth.settings_file import SettingsFile, load_settings
    from plenodepth.metric.frame import estimate_depth

    chosen = SettingsFile() if options.settings is None else load_settings(options.settings)
    settings, dense = replace(chosen.depth, refined=False), replace(chosen.dense, enabled=True)
    camera, note = raw.load_camera(path)
    total = raw.count_frames(path) if all_frames else 1
    for number, image in enumerate(raw.load_images(path, camera, last=True)):
        progress.frame(number, total, image.name)
        progress.describe("depth")
        notes = (note, *image.notes) if note else image.notes
        found = estimate_depth(
            replace(image, notes=notes, encoded=image.encoded or options.gamma),
            camera,
            settings,
            chosen.filters,
            dense,
            device="cpu",
            progress=progress,
        )
        camera = found.camera  # the sign of a grid's virtual depth is looked for once
        progress.describe("views")
        yield found
        if not all_frames:
            return


def report(line: str, content: dict[str, Any], note: str, *, as_json: bool) -> None:
    """Say what was made, and what the user should know about the depth behind it."""
    if as_json:
        print_json({**content, "note": note} if note else content)
        return
    console().print(line)
    if note:
        console().print(f"  note: {note}")


def parse_depth(text: str | None, option: str) -> float | None:
    """`"900mm"`, `"0.9m"`, or a number: mm, or a virtual depth."""
    import re

    from plenodepth.errors import InputError

    if text is None:
        return None
    match = re.fullmatch(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(mm|cm|m)?\s*", text)
    if match is None:
        raise InputError(f"is '{text}'", field=option, fix="give a depth, as 900mm or 1.2m")
    return float(match[1]) * {"cm": 10.0, "m": 1000.0}.get(match[2] or "mm", 1.0)
