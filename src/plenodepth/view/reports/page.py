"""What all reports share: the templates, their tables and pictures, and rendering.

A page needs nothing but itself: the style sheet, the scripts and the figures are within it, and it forbids the browser
to load anything else.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from plenodepth.io.figures import figure_bytes
from plenodepth.view.reports import formats

DPI = 120  # a figure of 10 inches then fills a page, also on a fine screen


@dataclass(frozen=True)
class Table:
    """A table of text. The first column and those in `left` align left, all others right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""
    left: Sequence[int] = ()


@dataclass(frozen=True)
class Picture:
    """A figure as PNG, drawn once for the page and for a file of its own; `name` is that file's without suffix."""

    name: str
    png: bytes
    caption: str = ""  # some templates write the caption themselves

    @property
    def data_uri(self) -> str:
        """The PNG as an address that holds all of it."""
        return data_uri(self.png, "png")


def data_uri(content: bytes, kind: str) -> str:
    """An image file of that kind (png, jpeg) as an address that holds all of it."""
    return f"data:image/{kind};base64," + base64.b64encode(content).decode("ascii")


def draw_picture(figure: Figure, name: str, caption: str = "") -> Picture:
    """Draw a figure at the reports' resolution."""
    return Picture(name, figure_bytes(figure, "png", DPI), caption)


def render(template: str, **context: Any) -> str:
    """Fill a template of the folder `templates`. In HTML all text is escaped; an unknown name is an error."""
    return _environment().get_template(template).render(context)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("plenodepth.view.reports"),
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["style"] = _part("style.css")
    environment.globals["script"] = lambda name: _part(f"scripts/{name}.js")
    environment.filters["fixed"] = formats.fixed
    environment.filters["percentage"] = formats.percentage
    environment.filters["markdown_cell"] = lambda cell: cell.replace("|", r"\|")
    return environment


def _part(name: str) -> Markup:
    """A file of this package that stands in a page as it is."""
    return Markup((files(__package__) / name).read_text(encoding="utf-8"))
