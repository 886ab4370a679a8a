"""Matplotlib figures as files: PNG, PDF and SVG."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path

FORMATS = ("png", "pdf", "svg")


def write_figure(figure: Figure, path: str | Path, *, dpi: int = 150) -> None:
    """Write a figure in the format of the path's suffix: .png, .pdf or .svg."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(
            f"has the suffix '.{suffix}', which no figure can have", file=path, fix="use .png, .pdf or .svg"
        )
    with atomic_path(path) as temporary:
        temporary.write_bytes(figure_bytes(figure, suffix, dpi))


def figure_bytes(figure: Figure, suffix: str, dpi: int) -> bytes:
    """A figure as the content of a file of that format. Matplotlib's own PDF writer fails badly on a full disk."""
    drawn = BytesIO()
    figure.savefig(drawn, format=suffix, dpi=dpi)
    return drawn.getvalue()
