"""How well a camera fits itself and what was observed: board corners, micro-image centres, inverse distortion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.inverse_distortion import InverseDistortionFit, calibrate_inverse_distortion
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.projection import project
from plenodepth.errors import InputError, PlenodepthError
from plenodepth.geometry import Pose
from plenodepth.io import LibplenoBoard, Observations, read_observations, read_poses, read_scene

Table = NDArray[np.void]

UNASSIGNED = -1  # the cluster of a feature that belongs to no corner of the board


@dataclass(frozen=True)
class FrameResiduals:
    """Root mean squares over the features of one frame, px; ρ is None for pinholes."""

    frame: int
    n: int
    rmse_uv: float
    rmse_rho: float | None


@dataclass(frozen=True)
class Reprojection:
    """Root mean squares over all features, px, and per frame; `unposed` frames had features but no pose."""

    rmse_uv: float
    rmse_rho: float | None
    frames: tuple[FrameResiduals, ...]
    unposed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CameraCheck:
    """What a check found; a part is None where its files were not given or it cannot be computed."""

    camera: PlenopticCamera
    grid: float  # RMSE, px: the micro-image lattice against the projected lens centres
    features: Reprojection | None
    centers: float | None  # RMSE, px, of observed micro-image centres
    inverse_distortion: InverseDistortionFit | None

    def content(self) -> dict[str, Any]:
        """The check as `--json` prints it."""
        found = self.features
        return {
            "rmse_uv": None if found is None else found.rmse_uv,
            "rmse_rho": None if found is None else found.rmse_rho,
            "rmse_centers": self.centers,
            "frames": [] if found is None else [asdict(frame) for frame in found.frames],
            "frames_without_pose": [] if found is None else list(found.unposed),
            "rmse_grid": self.grid,
            "rmse_inverse_distortion": None if self.inverse_distortion is None else self.inverse_distortion.rmse,
        }


def check_camera(
    camera: PlenopticCamera,
    *,
    features: Path | None = None,
    poses: Path | None = None,
    centers: Path | None = None,
    board: LibplenoBoard | Path | None = None,
) -> CameraCheck:
    """Check a camera with itself, and against files of features with the boards' poses, and of micro-image centres.

    `board` is a board or a scene file that has one; by default `scene.js` beside the poses or the features. Without
    `centers` those count that the file of features may hold as well.
    """
    if (features is None) != (poses is None):
        missing, given = ("--poses", features) if poses is None else ("--features", poses)
        raise InputError(f"{missing} must go with it", file=given)
    observed = Observations() if features is None else read_observations(features)
    reprojection = None
    with np.errstate(all="ignore"):  # a camera may be wrong in every way; the numbers below tell
        if features is not None and poses is not None:
            corners = _board(board, poses, features).corners()
            reprojection = _check_feature_file(camera, observed, features, poses, corners)
        return CameraCheck(
            camera=camera,
            grid=grid_agreement(camera),
            features=reprojection,
            centers=_check_center_file(camera, observed, features, centers),
            inverse_distortion=_inverse_distortion(camera),
        )


def _check_feature_file(
    camera: PlenopticCamera, observed: Observations, features: Path, poses: Path, corners: Array
) -> Reprojection:
    if not len(observed.features):
        raise InputError("holds no features", file=features)
    try:
        # Files give the camera in the board's frame; the projection needs the opposite direction.
        cam_from_board = {pose.frame: Pose(pose.rotation, pose.translation).inverse() for pose in read_poses(poses)}
        return check_features(observed.features, cam_from_board, corners, camera)
    except InputError as error:
        raise error.in_file(poses if (error.field or "").startswith("pose") else features) from None


def _check_center_file(
    camera: PlenopticCamera, observed: Observations, features: Path | None, centers: Path | None
) -> float | None:
    file = centers or features
    table = observed.centers if centers is None else read_observations(centers).centers
    if file is None or (centers is None and not len(table)):
        return None
    try:
        return check_centers(table, camera)
    except InputError as error:
        raise error.in_file(file) from None


def _board(given: LibplenoBoard | Path | None, *beside: Path) -> LibplenoBoard:
    if isinstance(given, LibplenoBoard):
        return given
    candidates = [given] if given is not None else [path.parent / "scene.js" for path in beside]
    found = next((path for path in candidates if path.is_file()), given)
    if found is None:
        raise InputError(
            "the size of the board is needed", field="--board", fix="give --board 9x5:10mm, or --scene scene.js"
        )
    boards = read_scene(found).checkerboards
    if len(boards) != 1:
        raise InputError(f"has {len(boards)} boards, needs one", file=found, field="checkerboards")
    return boards[0]


def _inverse_distortion(camera: PlenopticCamera) -> InverseDistortionFit | None:
    """None when there is none, which is a finding and not the end of the check."""
    try:
        return calibrate_inverse_distortion(camera)
    except (PlenodepthError, ValueError):
        return None


def root_mean_square(residuals: ArrayLike) -> float:
    """√(Σ |r|²/n) of residuals (n,) or (n, 2)."""
    r = np.asarray(residuals, dtype=np.float64)
    return float(np.sqrt((r**2).sum() / len(r)))


def check_features(
    features: Table, cam_from_board: Mapping[int, Pose], corners: Array, camera: PlenopticCamera
) -> Reprojection:
    """Reprojection errors of features (k, l, u, v, rho, cluster, frame) of a board with `corners` (n, 3) mm.

    `cluster` is the index of the corner (−1: none, left out); `cam_from_board` holds the board's pose in each frame.
    """
    features = features[features["cluster"] != UNASSIGNED]
    _require_indices(features, camera)
    clusters = features["cluster"]
    if len(features) and not (clusters.min() >= 0 and clusters.max() < len(corners)):
        raise InputError(
            f"goes from {clusters.min()} to {clusters.max()}, the board has {len(corners)} corners",
            field="cluster",
            fix="give the board that the features were taken of",
        )
    frames: list[FrameResiduals] = []
    all_uv, all_rho, unposed = [], [], []
    for frame in np.unique(features["frame"]).tolist():
        if frame not in cam_from_board:
            unposed.append(frame)
            continue
        seen = features[features["frame"] == frame]
        projected = project(cam_from_board[frame](corners[seen["cluster"]]), seen["k"], seen["l"], camera)
        if not np.isfinite(projected.uv).all():
            raise InputError(
                "puts the board inside the focal length or behind the camera", field=f"pose of frame {frame}"
            )
        uv = projected.uv - _columns(seen, "u", "v")
        rho = projected.rho - seen["rho"]
        frames.append(FrameResiduals(frame, len(seen), root_mean_square(uv), _blur_error(camera, rho)))
        all_uv.append(uv)
        all_rho.append(rho)
    if not frames:
        raise InputError("no frame has both features and a pose", field="frame")
    return Reprojection(
        root_mean_square(np.concatenate(all_uv)),
        _blur_error(camera, np.concatenate(all_rho)),
        tuple(frames),
        tuple(unposed),
    )


def _blur_error(camera: PlenopticCamera, residuals: Array) -> float | None:
    return root_mean_square(residuals) if camera.type_count else None


def check_centers(centers: Table, camera: PlenopticCamera) -> float:
    """Root mean square, px, between observed micro-image centres (k, l, u, v) and where the optics put them."""
    _require_indices(centers, camera)
    if not len(centers):
        raise InputError("holds no micro-image centre", field="centers")
    return root_mean_square(predicted_center(centers["k"], centers["l"], camera) - _columns(centers, "u", "v"))


def grid_agreement(camera: PlenopticCamera) -> float:
    """Root mean square, px, between the micro-image lattice and the projected lens centres: the camera with itself."""
    k, l = camera.micro_images.lattice.indices()
    return root_mean_square((predicted_center(k, l, camera) - camera.micro_images.center(k, l)).reshape(-1, 2))


def _columns(table: Table, *names: str) -> Any:
    return np.stack([table[name] for name in names], axis=-1)


def _require_indices(table: Table, camera: PlenopticCamera) -> None:
    inside = camera.micro_images.lattice.contains(table["k"], table["l"])
    if not inside.all():
        row = int(np.argmin(inside))
        lattice = camera.micro_images.lattice
        raise InputError(
            f"row {row + 1} names micro-image ({table['k'][row]}, {table['l'][row]}), the camera has "
            f"{lattice.columns} × {lattice.rows}",
            field="k, l",
            fix="give the camera that took the images",
        )
