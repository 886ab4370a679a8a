"""Scenes to judge views by: their detail is such that the camera can resolve it."""

from __future__ import annotations

import math

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.geometry import Pose
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene, Sphere
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.scenes.twins import view_center, view_size

BLOTS, OCTAVES = 9.0, 3  # across the view's height in the coarsest octave
TEXELS = 24  # of such a blot
NEAR, FAR = 850.0, 1100.0  # mm
SLANT = math.radians(5)  # of the board: as ISO 12233 has it


def soft_scene(camera: PlenopticCamera, seed: int = 0) -> Scene:
    """A ball before a wall that is turned by 20 degrees, both with soft blots."""
    radius = 0.28 * view_size(NEAR, camera)[1]
    ball = Sphere(radius, Pose(np.eye(3), view_center(NEAR + radius, camera)), _blots(4, 2, seed + 1), "ball")
    return Scene((_wall(camera, math.radians(20), seed), ball))


def edge_scene(camera: PlenopticCamera, seed: int = 0) -> Scene:
    """A board with slanted edges before a wall."""
    square = view_size(NEAR, camera)[1] / 4.6
    turned = Pose.from_rotation_vector([0, 0, SLANT], np.zeros(3)).rotation
    corner = view_center(NEAR, camera) - turned @ np.array([square, square, 0.0])
    board = Checkerboard(3, 3, square, Pose(turned, corner), margin=square / 3)
    return Scene((_wall(camera, 0.0, seed), board))


def _wall(camera: PlenopticCamera, turn: float, seed: int) -> Rectangle:
    width, height = (1.6 * side for side in view_size(FAR, camera))
    turned = Pose.from_rotation_vector([0, turn, 0], view_center(FAR, camera))
    blots = 1.6 * BLOTS
    return Rectangle(width, height, turned, _blots(blots * width / height, blots, seed), "wall")


def _blots(across: float, down: float, seed: int) -> Material:
    """Noise with so many blots, none finer than a quarter of them."""
    size = (round(TEXELS * count) for count in (across, down))
    return Material(texture=noise_image(*size, octaves=OCTAVES, cell=TEXELS, seed=seed), emits=True)
