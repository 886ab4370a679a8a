"""The figure of a scene's depth maps."""

from __future__ import annotations

import numpy as np
from drawn_figures import drawn, texts

from plenodepth.view.figures.scene import QUALITY_END, scene_figure


def test_a_scene_shows_differences_where_both_have_a_depth() -> None:
    random = np.random.default_rng(1)
    truth = random.uniform(500, 900, (24, 32)).astype(np.float32)
    found = (truth + random.laplace(0, 5, truth.shape)).astype(np.float32)
    found[random.random(truth.shape) < 0.2] = np.nan
    figure = scene_figure(truth, {"B/C/S": found}, {"B/C/S": 5.0}, "calib")
    assert drawn(figure)
    said = texts(figure)
    share = np.isfinite(found).mean()
    assert f"mask, {100 * share:.0f} % of the truth" in said
    assert "median 5.00 mm" in said
    quality = next(image for axes in figure.axes for image in axes.images if image.get_clim() == (0, QUALITY_END))
    np.testing.assert_allclose(np.ma.filled(quality.get_array(), np.nan), np.abs(found - truth), rtol=1e-6)


def test_a_scene_without_any_depth_has_a_figure() -> None:
    nothing = np.full((4, 5), np.nan, dtype=np.float32)
    assert drawn(scene_figure(nothing, {"B/C/S": nothing}, {"B/C/S": float("nan")}, "empty"))
