"""The parts of a report, written once and rendered twice: as one HTML page, and as Markdown with figures beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from matplotlib.figure import Figure

from plenodepth.view.reports import html


@dataclass(frozen=True)
class Heading:
    """Of a section."""

    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph; `kind` is empty, "soft", "good" or "bad"."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Plain text in cells; columns in `left`, as the first one, align left."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""
    left: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, `name` being that of its file without a suffix."""

    name: str
    figure: Figure
    caption: str


Block = Heading | Text | Table | Picture


def as_html(title: str, blocks: Iterable[Block]) -> str:
    """One page that needs nothing else; its figures are within it."""
    return html.page(title, [f"<h1>{escape(title)}</h1>", *(part for block in blocks for part in _html(block))])


def _html(block: Block) -> list[str]:
    if isinstance(block, Heading):
        return [html.heading(block.text)]
    if isinstance(block, Text):
        return [html.paragraph(block.text, block.kind)]
    if isinstance(block, Picture):
        return [html.picture(block.figure, block.caption)]
    parts = [f"<p><b>{escape(block.title)}</b></p>"] if block.title else []
    parts.append(html.table(block.columns, block.rows, left=block.left))
    return [*parts, html.paragraph(block.note, "soft")] if block.note else parts


def as_markdown(title: str, blocks: Iterable[Block], figures: str) -> str:
    """The same with figures as files NAME.png in the folder `figures`, which others write."""
    return "\n\n".join([f"# {title}", *(_markdown(block, figures) for block in blocks)]) + "\n"


def _markdown(block: Block, figures: str) -> str:
    if isinstance(block, Heading):
        return f"## {block.text}"
    if isinstance(block, Text):
        return f"**{block.text}**" if block.kind == "bad" else block.text
    if isinstance(block, Picture):
        return f"![{block.name}]({figures}/{block.name}.png)\n\n*{block.caption.replace('*', '·')}*"
    lines = [f"**{block.title}**", ""] if block.title else []
    lines.append(_line(block.columns))
    lines.append(_line(["---" if n == 0 or n in block.left else "---:" for n in range(len(block.columns))]))
    lines += [_line(row) for row in block.rows]
    return "\n".join([*lines, "", block.note] if block.note else lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
