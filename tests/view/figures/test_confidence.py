"""The figure of confidence and σ."""

from __future__ import annotations

import numpy as np
from drawn_figures import drawn, texts
from reproductions import confidence_values

from plenodepth.view.figures.confidence import confidence_figure


def test_confidence_shows_what_remains_and_sigma_as_observed() -> None:
    methods = confidence_values().datasets["r12-elp20"].methods
    figure = confidence_figure(methods, "r12-elp20")
    assert drawn(figure)
    said = texts(figure)
    assert all(word in said for word in ("BLADE", "aware", "by confidence", "by σ", "oracle", "at random"))
    left, right = figure.axes
    order = methods["BLADE"].sparsification
    curve = next(line for line in left.lines if line.get_label() == "_confidence")
    np.testing.assert_allclose(curve.get_ydata(), 100 * np.array(order.confidence))
    bins = methods["BLADE"].sigma.bins
    np.testing.assert_allclose(right.lines[0].get_xdata(), [100 * row.predicted for row in bins])
    np.testing.assert_allclose(right.lines[0].get_ydata(), [100 * row.robust for row in bins])
