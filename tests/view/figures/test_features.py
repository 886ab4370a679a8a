"""Corners over board images."""

from __future__ import annotations

import numpy as np
from ideal_features import ideal_features, small_camera, spread_poses

from plenodepth.view.figures.features import feature_figure, thumbnail


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
