"""Poses of boards on disk: libpleno's file, which has one board in a frame, and ours where there are several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plenodepth.geometry import Pose
from plenodepth.io import FramePose, atomic_path, write_poses, yaml_text

VERSION_KEY, VERSION = "plenodepth_board_poses", 1
ALL_SUFFIX = ".boards.yaml"


def write_board_poses(poses: Mapping[tuple[int, int], Pose], path: Path) -> Path | None:
    """Write `cam_from_board` of (frame, board): to `path` the first board of each frame, as the camera in its frame.

    Where a frame shows several boards, which that format cannot hold, all of them go to a file beside it, which is
    returned: `poses.boards.yaml` for `poses.js`.
    """
    first: dict[int, FramePose] = {}
    for (frame, _), pose in sorted(poses.items(), key=lambda item: item[0]):
        inverse = pose.inverse()
        first.setdefault(frame, FramePose(frame, inverse.rotation, inverse.translation))
    write_poses(first.values(), path)
    if len(first) == len(poses):
        return None
    boards = [
        {
            "frame": int(frame),
            "board": int(board),
            "cam_from_board": {"rotation": pose.rotation.tolist(), "translation": pose.translation.tolist()},
        }
        for (frame, board), pose in sorted(poses.items(), key=lambda item: item[0])
    ]
    beside = path.with_suffix(ALL_SUFFIX)
    with atomic_path(beside) as temporary:
        temporary.write_text(yaml_text({VERSION_KEY: VERSION, "boards": boards}), encoding="utf-8")
    return beside


def note_on_boards(path: Path, beside: Path) -> str:
    """What there is to say where there are two files."""
    return f"several boards in a frame: {path.name} can hold but the first of each, {beside.name} has all"
