"""Where a laser scanner stands, from files: its scan and an image, or targets and features that were found before.

The work folder gets the record `lidar.json`, and what was found: `targets.csv` and `targets-seen.csv`. The step is
skipped if it is up to date.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.calib.feature_files import read_features, write_features
from plenodepth.calib.features import Features, require_features_of
from plenodepth.calib.lidar.files import (
    Targets,
    read_scan,
    read_targets,
    write_libpleno_lidar_pose,
    write_lidar_pose,
    write_targets,
)
from plenodepth.calib.lidar.pose import LidarPose, find_lidar_pose
from plenodepth.calib.lidar.scan_targets import find_lidar_targets
from plenodepth.calib.lidar.scanner import Scanner, find_scanner
from plenodepth.calib.records import keep_record, kept_record
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import load_raw

RECORD, TARGETS, FEATURES = "lidar.json", "targets.csv", "targets-seen.csv"


@dataclass(frozen=True)
class ScannerFiles:
    """Targets or a scan, and features or an image (with its white image)."""

    targets: Path | None = None
    cloud: Path | None = None
    features: Path | None = None
    image: Path | None = None
    white: Path | None = None

    def __post_init__(self) -> None:
        for one, other, names in (
            (self.targets, self.cloud, "cloud or targets"),
            (self.features, self.image, "image or features"),
        ):
            if (one is None) == (other is None):
                raise InputError("needs one of them", field=names, fix="give cloud and image to have targets found")
        if self.features is not None and self.targets is None:
            raise InputError("number their targets", field="features", fix="give targets, or image instead")

    @property
    def given(self) -> dict[str, Path]:
        """The files by name; an `InputError` where one is not there."""
        given = {name: path for name, path in vars(self).items() if path is not None}
        for path in given.values():
            if not path.is_file():
                raise InputError("is no file", file=path)
        return given


@dataclass(frozen=True)
class Rotation:
    """cam_from_lidar: p_cam = rotation · p_lidar + translation, mm."""

    rotation: tuple[tuple[float, ...], ...]  # (3, 3)
    translation: tuple[float, ...]  # (3,) mm


@dataclass(frozen=True)
class PoseSigma:
    """Standard deviations of a pose."""

    rotation: tuple[float, ...]  # (3,) rad
    translation: tuple[float, ...]  # (3,) mm


@dataclass(frozen=True)
class TargetResiduals:
    """What the views of a target tell: residuals (predicted less seen, px) of those that count."""

    number: int
    name: str
    views: int
    outliers: int
    rmse_uv: float
    mean_u: float
    mean_v: float
    rmse_rho: float


@dataclass(frozen=True)
class LidarRecord:
    """The pose of the scanner, how well it is known, and the targets by which it was found."""

    cam_from_lidar: Rotation
    sigma: PoseSigma
    covariance: tuple[tuple[float, ...], ...]  # (6, 6): rotation, rad, then translation, mm
    rmse: float  # px
    camera: str
    aperture_aware: bool
    frame: int
    targets: tuple[TargetResiduals, ...]
    found_in_image: int | None = None  # these four only where targets were searched for
    found_in_cloud: int | None = None
    target_places: tuple[tuple[float, ...], ...] | None = None  # (n, 3) mm, LIDAR frame
    target_sigma: tuple[float, ...] | None = None  # (n,) mm


@dataclass(frozen=True, eq=False)
class ScannerPose:
    """A pose that was found now, with the targets by which it was found."""

    pose: LidarPose
    targets: Targets
    frame: int
    scanner: Scanner | None = None  # where targets were searched for


@dataclass(frozen=True, eq=False)
class LidarStep:
    """The pose of a scanner, written to a file."""

    record: LidarRecord
    found: ScannerPose | None  # None where an earlier result is up to date

    @property
    def fresh(self) -> bool:
        """Made now, not by an earlier run."""
        return self.found is not None


def find_scanner_pose(
    files: ScannerFiles,
    camera: PlenopticCamera,
    *,
    aperture: bool = True,
    frame: int | None = None,
    target_sigma: float | None = None,
    progress: Progress = no_progress,
) -> ScannerPose:
    """cam_from_lidar by the targets that scanner and camera see.

    `aperture`: targets appear where the main lens' aperture puts them. `frame`: which frame of the features; needed
    where there are several. `target_sigma`: standard deviation of the targets' coordinates, mm; by default as found in
    the scan, or 0.
    """
    if files.targets is not None:
        targets = read_targets(files.targets)
        sigma, sure = np.full(len(targets.points), target_sigma or 0.0), None
    else:
        assert files.cloud is not None
        targets, sigma, sure = _targets_of_scan(files.cloud, target_sigma, progress)
    if files.features is not None:
        shown, number = _features_of_frame(files.features, frame, camera)
        pose = find_lidar_pose(
            targets.points, shown, camera, aperture=aperture, target_sigma=0.0 if target_sigma is None else target_sigma
        )
        return ScannerPose(pose, targets, number)
    assert files.image is not None
    clean = load_raw(files.image, camera, white=files.white)
    scanner = find_scanner(
        clean.gray,
        targets,
        sigma,
        camera,
        aperture=aperture,
        sure=sure,
        frame=frame or 0,
        report=lambda what: progress(0, 1, what),
    )
    return ScannerPose(scanner.pose, scanner.targets, frame or 0, scanner)


def lidar_step(
    files: ScannerFiles,
    camera: PlenopticCamera,
    out: Path,
    work: WorkFolder,
    *,
    aperture: bool = True,
    frame: int | None = None,
    target_sigma: float | None = None,
    libpleno_out: Path | None = None,
    progress: Progress = no_progress,
) -> LidarStep:
    """`find_scanner_pose`, written to `out` (.yaml, .json) and, in libpleno's form, to `libpleno_out` (.js)."""
    given = files.given
    results = [str(path.resolve()) for path in (out, libpleno_out) if path is not None]
    values = {
        "camera": camera,
        "inputs": list(given),
        "frame": frame,
        "target_sigma": target_sigma,
        "aperture": aperture,
        "results": results,
    }
    key = cache_key(values, given.values())
    record = kept_record(LidarRecord, work, RECORD, key)
    if record is not None:
        return LidarStep(record, None)
    found = find_scanner_pose(
        files, camera, aperture=aperture, frame=frame, target_sigma=target_sigma, progress=progress
    )
    record = _record(found, camera, aperture)
    if found.scanner is not None:
        write_targets(found.scanner.targets, work / TARGETS)
        write_features(found.scanner.features, work / FEATURES)
    if libpleno_out is not None:
        write_libpleno_lidar_pose(found.pose.cam_from_lidar, libpleno_out, found.frame)
    write_lidar_pose(record, out)
    keep_record(record, work, RECORD, key, results)
    return LidarStep(record, found)


def _targets_of_scan(
    cloud: Path, target_sigma: float | None, progress: Progress
) -> tuple[Targets, Array, NDArray[np.bool_]]:
    """Targets of a scan, the standard deviations of their coordinates, mm, and whether they are sure."""
    progress(0, 1, "targets in the scan")
    found = find_lidar_targets(
        *read_scan(cloud), report=lambda done, total: progress(done, total, "targets in the scan")
    )
    names = tuple(f"target {number}" for number in range(len(found)))
    sigma = found.sigma if target_sigma is None else np.full(len(found), target_sigma)
    return Targets(found.points, names), sigma, found.sure


def _features_of_frame(path: Path, frame: int | None, camera: PlenopticCamera) -> tuple[Features, int]:
    """The features of one frame, and its number."""
    features = read_features(path)
    try:
        require_features_of(features, camera)
    except InputError as error:
        raise error.in_file(path) from None
    frames = features.frames.tolist()
    if frame is None:
        if len(frames) > 1:
            raise InputError(
                f"is needed: there are {len(frames)} ({frames[0]} … {frames[-1]})", file=path, field="frame"
            )
        frame = frames[0]
    if frame not in frames:
        raise InputError(
            f"is {frame}, the features are of {', '.join(map(str, frames[:8]))}" + (", …" if len(frames) > 8 else ""),
            field="frame",
        )
    return features.where(features.frame == frame), int(frame)


def _record(found: ScannerPose, camera: PlenopticCamera, aperture: bool) -> LidarRecord:
    pose, scanner = found.pose, found.scanner
    return LidarRecord(
        cam_from_lidar=Rotation(_rows(pose.cam_from_lidar.rotation), tuple(pose.cam_from_lidar.translation.tolist())),
        sigma=PoseSigma(tuple(pose.rotation_sigma.tolist()), tuple(pose.translation_sigma.tolist())),
        covariance=_rows(pose.covariance),
        rmse=pose.rmse,
        camera=camera.name,
        aperture_aware=aperture,
        frame=found.frame,
        targets=_residuals(pose, found.targets.names),
        found_in_image=None if scanner is None else scanner.in_image,
        found_in_cloud=None if scanner is None else scanner.in_cloud,
        target_places=None if scanner is None else _rows(scanner.targets.points),
        target_sigma=None if scanner is None else tuple(scanner.sigma.tolist()),
    )


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _residuals(found: LidarPose, names: tuple[str, ...]) -> tuple[TargetResiduals, ...]:
    """What the views of each target tell."""
    rows = []
    for target in np.unique(found.target).tolist():
        mine = found.target == target
        counts = mine & (found.weights > 0)
        values = found.residuals[counts]
        mean = values.mean(axis=0) if len(values) else np.full(3, np.nan)
        square = (values**2).mean(axis=0) if len(values) else np.full(3, np.nan)
        rows.append(
            TargetResiduals(
                number=target,
                name=names[target],
                views=int(mine.sum()),
                outliers=int(mine.sum() - counts.sum()),
                rmse_uv=float(np.sqrt(square[0] + square[1])),
                mean_u=float(mean[0]),
                mean_v=float(mean[1]),
                rmse_rho=float(np.sqrt(square[2])),
            )
        )
    return tuple(rows)
