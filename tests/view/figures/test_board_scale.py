"""Scale errors of boards in figures."""

from __future__ import annotations

from drawn_figures import drawn, texts
from reproductions import scale_values

from plenodepth.view.figures.board_scale import scale_error_figure


def test_scale_errors_before_and_after_and_both_orders_where_there_are_both() -> None:
    datasets = scale_values().datasets
    figure = scale_error_figure(datasets)
    assert drawn(figure)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:4] == ["R12-A", "R12-B", "R12-C", "R12-ES"]
    assert "either order" in titles[4]
    assert "all datasets" in titles[5]
    assert "slope" in texts(figure)
    only = {"r12-c": {"BLADE": datasets["r12-c"]["BLADE"]}}
    assert not any("either order" in axes.get_title() for axes in scale_error_figure(only).axes)
