"""Where a scanner stands by its cloud and an image alone: targets found in both, matched, and the pose refined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import UNKNOWN, Features
from plenodepth.calib.lidar.files import Targets
from plenodepth.calib.lidar.image_targets import ImageTargets, find_image_targets
from plenodepth.calib.lidar.point_matching import Match, match_constellations
from plenodepth.calib.lidar.pose import LEAST_TARGETS, LidarPose, find_lidar_pose
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Array
from plenodepth.errors import InputError

LEAST_SIGMA = 0.01  # mm, of a target's coordinates where nothing is said of it


@dataclass(frozen=True, eq=False)
class Scanner:
    """The pose, and the n targets by which it was found; their features' `cluster` is their number."""

    pose: LidarPose
    targets: Targets
    sigma: Array  # (n,) mm, of the targets' coordinates
    features: Features
    in_image: int  # corners found there
    in_cloud: int  # targets found there


def find_scanner(
    gray: NDArray[np.float32],
    targets: Targets,
    sigma: Array,
    camera: PlenopticCamera,
    *,
    aperture: bool,
    sure: NDArray[np.bool_] | None = None,
    frame: int = 0,
    report: Callable[[str], None] = lambda what: None,
) -> Scanner:
    """Find the scanner by a devignetted image (h, w) and targets, mm, LIDAR frame, with `sigma` (m,) of coordinates.

    Some of the targets may be none, and some may be missing: which is which their distances tell. Those that are
    `sure` (m,), by default all, are matched first.
    """
    report("targets in the image")
    seen = find_image_targets(gray, camera, frame=frame)
    report("which target is which")
    certain = np.ones(len(sigma), dtype=np.bool_) if sure is None else sure
    match = _matched(seen, targets.points, np.maximum(sigma, LEAST_SIGMA), certain)
    number = np.full(len(seen), UNKNOWN, dtype=np.int64)
    number[match.seen] = np.arange(len(match.seen))
    features = replace(seen.features, cluster=number[seen.features.cluster])
    features = features.where(features.cluster >= 0)
    chosen = Targets(targets.points[match.other], tuple(targets.names[other] for other in match.other))
    known = sigma[match.other]
    pose = find_lidar_pose(
        chosen.points, features, camera, aperture=aperture, target_sigma=known, start=match.seen_from_other
    )
    return Scanner(pose, chosen, known, features, len(seen), len(targets.points))


def _matched(seen: ImageTargets, points: Array, sigma: Array, sure: NDArray[np.bool_]) -> Match:
    """Match the sure targets of image and scan; all targets where the sure ones are too few.

    Corners of textures have depths that are known so little that some of them match by chance.
    """
    here, there = np.flatnonzero(seen.sure), np.flatnonzero(sure)
    found = None
    try:
        found = match_constellations(seen.points[here], seen.depth_sigma[here], points[there], sigma[there])
        found = replace(found, seen=here[found.seen], other=there[found.other])
        if len(found.seen) >= LEAST_TARGETS:
            return found
        of_all = match_constellations(seen.points, seen.depth_sigma, points, sigma)
        return of_all if len(of_all.seen) > len(found.seen) else found
    except InputError:
        if found is not None:
            return found
        return match_constellations(seen.points, seen.depth_sigma, points, sigma)
