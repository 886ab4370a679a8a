"""Figures to files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from plenodepth.errors import InputError
from plenodepth.io import atomic_path

FORMATS = ("png", "pdf", "svg")


def save_figure(figure: Figure, path: str | Path, *, dpi: int = 150) -> None:
    """Write a figure in the format of the path's suffix: .png, .pdf or .svg."""
    suffix = Path(path).suffix.lower().lstrip(".")
    if suffix not in FORMATS:
        raise InputError(
            f"has the suffix '.{suffix}', which no figure can have", file=path, fix="use .png, .pdf or .svg"
        )
    drawn = BytesIO()  # Matplotlib's PDF writer trips over a full disk
    with atomic_path(path) as temporary:
        figure.savefig(drawn, format=suffix, dpi=dpi)
        temporary.write_bytes(drawn.getvalue())
