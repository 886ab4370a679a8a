"""Features from fitted views: where corners are seen, how blurred, and the virtual depths of their clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.corners.board_views import BoardViews, expected_blur, virtual_depth
from plenodepth.calib.corners.clusters import Clusters
from plenodepth.calib.features import Features
from plenodepth.camera import PlenopticCamera, pitch_ratio
from plenodepth.camera.model import Array, Indices

IN_FOCUS = 0.8  # px: below this |ρ| a corner is so sharp that its blur cannot be told from that of the pixels
IN_FOCUS_SIGMA = 0.4  # px, of ρ there


@dataclass(frozen=True, eq=False)
class ViewFeatures:
    """n features of m clusters."""

    features: Features
    clusters: Clusters  # (m,) those that have features
    blur: Array  # (n,) px: |ρ| as the edges of the corner show it
    blur_sigma: Array  # (n,) px
    virtual_depth: Array  # (m,) NaN without a camera
    virtual_depth_sigma: Array  # (m,)


def features_of_views(
    views: BoardViews,
    chosen: NDArray[np.bool_],
    *,
    corner: Indices,
    board: Indices,
    frame: int,
    camera: PlenopticCamera | None,
) -> ViewFeatures:
    """The views of the `chosen` ones of c clusters, whose corners and boards are `corner` and `board` (c,)."""
    there = chosen[views.label]
    seen, label = np.unique(views.label[there], return_inverse=True)
    corners, clusters = views.corners.where(there), views.clusters.where(seen)
    blur, blur_sigma = 2 * corners.spread, 2 * corners.spread * corners.spread_sigma
    depth, depth_sigma = np.full((2, len(clusters)), np.nan)
    rho, rho_sigma = np.full((2, len(corners)), np.nan)
    if camera is not None:
        depth = virtual_depth(clusters.factor, camera)
        depth_sigma = depth**2 * clusters.factor_sigma / float(pitch_ratio(camera))
        if camera.type_count:
            line = expected_blur(corners.k, corners.l, depth[label], camera)
            sharp = (np.abs(line) < IN_FOCUS) | (blur < IN_FOCUS)
            rho = np.where(sharp, line, np.copysign(blur, line))
            rho_sigma = np.where(sharp, IN_FOCUS_SIGMA, blur_sigma)
    features = Features(
        frame=np.full(len(corners), frame),
        k=corners.k,
        l=corners.l,
        uv=corners.uv,
        covariance=corners.covariance,
        rho=rho,
        rho_sigma=rho_sigma,
        cluster=label,
        corner=corner[seen][label],
        board=board[seen][label],
    )
    return ViewFeatures(features, clusters, blur, blur_sigma, depth, depth_sigma)
