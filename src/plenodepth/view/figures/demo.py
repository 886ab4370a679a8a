"""The picture at the end of the demo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from plenodepth.camera import PlenopticCamera
from plenodepth.metric import MetricDepthMap, central_points
from plenodepth.metric.central_view import central_view
from plenodepth.studies.demo import DemoResult
from plenodepth.view.figures.cloud import cloud_picture
from plenodepth.view.figures.overview import overview_figure

ENLARGED = slice(1230, 1440), slice(700, 980)  # rows and columns of the raw image: an ear of the cat before the tower
STEEPEST = 4.0  # mm per pixel of the central view: what is steeper is no surface but the step between two
TITLE = "Depth in millimetres from one raw image of a plenoptic camera (simulated Raytrix R12 at f/4)"


def demo_figure(result: DemoResult) -> Figure:
    """One picture of everything, as a pinhole in place of the main lens sees it."""
    coarse, refined, truth = result.coarse, result.refined, result.frame.truth
    camera, dense = coarse.camera, coarse.dense
    assert isinstance(camera, PlenopticCamera)
    assert dense is not None
    assert truth is not None
    assert refined.metric is not None
    assert coarse.central is not None
    depth, colors = dense.depth, dense.picture
    flat = np.hypot(*np.gradient(depth)) < STEEPEST
    view = cloud_picture(central_points(depth, camera)[flat], colors[flat])
    true_map = replace(refined.virtual, virtual_depth=truth.virtual_depth.astype(np.float32))
    true_depth = MetricDepthMap(truth.depth.astype(np.float32), refined.metric.sigma, refined.metric.confidence, True)
    return overview_figure(
        result.frame.raw,
        _enlarged(result.frame.raw.shape[0], result.frame.raw.shape[1]),
        colors,
        view,
        central_view(true_map, camera, metric=true_depth),
        {"Depth per micro-image": coarse.central, "Dense depth": depth},
        TITLE,
    )


def _enlarged(height: int, width: int) -> tuple[slice, slice]:
    """The part of the raw image that is shown enlarged; of a small one the middle."""
    rows, columns = ENLARGED
    if rows.stop <= height and columns.stop <= width:
        return ENLARGED
    tall, wide = (rows.stop - rows.start) // 2, (columns.stop - columns.start) // 2
    row, column = height // 2, width // 2
    return slice(row - tall, row + tall), slice(column - wide, column + wide)
