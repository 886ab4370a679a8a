"""Poses of boards alone, by a camera that is calibrated already; and poses of boards on disk.

Files: libpleno's, which has one board in a frame, and ours where there are several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board, Features
from plenodepth.calib.records import finite, keep_record, kept_record
from plenodepth.camera import PlenopticCamera, intrinsic_names
from plenodepth.geometry import Pose
from plenodepth.io import FramePose, atomic_path, write_poses, yaml_text
from plenodepth.progress import Progress, no_progress

RECORD = "poses.json"
VERSION_KEY, VERSION = "plenodepth_board_poses", 1
ALL_SUFFIX = ".boards.yaml"


@dataclass(frozen=True)
class Placement:
    """A pose as JSON has it: p_cam = rotation · p_board + translation, mm."""

    rotation: tuple[tuple[float, float, float], ...]
    translation: tuple[float, float, float]


@dataclass(frozen=True)
class BoardPlace:
    """Where a board stands in a frame, and how well its features agree."""

    frame: int
    board: int
    distance: float  # mm, of the board's middle along the optical axis
    tilt: float  # degrees between the board's normal and the optical axis
    features: int
    outliers: int
    rmse_uv: float  # px, over all features
    rmse_rho: float | None  # px; None without blur radii
    cam_from_board: Placement


@dataclass(frozen=True)
class BoardPoses:
    """The poses of all boards."""

    frames: tuple[BoardPlace, ...]
    rmse_uv: float  # px
    rmse_rho: float | None  # px; None without blur radii
    aperture_aware: bool
    notes: tuple[str, ...]
    boards: str | None = None  # the file that has all boards, where a frame shows several


@dataclass(frozen=True, eq=False)
class PosesStep:
    """The poses of boards, written to a file."""

    record: BoardPoses
    fresh: bool  # made now, not by an earlier run


def find_board_poses(
    features: Features,
    board: Board,
    camera: PlenopticCamera,
    *,
    aperture: bool = True,
    use_rho: bool = True,
    progress: Progress = no_progress,
) -> Adjustment:
    """cam_from_board of all boards; the camera stays as it is.

    `aperture`: corners appear where the main lens' aperture puts them. `use_rho`: use the blur radii of the features.
    """
    settings = AdjustSettings(
        aperture=aperture, hold=intrinsic_names(camera), use_rho=use_rho and camera.type_count > 0
    )
    return adjust(features, None, board, camera, settings, report=lambda what: progress(0, 1, what))


def poses_step(
    features: Features,
    board: Board,
    camera: PlenopticCamera,
    out: Path,
    work: WorkFolder,
    *,
    aperture: bool = True,
    use_rho: bool = True,
    progress: Progress = no_progress,
) -> PosesStep:
    """`find_board_poses`, written to `out` (.js). The work folder gets the record `poses.json`."""
    values = {
        "camera": camera,
        "features": features,
        "board": board,
        "aperture": aperture,
        "use_rho": use_rho,
        "out": out.resolve(),
    }
    key = cache_key(values)
    record = kept_record(BoardPoses, work, RECORD, key)
    if record is not None:
        return PosesStep(record, False)
    found = find_board_poses(features, board, camera, aperture=aperture, use_rho=use_rho, progress=progress)
    work.path.mkdir(parents=True, exist_ok=True)
    beside = write_board_poses(found.estimate.poses, out)
    record = BoardPoses(
        frames=board_places(found, board),
        rmse_uv=found.rmse_uv,
        rmse_rho=finite(found.rmse_rho),
        aperture_aware=aperture,
        notes=(*found.notes, *([note_on_boards(out, beside)] if beside else [])),
        boards=str(beside) if beside else None,
    )
    keep_record(record, work, RECORD, key, [str(path.resolve()) for path in (out, beside) if path is not None])
    return PosesStep(record, True)


def board_places(found: Adjustment, board: Board) -> tuple[BoardPlace, ...]:
    """Where each board stands, and the residuals of its features."""
    middle = board.points(np.arange(board.corner_count)).mean(axis=0)
    places = []
    for (frame, number), pose in found.estimate.poses.items():
        mine = (found.fit.features.frame == frame) & (found.fit.features.board == number)
        values = found.fit.residuals[mine]
        blur = values[np.isfinite(values[:, 2]), 2]
        first, second, third = (tuple(row) for row in pose.rotation.tolist())
        places.append(
            BoardPlace(
                frame=int(frame),
                board=int(number),
                distance=float(pose(middle)[2]),
                tilt=float(np.degrees(np.arccos(np.clip(abs(pose.rotation[2, 2]), 0, 1)))),
                features=int(mine.sum()),
                outliers=int((found.fit.weight[mine] == 0).sum()),
                rmse_uv=float(np.sqrt((values[:, :2] ** 2).sum(axis=1).mean())),
                rmse_rho=float(np.sqrt((blur**2).mean())) if len(blur) else None,
                cam_from_board=Placement((first, second, third), tuple(pose.translation.tolist())),
            )
        )
    return tuple(places)


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
    """A note that a second file holds all boards."""
    return f"several boards in a frame: {path.name} can hold but the first of each, {beside.name} has all"
