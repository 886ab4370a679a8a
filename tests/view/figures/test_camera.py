"""Figures of a camera: blur above, precision below, both against distance; and its predicted depth scale."""

from __future__ import annotations

import numpy as np
import pytest
from cameras import keplerian
from matplotlib.figure import Figure
from random_cameras import base

from plenodepth.calib.scale.prediction import predict_scale
from plenodepth.camera import focus_planes, preset
from plenodepth.camera.summary import summarise
from plenodepth.view import camera_figure, predicted_scale_figure


def figure_of(name: str) -> Figure:
    return camera_figure(summarise(base(name)))


def test_two_panels_share_the_axis_of_distance() -> None:
    blur, precision = figure_of("r12-e").axes
    assert blur.get_ylabel() == "blur radius ρ [px]"
    assert precision.get_ylabel() == "expected σ of depth [mm]"
    assert precision.get_xlabel() == "distance from the main lens [mm]"
    assert blur.get_xlim() == precision.get_xlim()
    assert precision.get_title() == "one pair of views, disparity good to 0.1 px"


def test_the_title_names_the_camera() -> None:
    assert figure_of("r12-e").get_suptitle() == "r12-e: F = 50.12 mm, f/4"


def test_there_is_one_curve_per_lens_type_and_it_crosses_zero_where_the_type_is_sharp() -> None:
    camera = base("r12-e")
    blur = figure_of("r12-e").axes[0]
    curves = [line for line in blur.lines if line.get_label().startswith("type ")]
    assert len(curves) == 3
    for curve, plane in zip(curves, focus_planes(camera), strict=True):
        assert curve.get_label().endswith(f"sharp at {plane:.0f} mm")
        depth, radius = curve.get_data()
        assert depth.min() < plane < depth.max()
        np.testing.assert_allclose(np.interp(plane, depth, radius), 0, atol=0.02)
    assert [text.get_text() for text in blur.get_legend().get_texts()] == [curve.get_label() for curve in curves]


def test_pinholes_have_precision_but_no_blur() -> None:
    blur, precision = figure_of("r12-a-pinhole").axes
    assert [text.get_text() for text in blur.texts] == ["pinholes: no blur"]
    assert len(blur.lines) == 0
    assert len(precision.lines) == 1


@pytest.mark.parametrize("camera", [preset("r12-b"), preset("upc-s"), keplerian()], ids=lambda camera: camera.name)
def test_every_kind_of_camera_has_finite_curves_and_ticks_to_read_them(camera: object) -> None:
    figure = camera_figure(summarise(camera))
    for axes in figure.axes:
        for line in axes.lines:
            assert np.isfinite(np.asarray(line.get_data(), dtype=float)).all()
    for axis in (figure.axes[1].xaxis, figure.axes[1].yaxis):
        low, high = sorted(axis.get_view_interval())
        assert 4 <= sum(low <= tick <= high for tick in axis.get_ticklocs()) <= 12


def test_a_curve_for_each_aperture_the_chosen_one_bold() -> None:
    predictions = [predict_scale(preset("r12-es"), n, method="slope") for n in (8.0, 4.0, 1.4)]
    figure = predicted_scale_figure(predictions, "r12-es", 4.0)
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
