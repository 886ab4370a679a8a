"""Whether features are those of a camera, whose micro-images hold them, and of a board."""

from __future__ import annotations

import numpy as np

from plenodepth.calib.features import Board, Features
from plenodepth.camera.model import PlenopticCamera
from plenodepth.errors import InputError

OUTSIDE = 2.0  # px beyond the rim of its micro-image, at which a feature belongs to no such camera
MOST_OUTSIDE = 0.1  # of the features; a few may be wrong


def require_features_of(features: Features, camera: PlenopticCamera) -> None:
    """Refuse features whose indices the camera does not have, or which lie outside the micro-images they name."""
    if not len(features):
        raise InputError("holds no features", fix="detect them first: plenodepth calibrate features")
    lattice = camera.micro_images.lattice
    for name, index, count in (("k", features.k, lattice.columns), ("l", features.l, lattice.rows)):
        wrong = (index < 0) | (index >= count)
        if wrong.any():
            raise InputError(
                f"{name} = {index[wrong][0]}, camera '{camera.name}' has 0 … {count - 1}",
                field="features",
                fix="give the camera that the features were found with",
            )
    away = np.linalg.norm(features.uv - camera.micro_images.center(features.k, features.l), axis=1)
    share = float(np.mean(~(away <= camera.micro_images.radius + OUTSIDE)))
    if share > MOST_OUTSIDE:
        raise InputError(
            f"{100 * share:.0f} % lie outside their micro-images in camera '{camera.name}'",
            field="features",
            fix="give the camera that the features were found with",
        )


def require_corners_of(board: Board, features: Features) -> None:
    """Refuse features none of which belongs to a board, or whose corners the board does not have."""
    if not (features.corner >= 0).any():
        raise InputError(
            "have no feature that belongs to a board", field="features", fix="find them with the board's size"
        )
    if features.corner.max() >= board.corner_count:
        raise InputError(
            f"have a corner {features.corner.max()}, the board has {board.columns} × {board.rows}",
            field="features",
            fix="give the board's inner corners as columns x rows",
        )
