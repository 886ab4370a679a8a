"""The figures of a calibration show what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from calibrations import fitted_at_truth
from ideal_features import ideal_features, small_camera, spread_poses

from plenodepth.calib.advice.facts import fit_facts
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera import preset, virtual_from_metric
from plenodepth.view.figures.calibration import (
    coverage_figure,
    depth_uncertainty_figure,
    feature_figure,
    thumbnail,
    white_radii_figure,
)


def test_coverage_shows_a_line_for_each_board() -> None:
    camera, facts = preset("r12-mini"), fit_facts(fitted_at_truth())
    figure = coverage_figure(facts, camera)
    spans = [line.get_xdata() for axes in figure.axes for line in axes.lines if len(line.get_xdata()) == 2]
    expected = sorted([[frame.near, frame.far] for frame in facts.frames], key=sum)
    np.testing.assert_allclose(sorted(np.array(spans).tolist(), key=sum), expected)
    above = [axis for axes in figure.axes for axis in axes.child_axes]
    shown = [float(label.get_text()) for label in above[0].get_xticklabels()]
    np.testing.assert_allclose(shown, virtual_from_metric(above[0].get_xticks(), camera), rtol=0.01)


def test_the_uncertainty_of_depth_is_drawn_in_millimetres_and_per_cent() -> None:
    depth = np.linspace(400.0, 1900.0, 5)
    absolute, relative = depth_uncertainty_figure((depth, 0.01 * depth), preset("r12-mini")).axes
    np.testing.assert_allclose(absolute.lines[0].get_ydata(), 0.01 * depth)
    np.testing.assert_allclose(relative.lines[0].get_ydata(), 1.0)


def test_radii_of_white_images_lie_on_their_lines() -> None:
    numbers = np.array([4.0, 8.0, np.nan])
    radii = WhiteRadii(
        numbers, 28 / numbers, np.array([4.0, 5.0]), np.full(2, 0.01), 28.0, 0.1, np.zeros((1, 1), int), 0.0, ()
    )
    figure = white_radii_figure(radii)
    assert figure is not None
    line, points = figure.axes[0].lines[:2]
    np.testing.assert_allclose(points.get_xdata(), [1 / 4, 1 / 8])
    np.testing.assert_allclose(points.get_ydata(), [11.0, 7.5])
    np.testing.assert_allclose(np.interp(1 / 4, *line.get_data()), 11.0)
    assert white_radii_figure(replace(radii, slope=np.nan)) is None


def test_every_view_of_a_corner_is_a_dot_at_its_place() -> None:
    features = ideal_features(small_camera(), spread_poses(2))
    images = {frame: (np.zeros((100, 140), np.float32), 10) for frame in (0, 1, 5)}
    figure = feature_figure(images, features)
    titles = [axes.get_title() for axes in figure.axes[:3]]
    assert titles[2] == "frame 5: 0 features"
    dots = np.asarray(figure.axes[0].collections[0].get_offsets())
    np.testing.assert_allclose(dots, (features.uv[features.frame == 0] + 0.5) / 10 - 0.5)


def test_thumbnails_are_means_of_blocks() -> None:
    image = np.arange(1500 * 900 * 3, dtype=np.float32).reshape(1500, 900, 3) % 97
    small, step = thumbnail(image)
    assert step == 3
    assert small.shape == (500, 300)
    np.testing.assert_allclose(small[0, 0], image[:3, :3].mean(), rtol=1e-5)
