"""The paper's depth-scale phenomenon appears on our own simulated images, of itself.

Distances found by the authors' program on the authors' simulated images of this camera, which has no free parameter
here; it leaves out 3 px of the rim of a micro-image, where the effect is strongest.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from simulated import rendered_light

from plenodepth.camera import (
    Distortion,
    MainLens,
    PlenopticCamera,
    fitted_to_lenses,
    metric_from_virtual,
    preset,
)
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Pose
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene

LIKE_THE_AUTHORS = DepthSettings(blur=False, margin=3.0, aperture_model="off")
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


@cache
def camera() -> PlenopticCamera:
    """F = 50.0109, D = 50.6, d = 0.326717 mm, no tilt, no distortion, no depth scale."""
    base = shrunk(preset("r12-b"), 32, 28)
    x, y, _ = base.micro_lenses.cam_from_mla.translation
    made = replace(
        base,
        main_lens=MainLens(50.0109, 4.0),
        distortion=Distortion(),
        inverse_distortion=None,
        depth_scale=None,
        sensor=replace(base.sensor, position=np.array([*base.sensor.position[:2], -50.6 - 0.326717])),
        micro_lenses=replace(
            base.micro_lenses,
            pitch=np.full(2, 0.127476),
            focal_lengths=np.array([0.566389, 0.507087, 0.542469]),
            cam_from_mla=Pose(np.eye(3), np.array([x, y, -50.6])),
        ),
    )
    return fitted_to_lenses(made)


def found_depth(depth: float, f_number: float) -> float:
    settings = RenderSettings(rays=64, f_number=f_number, vignetting=False, seed=int(depth))
    gray = (rendered_light(wall_scene(depth, 2, camera()), camera(), settings) @ LUMINANCE).astype(np.float32)
    found = estimate_virtual_depth(RawImage(gray, None, 0.0, Devignetting.NONE), camera(), LIKE_THE_AUTHORS)
    k, l = camera().micro_images.lattice.indices()
    z = metric_from_virtual(found.virtual_depth.astype(np.float64), camera(), k, l, invalid="nan")
    return float(np.nanmedian(z[3:-3, 3:-3]))


@pytest.mark.parametrize(("depth", "theirs"), [(1200.0, 1309.0), (700.0, 836.0), (500.0, 609.0)])
def test_at_f_4_objects_seem_farther_by_as_much_as_the_authors_saw(depth: float, theirs: float) -> None:
    assert abs(found_depth(depth, 4.0) - theirs) < 0.03 * depth


@pytest.mark.parametrize("depth", [1200.0, 700.0, 500.0])
def test_at_f_1_4_they_do_not(depth: float) -> None:
    assert found_depth(depth, 1.4) == pytest.approx(depth, rel=0.005)
