"""BAP features of one image: corners of boards in its micro-images, found without a hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.board_grid import FoundBoard, find_boards
from plenodepth.calib.clusters import find_clusters
from plenodepth.calib.corners import Corners, find_corners
from plenodepth.calib.features import Board, Features
from plenodepth.camera.model import Array, Indices, MicroImageArray

FEW_VIEWS = 4  # views per corner of a board below which a frame is said to be poor


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """The features of one frame, and what there is to say about them."""

    features: Features
    notes: tuple[str, ...]


def find_features(
    gray: NDArray[np.float32], micro_images: MicroImageArray, board: Board, *, frame: int = 0
) -> FrameFeatures:
    """Corners of all boards in a devignetted image (h, w), NaN where unusable."""
    corners, _ = find_corners(gray, micro_images)
    clusters, label = find_clusters(corners, micro_images)
    boards = find_boards(clusters, _edges(corners, label, len(clusters)), board)
    if not boards:
        return FrameFeatures(Features.joined([]), (f"frame {frame}: no board found",))
    return FrameFeatures(_features(corners, label, boards, frame), ())


def _edges(corners: Corners, label: Indices, count: int) -> Array:
    """Directions (m, 2) rad of the two edges at each cluster: means over its views."""
    edges = np.zeros((count, 2))
    bright = np.arctan2(corners.bright[:, 1], corners.bright[:, 0]) / 2
    for number in range(count):
        rows = np.flatnonzero(label == number)
        # Half the angle between the edges about the bright diagonal, then that diagonal's own mean.
        between = corners.normals[rows] + np.pi / 2 - bright[rows, None]
        half = np.median(np.abs(np.angle(np.exp(2j * between))) / 2)
        middle = np.angle(np.exp(2j * bright[rows]).sum()) / 2
        edges[number] = middle + half, middle - half
    return edges


def _features(corners: Corners, label: Indices, boards: list[FoundBoard], frame: int) -> Features:
    parts, start = [], 0
    for number, found in enumerate(boards):
        position = np.full(int(label.max()) + 1, -1)
        position[found.cluster] = np.arange(len(found.cluster))
        at = np.where(label >= 0, position[label], -1)
        rows = np.flatnonzero(at >= 0)
        count = len(rows)
        parts.append(
            Features(
                frame=np.full(count, frame),
                k=corners.k[rows],
                l=corners.l[rows],
                uv=corners.uv[rows],
                covariance=corners.covariance[rows],
                rho=np.full(count, np.nan),
                rho_sigma=np.full(count, np.nan),
                cluster=start + at[rows],
                corner=found.corner[at[rows]],
                board=np.full(count, number),
            )
        )
        start += len(found.cluster)
    return Features.joined(parts)
