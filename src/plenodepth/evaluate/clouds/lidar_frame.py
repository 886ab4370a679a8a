"""Clouds brought to the camera's frame: reading the pose of a scanner, and what of a cloud the camera can see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.lidar.files import VERSION_KEY, read_lidar_pose
from plenodepth.camera import PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import parse_by_suffix, read_poses, read_text, read_tree

Float64 = NDArray[np.float64]
YAML = (".yaml", ".yml")


def read_cam_from_lidar(path: Path | str) -> Pose:
    """p_cam = pose(p_lidar), mm, from any of three files.

    That of `plenodepth calibrate lidar`; libpleno's {"frame", "pose"}, which holds the opposite, the camera in the
    lidar's frame; and cam_from_lidar.json of a simulated frame, {"rotation": rows, "translation"}.
    """
    if Path(path).suffix.lower() in YAML:
        return read_lidar_pose(path)
    content = parse_by_suffix(read_text(path), path) if Path(path).suffix.lower() == ".json" else None
    if isinstance(content, dict) and VERSION_KEY in content:
        return read_lidar_pose(path)
    if isinstance(content, dict) and "rotation" in content:
        return _simulated_pose(content, path)
    if not read_tree(path).has("pose"):
        fix = "give the file of plenodepth calibrate lidar, or libpleno's"
        raise InputError("holds no pose of a lidar", file=path, fix=fix)
    (stored,) = read_poses(path)
    try:
        return Pose(stored.rotation, stored.translation).inverse()
    except InputError as error:
        raise error.in_file(path) from None


def in_range(points: Float64, near: float, far: float) -> Float64:
    """The points (n, 3), camera frame, whose z is between `near` and `far`, mm."""
    return points[(points[:, 2] >= near) & (points[:, 2] <= far)]


def in_view(points: Float64, camera: PlenopticCamera) -> Float64:
    """The points (n, 3), mm, that a pinhole at the main lens' centre sees on the sensor at distance F.

    That is the view of a central sub-aperture map. What hides behind something nearer counts as seen.
    """
    ahead = points[points[:, 2] > 0]
    on_sensor = ahead[:, :2] * (-camera.main_lens.focal_length / ahead[:, 2])[:, None]
    place = camera.sensor.image_from_metric(on_sensor)
    inside = (place >= -0.5) & (place < np.array([camera.sensor.width, camera.sensor.height]) - 0.5)
    return ahead[inside.all(axis=1)]


def _simulated_pose(content: dict[str, object], path: Path | str) -> Pose:
    try:
        rotation, translation = (np.array(content[name], dtype=np.float64) for name in ("rotation", "translation"))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError("needs a rotation and a translation", file=path) from None
    try:
        return Pose(rotation, translation)
    except InputError as error:
        raise error.in_file(path) from None
