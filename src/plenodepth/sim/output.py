"""The files of a simulated frame: raw image, ground truth, camera, and what made them, in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.camera import PlenopticCamera, save_camera
from plenodepth.errors import InputError
from plenodepth.io import (
    FramePose,
    LibplenoBoard,
    LibplenoScene,
    Observations,
    write_float_map,
    write_image,
    write_observations,
    write_ply,
    write_poses,
    write_pts,
)
from plenodepth.io import write_scene as write_boards
from plenodepth.io.atomic import made_folder
from plenodepth.io.claims import claimed
from plenodepth.io.temporaries import sweep, temporary_name
from plenodepth.sim.lidar import ExtrinsicTargets, LidarScan
from plenodepth.sim.scenes.scene import Checkerboard, Scene
from plenodepth.sim.sensor import RawArray
from plenodepth.sim.truth import GroundTruth

INFO = "info.json"  # marks a folder as a simulated frame
OPTICS = "optics.yaml"  # the real lenses of a frame or a dataset; not there with thin ones


@contextmanager
def frame_folder(path: str | Path) -> Iterator[Path]:
    """Give a temporary folder that becomes the folder `path` at the end of the block, and is removed on an error.

    An earlier frame at `path` (a folder with an info.json) is replaced; any other folder with files in it is refused.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise InputError("is a file", file=path, fix="give the name of a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / INFO).is_file():
        raise InputError("is a folder with other things in it", file=path, fix="give a new or empty folder")
    sweep(target.parent)
    temporary = target.with_name(temporary_name(target.name))
    with ExitStack() as made:  # the folders above, too
        try:
            made.enter_context(made_folder(temporary))
            made.enter_context(claimed(target))
        except InputError as error:
            raise InputError(error.message, file=path, fix=error.fix) from None
        try:
            yield temporary
            _put_in_place(temporary, target)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _put_in_place(made: Path, target: Path) -> None:
    """Rename a folder; the one that it replaces is moved away before, and removed after."""
    if not target.exists():
        made.rename(target)
        return
    earlier = target.with_name(temporary_name(target.name))
    target.rename(earlier)
    try:
        made.rename(target)
    except OSError:
        earlier.rename(target)
        raise
    shutil.rmtree(earlier, ignore_errors=True)


def write_raw(raw: RawArray, folder: Path) -> None:
    """raw.png: 8 bits, or 16 with the sensor's own range in the lower bits."""
    write_image(raw, folder / "raw.png")


def write_truth(truth: GroundTruth, scene: Scene, folder: Path, frame: int = 0) -> None:
    """The maps and, for scenes with boards, features, poses and board in libpleno's formats."""
    write_float_map(truth.depth, folder / "depth.tiff")
    write_float_map(truth.virtual_depth, folder / "virtual_depth.tiff")
    write_float_map(truth.lens_depth, folder / "lens_depth.tiff")
    write_float_map(truth.lens_virtual_depth, folder / "lens_virtual_depth.tiff")
    write_image(truth.visible.astype(np.uint8) * np.uint8(255), folder / "visible.png")
    write_image(truth.boundary.astype(np.uint8) * np.uint8(255), folder / "boundary.png")
    write_image((truth.object_index + 1).astype(np.uint16), folder / "objects.png")
    boards = [thing for thing in scene.objects if isinstance(thing, Checkerboard)]
    if not boards:
        return
    features = truth.features.copy()
    features["frame"] = frame
    write_observations(Observations(features=features), folder / "features.bin.gz")
    write_observations(Observations(features=features), folder / "features.csv")
    if len(boards) == 1:
        board = boards[0]
        stored = board.cam_from_object.inverse()
        write_poses([FramePose(frame, stored.rotation, stored.translation)], folder / "poses.js")
        record = LibplenoBoard(board.columns, board.rows, board.square, np.eye(3), np.zeros(3))
        write_boards(LibplenoScene(checkerboards=(record,)), folder / "scene.js")


def write_lidar(scan: LidarScan, folder: Path) -> None:
    """lidar.ply and lidar.pts in the scanner's frame, and the pose that brings them to the camera."""
    write_ply(scan.points, folder / "lidar.ply", colors=scan.colors, intensity=scan.intensity)
    write_pts(scan.points, folder / "lidar.pts", intensity=scan.intensity, colors=scan.colors)
    pose = scan.cam_from_lidar
    content = {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()}
    (folder / "cam_from_lidar.json").write_text(json.dumps(content, indent=2) + "\n")


def write_targets(targets: ExtrinsicTargets, folder: Path) -> None:
    """targets.json: the corners of all boards in the camera's and in the scanner's frame, mm."""
    content = {"boards": targets.boards, "camera": targets.camera.tolist(), "lidar": targets.lidar.tolist()}
    (folder / "targets.json").write_text(json.dumps(content, indent=1) + "\n")


def write_description(
    info: Mapping[str, Any], camera: PlenopticCamera, folder: Path, scene_file: str | Path | None = None
) -> None:
    """camera.yaml, info.json and the scene's file: everything that it takes to make the frame again."""
    save_camera(camera, folder / "camera.yaml")
    if scene_file is not None:
        shutil.copyfile(scene_file, folder / "scene.yaml")
    (folder / INFO).write_text(json.dumps(info, indent=2) + "\n")
