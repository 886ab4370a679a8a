"""Corrected against uncorrected disparity (the paper's supplement): the same matches, read in two ways.

A match tells how fast views move against each other, g = λ/v + 1 − λ. The usual formula takes micro-image centres to
stand right behind their lenses and reads 1/g as the virtual depth. So its map follows from the corrected one, and
differs by nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.camera import PlenopticCamera, lens_distances
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.studies.reproduction.datasets import prepared
from plenodepth.studies.reproduction.experiments.relative import method_on
from plenodepth.studies.reproduction.methods import BLADE_U
from plenodepth.studies.reproduction.results import DisparityResult
from plenodepth.studies.reproduction.study import Study

DATASET = "r12-a"


def uncorrected(camera: PlenopticCamera, found: VirtualDepthMap) -> VirtualDepthMap:
    """The coarse map that the uncorrected formula gives for the same matches."""
    ratio = lens_distances(camera, *camera.micro_images.lattice.indices()).pitch_ratio
    v = found.virtual_depth.astype(np.float64)
    slope = (ratio / v**2) / (ratio / v + 1 - ratio) ** 2
    depth, sigma = 1 / (ratio / v + 1 - ratio), slope * found.sigma
    return replace(found, virtual_depth=depth.astype(np.float32), sigma=sigma.astype(np.float32))


def disparity_experiment(study: Study) -> DisparityResult:
    """ε_z on R12-A, unscaled, with either formula."""
    dataset = prepared(study, DATASET)
    return DisparityResult(
        corrected=method_on(study, dataset, BLADE_U),
        uncorrected=method_on(study, dataset, BLADE_U, change=uncorrected),
    )
