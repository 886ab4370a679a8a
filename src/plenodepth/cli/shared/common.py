"""Arguments and printing that several commands share."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from plenodepth.errors import InputError
from plenodepth.io.yaml_json import null_for_nan


def complete_camera(incomplete: str) -> list[str]:
    """The presets that begin so, for the completion of shells; where none does, the shell offers files."""
    from plenodepth.camera import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


CameraArgument = Annotated[
    str,
    typer.Argument(
        metavar="CAMERA",
        autocompletion=complete_camera,
        help="A preset (r12-e, …), a camera file (.yaml, .json), a libpleno camera (.js) or a vendor's grid (.xml).",
        show_default=False,
    ),
]
ParametersOption = Annotated[
    Path | None, typer.Option("--params", help="libpleno's parameter file that goes with its camera file; it holds κ.")
]
ImageSizeOption = Annotated[
    str | None,
    typer.Option("--image-size", metavar="WxH", help="Image size in px, needed for a vendor's grid: 2048x2048."),
]
FramesOption = Annotated[
    str | None,
    typer.Option("--frames", metavar="A:B:STEP", help="Frames of a video or sequence, from 0: 12, 0:100 or 0:100:5."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def parse_image_size(text: str | None) -> tuple[int, int] | None:
    """`"2048x1088"` → (2048, 1088)."""
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d*)\s*[x×X]\s*([1-9]\d*)", text.strip())
    if match is None:
        raise InputError(f"is '{text}'", field="--image-size", fix="give width and height, as in 2048x2048")
    return int(match[1]), int(match[2])


def parse_frames(text: str | None) -> slice | None:
    """`"12"` → frame 12 alone; `"0:100:5"` → every fifth of the first hundred."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)|(\d*):(\d*)(?::(\d+))?", text.strip(), re.ASCII)
    if match is None or match[4] == "0":
        raise InputError(f"is '{text}'", field="--frames", fix="give a frame, or first:last:step, as 0:100:5")
    if match[1]:
        return slice(int(match[1]), int(match[1]) + 1)
    first, end, step = (int(part) if part else None for part in match.group(2, 3, 4))
    return slice(first, end, step)


def print_json(content: dict[str, Any]) -> None:
    """One JSON document on stdout and nothing else; a number that is not finite is null."""
    print(json.dumps(null_for_nan(content), indent=2, ensure_ascii=False, allow_nan=False))


def console() -> Console:
    """Where tables go; square brackets are units here, and colons belong to paths."""
    return Console(highlight=False, markup=False, emoji=False)


def require_positive_option(value: float, option: str, unit: str) -> None:
    """Refuse a number that is not finite and > 0."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"is {value:g} {unit}, needs a number > 0", field=option)


def plain_table(title: str, *columns: str) -> Table:
    """A table with its first column to the left and numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    return table


def print_notes(notes: Iterable[str]) -> None:
    """What the user should know, a line each, below the tables."""
    for note in notes:
        console().print(f"note: {note}")
