"""The figures of a calibration's report show what they say."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from calibrations import fitted_at_truth
from matplotlib.quiver import Quiver

from plenodepth.calib.advice.facts import FitFacts, fit_facts, radial_profiles
from plenodepth.view.figures.residuals import (
    blur_residual_figure,
    center_residual_figure,
    micro_image_residual_figure,
    residual_figure,
)


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
    figure = micro_image_residual_figure(facts(), radial_profiles(facts()))
    for axes in figure.axes:
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["type 0", "type 1", "type 2"]


def test_residuals_of_blur_radii_are_told_by_type_and_left_out_where_there_are_none() -> None:
    figure = blur_residual_figure(facts())
    assert figure is not None
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["type 0", "type 1", "type 2"]
    assert "RMSE 0.099 px" in labels[0]
    unknown = np.full_like(facts().residual, np.nan)
    assert blur_residual_figure(replace(facts(), residual=unknown)) is None


def test_centres_have_a_map_where_there_are_centres() -> None:
    figure = center_residual_figure(fitted_at_truth().fit, facts().size)
    assert figure is not None
    assert len(arrows(figure.axes[0]).U) > 20
    assert center_residual_figure(fitted_at_truth(with_centers=False).fit, facts().size) is None
