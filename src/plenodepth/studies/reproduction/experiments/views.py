"""The all-in-focus view against the truth, beside patch tiling: is what we render the scene?

The scenes are its own, and the camera is the true one: the true view is that of its pinhole, and calibration has
experiments of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from plenodepth.camera.pinhole import central_pinhole
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.evaluate.views.comparison import ViewComparison, compare_view
from plenodepth.metric.frame import estimate_depth
from plenodepth.raw import clean_image
from plenodepth.render.allfocus import SCALE, all_in_focus
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import twin
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, render_scene, render_white
from plenodepth.sim.views import true_view
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.results import SceneView, ViewFigures, ViewsResult
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.views.scenes import edge_scene, soft_scene
from plenodepth.studies.views.tiling import tiled_view

STAGE = "views"
TWIN = "r12-elp20"  # whose camera it is
SCENES = {"soft": soft_scene, "edges": edge_scene}


def plan_views(study: Study, datasets: Mapping[str, Dataset]) -> Job[ViewsResult]:
    """Each scene's view."""
    views = tuple((name, Job(judge_view, (name,), STAGE, name)) for name in SCENES)
    return Job(_collect, (views,), STAGE, weight=0, in_caller=True)


def judge_view(study: Study, name: str) -> SceneView:
    """The all-in-focus view of a scene by its own depth, and its tiled one, against the true view of their pixels."""
    camera = replace(twin(TWIN, quick=study.quick).camera, depth_scale=None)
    scene = SCENES[name](camera, study.seed)
    rendering = RenderSettings(study.rays, study.seed, threads=study.threads)
    settings = FrameSettings(rendering, SensorSettings(seed=study.seed))
    white = render_white(None, camera, settings).raw
    image = clean_image(render_scene(scene, camera, settings).raw, camera, white=white, name=name)
    depth = estimate_depth(image, camera, dense=DenseSettings(enabled=True), threads=study.threads)
    view = all_in_focus(depth, threads=study.threads)
    truth = true_view(scene, central_pinhole(camera, SCALE), view.depth.shape, threads=study.threads)
    tiled = tiled_view(image, camera, depth.virtual.virtual_depth, scale=SCALE)
    ours, theirs = (compare_view(light, truth.light, truth.depth) for light in (view.light, tiled))
    return SceneView(_figures(ours), _figures(theirs))


def _figures(found: ViewComparison) -> ViewFigures:
    mtf50 = found.mtf50 if math.isfinite(found.mtf50) else None
    return ViewFigures(found.psnr, found.psnr_linear, found.ssim, found.completeness, mtf50)


def _collect(study: Study, views: tuple[tuple[str, SceneView], ...]) -> ViewsResult:
    return ViewsResult(dict(views))
