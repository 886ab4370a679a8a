"""A simulated frame as a folder: raw image, ground truth, camera, and what made them. Whole, or not there at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth import __version__
from plenodepth.camera import PlenopticCamera, save_camera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
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
from plenodepth.sim.lidar import ExtrinsicTargets, LidarScan
from plenodepth.sim.render import Rendering, RenderSettings
from plenodepth.sim.scenes.scene import Checkerboard, Scene
from plenodepth.sim.sensor import RawArray, SensorSettings
from plenodepth.sim.truth import GroundTruth

INFO = "info.json"  # written last inside a folder, so its presence marks a whole one


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Gives a temporary folder beside `path` that takes its place at the end of the block, or vanishes on an error.

    An earlier result at `path` (a folder with an info.json) is replaced; any other folder with content is refused.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise InputError("is a file", file=path, fix="give the name of a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / INFO).is_file():
        raise InputError("is a folder with other things in it", file=path, fix="give a new or empty folder")
    temporary = target.with_name(f".tmp-{secrets.token_hex(4)}-{target.name[-48:]}")
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=path, fix="give a writable folder") from None
    try:
        yield temporary
        if target.exists():
            shutil.rmtree(target)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def write_raw(raw: RawArray, folder: Path) -> None:
    """raw.png: 8 bits, or 16 with the sensor's own range in the lower bits."""
    write_image(raw, folder / "raw.png")


def write_truth(scene: Scene, truth: GroundTruth, folder: Path, frame: int = 0) -> None:
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
    (folder / "cam_from_lidar.json").write_text(json.dumps(pose_content(scan.cam_from_lidar), indent=2) + "\n")


def write_targets(targets: ExtrinsicTargets, folder: Path) -> None:
    """targets.json: the corners of all boards in the camera's and in the scanner's frame, mm."""
    content = {"boards": targets.boards, "camera": targets.camera.tolist(), "lidar": targets.lidar.tolist()}
    (folder / "targets.json").write_text(json.dumps(content, indent=1) + "\n")


def pose_content(pose: Pose) -> dict[str, Any]:
    """A pose as plain lists: rotation by rows, translation in mm."""
    return {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()}


def write_info(
    folder: Path,
    camera: PlenopticCamera,
    rendering: Rendering,
    render_settings: RenderSettings,
    sensor_settings: SensorSettings,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """camera.yaml and info.json: everything that it takes to make the frame again."""
    save_camera(camera, folder / "camera.yaml")
    info = {
        "plenodepth": __version__,
        "camera": camera.name,
        "f_number": render_settings.f_number or camera.main_lens.f_number,
        "rays": rendering.rays,
        "seconds": round(rendering.seconds, 3),
        "cpu_seconds": round(rendering.cpu_seconds, 3),
        "render": asdict(render_settings),
        "sensor": asdict(sensor_settings),
        **more,
    }
    (folder / INFO).write_text(json.dumps(info, indent=2) + "\n")
    return info
