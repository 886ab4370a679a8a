"""What a test reads off a figure."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


def drawn(figure: Figure) -> bytes:
    """A figure as PNG; a warning of the layout is an error here."""
    content = BytesIO()
    figure.savefig(content, format="png", dpi=50)
    return content.getvalue()


def texts(figure: Figure) -> str:
    """All texts of a figure, one per line."""
    return "\n".join(text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text")))
