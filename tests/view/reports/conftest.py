"""Fixtures of the reports' tests."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def undrawn_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are put together but not drawn: drawing takes most of a report's time, and other tests do it."""

    def undrawn(figure: Figure, suffix: str, dpi: int) -> bytes:
        assert figure.axes
        return f"{suffix} at {dpi} dpi".encode()

    monkeypatch.setattr("plenodepth.view.reports.page.figure_bytes", undrawn)
