"""Options, files and printing that the `evaluate` commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FigureOption = Annotated[Path | None, typer.Option("--figure", help="Draw the result (.png, .pdf, .svg).")]


def parse_numbers(text: str, option: str, example: str) -> tuple[float, ...]:
    """`"1,2,5"` → (1.0, 2.0, 5.0), all finite and > 0, in growing order."""
    try:
        values = sorted({float(word) for word in text.split(",") if word.strip()})
    except ValueError:
        values = []
    if not values or not all(0 < value < float("inf") for value in values):
        raise InputError(f"is '{text}'", field=option, fix=f"give numbers > 0, as in {example}")
    return tuple(values)


def require_figure(path: Path | None) -> None:
    """Refuse a figure that could not be written before the work is done."""
    from plenodepth.io.figures import FORMATS

    if path is None:
        return
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise InputError(f"is '{path}'", field="--figure", fix="end it with .png, .pdf or .svg")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path.parent} is no folder", field="--figure", fix="give a folder that is there")


def save(figure: Figure, path: Path, content: dict[str, Any]) -> None:
    """Write a figure and note its path in the result."""
    from plenodepth.io.figures import write_figure

    write_figure(figure, path)
    content["figure"] = str(path)


@contextmanager
def errors_name_options(**options: str) -> Iterator[None]:
    """Errors about a keyword argument name the option instead: `z_range="--range"`."""
    try:
        yield
    except InputError as error:
        option = options.get(error.field or "")
        if option is None:
            raise
        raise InputError(error.message, file=error.file, field=option, fix=error.fix) from None
