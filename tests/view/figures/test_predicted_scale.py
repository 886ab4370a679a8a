"""The figure of a predicted depth scale."""

from __future__ import annotations

import numpy as np

from plenodepth.calib.scale.prediction import predict_scale
from plenodepth.camera import preset
from plenodepth.view import scale_figure


def test_a_curve_for_each_aperture_the_chosen_one_bold() -> None:
    predictions = [predict_scale(preset("r12-es"), n, method="slope") for n in (8.0, 4.0, 1.4)]
    figure = scale_figure("r12-es", predictions, 4.0)
    depths, errors = figure.axes
    labels = ["f/1.4", "f/4", "f/8"]
    for axes in (depths, errors):
        curves = {line.get_label(): line for line in axes.lines}
        assert [label for label in curves if label in labels] == labels
        assert curves["f/4"].get_linewidth() > curves["f/8"].get_linewidth()
        assert [text.get_text() for text in axes.get_legend().get_texts()][:2] == labels[:2]
    after = next(line for line in errors.lines if line.get_label() == "f/4 after Γ")
    assert np.abs(after.get_ydata()).max() < 1
    assert "r12-es" in figure.get_suptitle()
