"""Camera poses in libpleno files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.property_tree import PropertyTree, as_column, as_columns, read_tree, write_tree

FloatArray = npt.NDArray[np.float64]

ORTHONORMAL_TOLERANCE = 1e-5  # on each entry of R^T R - I; some rotations are printed with 6 digits only
NO_FRAME = -1


@dataclass(frozen=True, eq=False)
class FramePose:
    """The pose of the camera IN the board frame (or in the lidar frame) for one frame, as the file stores it.

    p_board = R p_cam + t, and so a board point is brought to the camera by p_cam = R^T (p_board - t). With a board
    in z = 0 seen from the front, t_z is negative. (The pose generator of the libpleno simulator writes files of the
    same form that hold the opposite, the board in the camera frame; the file does not say which.)
    """

    frame: int  # number of the image; -1 where the file gives none
    rotation: FloatArray  # R (3, 3), orthonormal, determinant +1
    translation: FloatArray  # t (3,) [mm]


def read_poses(path: Path | str) -> list[FramePose]:
    """Reads the poses in the order of the file, from `{"poses": [...]}` or the single `{"frame", "pose"}`."""
    tree = read_tree(path)
    if not tree.has("poses"):
        if not tree.has("pose"):
            raise tree.error("poses", "is missing", 'give a list "poses", or one "pose"')
        return [FramePose(tree.integer("frame", default=NO_FRAME), *read_pose(tree, "pose"))]
    poses = [FramePose(entry.integer("frame"), *read_pose(entry, "pose")) for entry in tree.subtrees("poses")]
    seen: set[int] = set()
    for index, pose in enumerate(poses):
        if pose.frame in seen:
            raise tree.error(f"poses.{index}.frame", f"{pose.frame} is there twice", "keep one pose for each frame")
        seen.add(pose.frame)
    return poses


def write_poses(poses: Iterable[FramePose], path: Path | str) -> None:
    """Writes the poses in the given order as `{"poses": [...]}`."""
    entries = [_entry(pose, path, f"poses.{index}.pose") for index, pose in enumerate(poses)]
    write_tree({"poses": entries}, path)


def write_pose(pose: FramePose, path: Path | str) -> None:
    """Writes one pose in the single form, which libpleno expects of a lidar pose."""
    write_tree(_entry(pose, path, "pose"), path)


def read_pose(tree: PropertyTree, path: str, *, required: bool = True) -> tuple[FloatArray, FloatArray]:
    """The rotation (3, 3) and translation (3,) [mm] of the pose at `path`.

    Unless `required`, what is missing is taken from the identity.
    """
    pose = tree.subtree(path) if required or tree.has(path) else PropertyTree(tree.file, {})
    rotation = pose.matrix("rotation", 3, 3) if required or pose.has("rotation") else np.eye(3)
    translation = pose.vector("translation", 3) if required or pose.has("translation") else np.zeros(3)
    fault = rotation_fault(rotation)
    if fault:
        raise pose.error("rotation", *fault)
    return rotation, translation


def pose_content(rotation: FloatArray, translation: FloatArray, *, file: Path | str, field: str) -> dict[str, Any]:
    """A pose as `write_tree` takes it, to go to `field` of `file`."""
    fault = rotation_fault(rotation)
    if fault:
        raise InputError(fault[0], file=file, field=f"{field}.rotation", fix=fault[1])
    return {"rotation": as_columns(rotation), "translation": as_column(translation)}


def rotation_fault(rotation: FloatArray) -> tuple[str, str] | None:
    """What is wrong with a rotation matrix and how to repair it, or None."""
    if np.shape(rotation) != (3, 3):
        return f"has the shape {np.shape(rotation)}", "give a 3 x 3 matrix"
    # The size first, so that the product cannot overflow; and not "> tolerance", which a NaN would pass.
    bounded = bool(np.abs(rotation).max() <= 1 + ORTHONORMAL_TOLERANCE)
    if not (bounded and np.abs(rotation.T @ rotation - np.eye(3)).max() <= ORTHONORMAL_TOLERANCE):
        return "singular pose: not a rotation matrix", "its columns must be orthonormal to 1e-5; give all digits"
    if np.linalg.det(rotation) < 0:
        return "singular pose: a reflection, of determinant -1", "give a rotation, of determinant +1"
    return None


def _entry(pose: FramePose, path: Path | str, field: str) -> dict[str, Any]:
    return {"frame": pose.frame, "pose": pose_content(pose.rotation, pose.translation, file=path, field=field)}
