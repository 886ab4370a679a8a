"""How well a camera explains what was observed: reprojection of board corners and of micro-image centres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.projection import project
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

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
