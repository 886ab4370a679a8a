"""Pieces of an HTML page that needs nothing but itself: text, tables, figures as PNG within the page."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO

from matplotlib.figure import Figure

DPI = 90  # a figure of 10 inches fills a page, and a phone's screen twice

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1f24; --soft: #5a6572; --line: #d8dde3;
  --panel: #f4f6f8; --must: #b3261e; --should: #9a6700; --may: #3b6ea5; --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --text: #e6e9ed; --soft: #9aa5b1; --line: #333a42;
  --panel: #1d2228; --must: #ff8a80; --should: #e3b341; --may: #79b8ff; --good: #56d364; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
p { margin: 0.5rem 0; max-width: 46rem; }
.soft { color: var(--soft); font-size: 0.9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.6rem, 1fr)); gap: 0.6rem; margin: 1rem 0; }
.tile { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem 0.8rem; }
.tile b { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 0.85rem; }
.scroll { overflow-x: auto; margin: 0.6rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.8rem 0.25rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; }
td.left, th.left { text-align: left; }
code { font: 0.85em ui-monospace, Consolas, monospace; }
figure { margin: 0.8rem 0; }
figure img { display: block; width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line);
  border-radius: 8px; padding: 0.3rem; }
figcaption { color: var(--soft); font-size: 0.9rem; margin-top: 0.4rem; max-width: 46rem; }
ol.advice { list-style: none; padding: 0; margin: 0.8rem 0; }
ol.advice li { background: var(--panel); border-left: 4px solid var(--may); border-radius: 4px;
  padding: 0.6rem 0.9rem; margin: 0.6rem 0; }
ol.advice li.must { border-color: var(--must); }
ol.advice li.should { border-color: var(--should); }
ol.advice .rank { font-size: 0.8rem; font-weight: 600; color: var(--soft); }
ol.advice p { margin: 0.2rem 0; max-width: none; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--must); font-weight: 600; }
@media (max-width: 40rem) { body { padding: 0.7rem; font-size: 15px; } .wide { min-width: 36rem; } }
@media print { body { max-width: none; } figure, li, tr { break-inside: avoid; } }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole document of HTML parts, light or dark as the reader's screen is."""
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Of a section."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """Plain text."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = ()) -> str:
    """A table of plain text that scrolls by itself where a screen is narrow; the first column and `left` align left."""

    def line(cells: Sequence[str], tag: str) -> str:
        inner = (f"<{tag}{_class('left' if n in left else '')}>{escape(cell)}</{tag}>" for n, cell in enumerate(cells))
        return f"<tr>{''.join(inner)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    head = f"<thead>{line(columns, 'th')}</thead>" if any(columns) else ""
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def picture(figure: Figure, caption: str, dpi: int = DPI) -> str:
    """A figure as a PNG within the page; the caption is its text for who cannot see it, too."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=dpi)
    data = base64.b64encode(drawn.getvalue()).decode("ascii")
    return (
        f'<figure><div class="scroll"><img class="wide" alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"</div><figcaption>{escape(caption)}</figcaption></figure>"
    )


def tiles(items: Iterable[tuple[str, str]]) -> str:
    """Large numbers with what they are below, side by side."""
    inner = (f'<div class="tile"><b>{escape(value)}</b><span>{escape(label)}</span></div>' for value, label in items)
    return f'<div class="tiles">{"".join(inner)}</div>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
