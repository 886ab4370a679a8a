"""From raw numbers to ε_z, in small: Γ from some walls makes the displacements of others right, as in the paper.

benchmarks/bench_relative_depth.py does the same with more distances and lenses.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from simulated import rendered_light

from plenodepth.calib import fit_depth_scale, with_depth_scale
from plenodepth.camera import PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.evaluate import median_depth, relative_depth_error
from plenodepth.metric import metric_depth_map
from plenodepth.raw import clean_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Scene
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

CAMERA = replace(shrunk(preset("r12-es"), 24, 20), depth_scale=None)
DISTANCES = np.arange(500.0, 2000.0, 200.0)
CALIBRATED, JUDGED = slice(0, None, 2), slice(1, None, 2)
UNAWARE = DepthSettings(aperture_model="off")  # of the aperture, whose effect Γ is to repair
PAPER = 0.0378  # of R12-ES, there on the distances that Γ was fitted to


def exposed(scene: Scene, seed: int) -> np.ndarray:
    light = rendered_light(scene, CAMERA, RenderSettings(rays=128, seed=seed))
    return expose(light, SensorSettings(color=False, seed=seed))


@cache
def virtual_maps() -> tuple[VirtualDepthMap, ...]:
    white = exposed(white_scene(CAMERA), seed=1)
    walls = [exposed(wall_scene(float(depth), int(depth), CAMERA), int(depth)) for depth in DISTANCES]
    return tuple(estimate_virtual_depth(clean_image(wall, CAMERA, white=white), CAMERA, UNAWARE) for wall in walls)


def depths(camera: PlenopticCamera) -> np.ndarray:
    return np.array([median_depth(metric_depth_map(found, camera)) for found in virtual_maps()])


def test_depth_scale_makes_displacements_right_at_other_distances() -> None:
    uncorrected = depths(CAMERA)
    fit = fit_depth_scale(uncorrected[CALIBRATED], DISTANCES[CALIBRATED])
    corrected = depths(with_depth_scale(CAMERA, fit, "off"))
    before = relative_depth_error(uncorrected[JUDGED], DISTANCES[JUDGED]).mean
    after = relative_depth_error(corrected[JUDGED], DISTANCES[JUDGED]).mean
    assert after < PAPER
    assert after < 0.5 * before


def test_corrected_depths_are_right_themselves() -> None:
    uncorrected = depths(CAMERA)
    fit = fit_depth_scale(uncorrected[CALIBRATED], DISTANCES[CALIBRATED])
    assert np.abs(uncorrected / DISTANCES - 1).max() > 0.15  # N = 4: the paper's phenomenon
    assert np.abs(fit.corrected(uncorrected) / DISTANCES - 1).max() < 0.04
