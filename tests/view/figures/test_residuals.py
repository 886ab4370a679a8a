"""The figures of a calibration's report show what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from calibrations import fitted_at_truth
from matplotlib.quiver import Quiver

from plenodepth.calib.advice.fit_facts import FitFacts, fit_facts, radial_profiles
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera import preset, virtual_from_metric
from plenodepth.view.figures.coverage import calibration_depth_figure, coverage_figure, white_figure
from plenodepth.view.figures.residuals import blur_figure, center_figure, micro_image_figure, residual_figure


@cache
def facts() -> FitFacts:
    return fit_facts(fitted_at_truth())


def arrows(axes: object) -> Quiver:
    (found,) = [item for item in axes.collections if isinstance(item, Quiver)]
    return found


def test_arrows_are_mean_residuals_and_outliers_have_none() -> None:
    residual = np.tile([0.3, -0.1, 0.0], (len(facts().uv), 1))
    counts = np.ones(len(residual), bool)
    residual[::9], counts[::9] = 100, False
    figure = residual_figure(replace(facts(), residual=residual, counts=counts))
    drawn = arrows(figure.axes[0])
    np.testing.assert_allclose(drawn.U, 0.3)
    np.testing.assert_allclose(drawn.V, -0.1)
    low, high = sorted(figure.axes[0].get_ylim(), reverse=True)
    assert low > high, "v goes down"


def test_the_profile_of_each_lens_type_is_drawn_twice() -> None:
    figure = micro_image_figure(facts(), radial_profiles(facts()))
    for axes in figure.axes:
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["type 0", "type 1", "type 2"]


def test_residuals_of_blur_radii_are_told_by_type_and_left_out_where_there_are_none() -> None:
    figure = blur_figure(facts())
    assert figure is not None
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["type 0", "type 1", "type 2"]
    assert "RMSE 0.099 px" in labels[0]
    unknown = np.full_like(facts().residual, np.nan)
    assert blur_figure(replace(facts(), residual=unknown)) is None


def test_centres_have_a_map_where_there_are_centres() -> None:
    figure = center_figure(fitted_at_truth().fit, facts().size)
    assert figure is not None
    assert len(arrows(figure.axes[0]).U) > 20
    assert center_figure(fitted_at_truth(with_centers=False).fit, facts().size) is None


def test_coverage_shows_a_line_for_each_board() -> None:
    camera = preset("r12-mini")
    figure = coverage_figure(facts(), camera)
    spans = [line.get_xdata() for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == 2]
    expected = sorted([[frame.near, frame.far] for frame in facts().frames], key=sum)
    np.testing.assert_allclose(sorted(np.array(spans).tolist(), key=sum), expected)
    above = [axis for axes in figure.axes for axis in axes.child_axes]
    shown = [float(label.get_text()) for label in above[0].get_xticklabels()]
    np.testing.assert_allclose(shown, virtual_from_metric(above[0].get_xticks(), camera), rtol=0.01)


def test_the_uncertainty_of_depth_is_drawn_in_millimetres_and_per_cent() -> None:
    depth = np.linspace(400.0, 1900.0, 5)
    absolute, relative = calibration_depth_figure((depth, 0.01 * depth), preset("r12-mini")).axes
    np.testing.assert_allclose(absolute.lines[0].get_ydata(), 0.01 * depth)
    np.testing.assert_allclose(relative.lines[0].get_ydata(), 1.0)


def test_radii_of_white_images_lie_on_their_lines() -> None:
    numbers = np.array([4.0, 8.0, np.nan])
    radii = WhiteRadii(
        numbers, 28 / numbers, np.array([4.0, 5.0]), np.full(2, 0.01), 28.0, 0.1, np.zeros((1, 1), int), 0.0, ()
    )
    figure = white_figure(radii)
    assert figure is not None
    line, points = figure.axes[0].lines[:2]
    np.testing.assert_allclose(points.get_xdata(), [1 / 4, 1 / 8])
    np.testing.assert_allclose(points.get_ydata(), [11.0, 7.5])
    np.testing.assert_allclose(np.interp(1 / 4, *line.get_data()), 11.0)
    assert white_figure(replace(radii, slope=np.nan)) is None
