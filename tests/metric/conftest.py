"""Virtual depth maps that hold the truth of simulated scenes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from plenodepth.camera import PlenopticCamera, preset
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.geometry import Pose
from plenodepth.sim.scenes.scene import Rectangle, Scene, Sphere
from plenodepth.sim.truth import GroundTruth, ground_truth

MapMaker = Callable[..., VirtualDepthMap]


@pytest.fixture(scope="session")
def camera() -> PlenopticCamera:
    """r12-mini without depth scale: simulated depths are physical."""
    return replace(preset("r12-mini"), depth_scale=None)


@pytest.fixture(scope="session")
def as_map() -> MapMaker:
    def make(virtual_depth: np.ndarray, *, refined: bool, sigma: float = 0.05) -> VirtualDepthMap:
        v = virtual_depth.astype(np.float32)
        present = np.isfinite(v)
        return VirtualDepthMap(
            virtual_depth=v,
            sigma=np.where(present, np.float32(sigma), np.float32(np.nan)),
            confidence=np.where(present, np.float32(0.8), np.float32(0)),
            cost=np.zeros_like(v),
            views=np.full(v.shape, 6, np.int16),
            refined=refined,
        )

    return make


@pytest.fixture(scope="session")
def plane() -> tuple[Pose, Scene]:
    pose = Pose.from_rotation_vector([0.4, -0.3, 0.1], [0, 0, 800])
    return pose, Scene((Rectangle(900, 900, pose),))


@pytest.fixture(scope="session")
def plane_truth(camera: PlenopticCamera, plane: tuple[Pose, Scene]) -> GroundTruth:
    return ground_truth(plane[1], camera)


@pytest.fixture(scope="session")
def frontal_truth(camera: PlenopticCamera) -> GroundTruth:
    pose = Pose(np.eye(3), np.array([0.0, 0.0, 950.0]))
    return ground_truth(Scene((Rectangle(900, 900, pose),)), camera)


@pytest.fixture(scope="session")
def sphere_truth(camera: PlenopticCamera) -> GroundTruth:
    wall = Rectangle(900, 900, Pose(np.eye(3), np.array([0.0, 0.0, 1100.0])))
    return ground_truth(Scene((wall, Sphere(25, Pose(np.eye(3), np.array([5.0, -3.0, 700.0]))))), camera)
