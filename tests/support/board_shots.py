"""A folder of simulated board images through a small R12-A at f/4, with white image and the features' true places."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ideal_features import ideal_features
from simulated import scene_shot, white_shot

from plenodepth.calib.feature_files import write_features
from plenodepth.calib.features import Board
from plenodepth.camera import preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.geometry import Pose
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Checkerboard, Scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings

BOARD = Board(5, 4, 2.5)
DEPTHS = (265.0, 280.0, 297.0, 315.0, 335.0)
SETTINGS = FrameSettings(RenderSettings(rays=48), SensorSettings())


@dataclass(frozen=True)
class BoardShots:
    camera: Path  # the true one, without κ and Γ
    boards: Path
    features: Path  # where the corners appear through the aperture
    white: Path
    frames: list[int]
    poses: list[Pose]  # cam_from_board


def board_shots(folder: Path) -> BoardShots:
    camera = replace(shrunk(preset("r12-a")), name="small", depth_scale=None, blur_coefficient=None)
    generator = np.random.default_rng(0)
    middle = BOARD.points(np.arange(BOARD.corner_count)).mean(axis=0)
    poses = []
    for depth in DEPTHS:
        turned = Pose.from_rotation_vector(generator.uniform(-0.2, 0.2, 3)).rotation
        poses.append(Pose(turned, np.array([0, 0, depth]) - turned @ middle))
    save_camera(camera, folder / "small.yaml")
    shutil.copytree(white_shot(camera.main_lens.f_number or 4.0, camera, SETTINGS), folder / "white")
    for frame, pose in enumerate(poses):
        scene = Scene((Checkerboard(BOARD.columns, BOARD.rows, BOARD.square, pose, margin=2.0),), ambient=1.0)
        shutil.copytree(scene_shot(scene, camera, SETTINGS, frame=frame), folder / "boards" / f"{frame:02}")
    write_features(ideal_features(camera, poses, BOARD, sigma=0.02), folder / "features.csv")
    return BoardShots(
        folder / "small.yaml",
        folder / "boards",
        folder / "features.csv",
        folder / "white" / "raw.png",
        list(range(len(poses))),
        poses,
    )
