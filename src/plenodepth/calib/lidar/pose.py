"""Where a laser scanner stands: cam_from_lidar by a few targets that both it and the camera see.

The targets' places are known in the LIDAR frame, and the camera sees each through many lenses. To begin with, each
target is one ray through the main lens' centre, and the pose that of a pinhole camera, or, since virtual depth gives
their places in the camera frame, too, the rigid motion between the two constellations: so the scanner's frame may be
turned any way. Then the residuals (u, v, ρ) of all views decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import ArrayLike

from plenodepth.calib.bundle.residuals import Residuals, Seen, feature_residuals
from plenodepth.calib.bundle.start_poses import corner_depths
from plenodepth.calib.bundle.weights import line_scale, plane_scale, robust_weight, whitening
from plenodepth.calib.features import Features
from plenodepth.calib.lidar.point_matching import rigid_motion
from plenodepth.camera import metric_from_virtual
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

LEAST_TARGETS = 4
LEAST_WITH_START = 3  # where their distances told already which is which
LEAST_WIDTH = 1e-3  # of the constellation's length: narrower ones are a line, about which the scanner could turn
REWEIGHTINGS = 10
LEAST_SIGMA = 1e-6  # mm, of a target among others that are less well known
STEPS = 60  # of Levenberg and Marquardt's method, in all
CONVERGED = 1e-9  # of the cost
NO_MATCH = 5.0  # px: a target that fits no better than this is not that of its features


@dataclass(frozen=True, eq=False)
class LidarPose:
    """cam_from_lidar and how well n views of m targets agree with it."""

    cam_from_lidar: Pose
    covariance: Array  # (6, 6) of the small step of `Pose.perturbed`: rotation, rad, then translation, mm
    residuals: Array  # (n, 3) predicted less seen u, v, ρ, px; ρ is 0 where it is unknown
    weights: Array  # (n,) in [0, 1]; 0: an outlier
    target: Indices  # (n,) of each view
    start: Pose  # before the refinement

    @property
    def rotation_sigma(self) -> Array:
        """Standard deviations (3,) of the rotation about the LIDAR frame's axes, rad."""
        return np.asarray(np.sqrt(np.diag(self.covariance)[:3]))

    @property
    def translation_sigma(self) -> Array:
        """Standard deviations (3,) of the scanner's place in the camera frame, mm."""
        return np.asarray(np.sqrt(np.diag(self.covariance)[3:]))

    @property
    def rmse(self) -> float:
        """Root of the mean squared distance |(u, v)| of the views that count, px."""
        counts = self.weights > 0
        return float(np.sqrt(np.mean((self.residuals[counts, :2] ** 2).sum(axis=1))))


def find_lidar_pose(
    targets: ArrayLike,
    features: Features,
    camera: PlenopticCamera,
    *,
    aperture: bool,
    target_sigma: ArrayLike = 0.0,
    start: Pose | None = None,
) -> LidarPose:
    """cam_from_lidar by targets (m, 3) mm, LIDAR frame, and their features, whose `cluster` is the target's number.

    Features of other clusters are left out. With `aperture` targets are predicted where they appear through the
    camera's aperture. `target_sigma`, one or (m,), is the standard deviation of the targets' coordinates, mm. With a
    pose to `start` from three targets are enough.
    """
    points = np.asarray(targets, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError(f"has shape {points.shape}, needs finite x, y, z of each target", field="targets")
    sigma = np.asarray(target_sigma, dtype=np.float64)
    if not (np.isfinite(sigma) & (sigma >= 0)).all():
        raise InputError(f"is {sigma}, needs a number ≥ 0", field="target_sigma", fix="give it in mm")
    there = (features.cluster >= 0) & (features.cluster < len(points)) & np.isfinite(features.uv).all(axis=1)
    mine = features.where(there)
    mine = mine.where(np.argsort(mine.cluster, kind="stable"))
    _require_constellation(points[np.unique(mine.cluster)], LEAST_TARGETS if start is None else LEAST_WITH_START)
    problem = _Problem(camera, points, mine, aperture, np.broadcast_to(sigma, len(points)))
    starts = _starts(points, mine, camera) if start is None else iter([start])
    found = [(first, problem.refined(first)) for first in starts]
    if not found:
        raise InputError("no pose puts the targets before the camera", field="targets", fix="check their numbers")
    begun, best = min(found, key=lambda pair: problem.missed(pair[1]).max())
    missed = problem.missed(best)
    if not missed.max() <= NO_MATCH:
        raise InputError(
            f"number {np.unique(mine.cluster)[np.argmax(missed)]} misses its features by {missed.max():.0f} px",
            field="targets",
            fix="check that clusters are numbered as the targets, and that coordinates are in mm",
        )
    weighting = problem.weighting(best)
    values = problem.residuals(best, derivatives=False).values
    covariance = np.asarray(np.linalg.inv(problem.normal(best, weighting)[0]), dtype=np.float64)
    return LidarPose(best, covariance, values, weighting.weight, mine.cluster, begun)


def _require_constellation(points: Array, least: int) -> None:
    if len(points) < least:
        raise InputError(f"{len(points)} of them have features, needs {least}", field="targets", fix="see more targets")
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if spread[1] < LEAST_WIDTH * spread[0]:
        raise InputError("lie on a straight line", field="targets", fix="place one aside")


def _starts(points: Array, features: Features, camera: PlenopticCamera) -> Iterator[Pose]:
    """Poses to begin with: those of a pinhole camera, and that by which the targets' places agree best."""
    count = len(features)
    as_corners = replace(
        features, corner=features.cluster, frame=np.zeros(count, np.int64), board=np.zeros(count, np.int64)
    )
    clusters = corner_depths(as_corners, camera)
    chosen = points[clusters.corner]
    focal = -camera.sensor.position[2] / camera.sensor.pixel_size
    u0, v0 = camera.sensor.principal_point
    matrix = np.array([[focal, 0, u0], [0, focal, v0], [0, 0, 1]])
    middle = chosen.mean(axis=0)
    number, turns, shifts, _ = cv2.solvePnPGeneric(
        (chosen - middle)[:, None], clusters.uv[:, None], matrix, None, flags=cv2.SOLVEPNP_SQPNP
    )
    poses = [
        Pose.from_rotation_vector(turn.ravel(), shift.ravel()) @ Pose(np.eye(3), -middle)
        for turn, shift in zip(turns[:number], shifts[:number], strict=True)
        if np.isfinite(turn).all() and np.isfinite(shift).all()
    ]
    depth = metric_from_virtual(clusters.virtual_depth, replace(camera, depth_scale=None), invalid="nan")
    rays = np.column_stack([(clusters.uv - [u0, v0]) / focal, np.ones(len(depth))])
    known = np.isfinite(depth)
    if known.sum() >= LEAST_TARGETS:
        poses.append(rigid_motion(chosen[known], rays[known] * depth[known, None]))
    for pose in poses:
        if (pose(chosen)[:, 2] > camera.main_lens.focal_length).all():
            yield pose


class _Weighting(NamedTuple):
    """Roots (n, 3, 3) of the views' weights, and the robust part (n,) of these."""

    root: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class _Problem:
    camera: PlenopticCamera
    points: Array
    features: Features  # sorted by target
    aperture: bool
    target_sigma: Array  # (m,)

    def residuals(self, pose: Pose, *, derivatives: bool) -> Residuals:
        seen = self.features
        rho = seen.rho if self.camera.type_count else np.full(len(seen), np.nan)
        views = Seen(self.points[seen.cluster], seen.k, seen.l, seen.uv, rho)
        return feature_residuals(views, pose, self.camera, aperture=self.aperture, derivatives=derivatives)

    def missed(self, pose: Pose) -> Array:
        """Median |(u, v)| of each target's residuals, px; any three targets can be fitted, so the worst one tells."""
        values = self.residuals(pose, derivatives=False).values
        distance = np.hypot(values[:, 0], values[:, 1])
        of_target = self.features.cluster
        medians = np.array([np.median(distance[of_target == target]) for target in np.unique(of_target)])
        return np.where(np.isfinite(medians), medians, np.inf)

    def weighting(self, pose: Pose) -> _Weighting:
        """By the features' covariances, by how large their residuals are, and less for those that stand out."""
        root = whitening(self.features.covariance)
        values = self._without_targets_errors(pose, root)
        norm = np.linalg.norm(root @ values[:, :2, None], axis=(1, 2))
        scale = max(plane_scale(norm), 1.0)
        sigma = np.where(np.isfinite(self.features.rho), self.features.rho_sigma, np.inf)
        blur = np.abs(values[:, 2]) / sigma
        blur_scale = max(line_scale(blur[blur > 0]), 1.0)
        weight = robust_weight(norm / scale)
        full = np.zeros((len(norm), 3, 3))
        full[:, :2, :2] = root * (np.sqrt(weight) / scale)[:, None, None]
        full[:, 2, 2] = np.sqrt(np.minimum(weight, robust_weight(blur / blur_scale))) / (blur_scale * sigma)
        return _Weighting(full, weight)

    def _without_targets_errors(self, pose: Pose, root: Array) -> Array:
        """Residuals (n, 3) that are left once each target has moved, within its σ, to where its views have it.

        Otherwise all views of a target that the scanner measured less well would stand out.
        """
        residuals = self.residuals(pose, derivatives=bool(self.target_sigma.any()))
        if residuals.by_pose is None:
            return residuals.values
        by_point = residuals.by_pose[..., 3:] @ pose.rotation
        values, slope = root @ residuals.values[:, :2, None], root @ by_point[:, :2]
        first, counts = np.unique(self.features.cluster, return_index=True, return_counts=True)[1:]
        sigma = np.maximum(self.target_sigma[self.features.cluster[first]], LEAST_SIGMA)
        matrix = np.add.reduceat(slope.transpose(0, 2, 1) @ slope, first) + np.eye(3) / sigma[:, None, None] ** 2
        shift = -np.linalg.solve(matrix, np.add.reduceat(slope.transpose(0, 2, 1) @ values, first))
        return np.asarray(residuals.values + (by_point @ np.repeat(shift, counts, axis=0))[..., 0])

    def normal(self, pose: Pose, weighting: _Weighting) -> tuple[Array, Array, float]:
        """Normal matrix (6, 6), gradient (6,) and cost, with the targets' own errors projected out."""
        residuals = self.residuals(pose, derivatives=True)
        assert residuals.by_pose is not None
        values = (weighting.root @ residuals.values[..., None])[..., 0]
        by_pose = weighting.root @ residuals.by_pose
        by_point = by_pose[..., 3:] @ pose.rotation  # a shift of the pose is one of the point, camera frame
        first = np.flatnonzero(np.diff(self.features.cluster, prepend=-1))

        def per_target(left: Array, right: Array) -> Array:
            return np.asarray(np.add.reduceat(np.einsum("nri,nrj->nij", left, right), first, axis=0))

        column = values[..., None]
        matrix, gradient = per_target(by_pose, by_pose), per_target(by_pose, column)
        cost = float((values**2).sum())
        if self.target_sigma.any():
            sigma = np.maximum(self.target_sigma[self.features.cluster[first]], LEAST_SIGMA)
            own = per_target(by_point, by_point) + np.eye(3) / sigma[:, None, None] ** 2
            cross, point = per_target(by_pose, by_point), per_target(by_point, column)
            solved = np.linalg.solve(own, np.concatenate([cross.transpose(0, 2, 1), point], axis=2))
            matrix = matrix - cross @ solved[..., :6]
            gradient = gradient - cross @ solved[..., 6:]
            cost -= float((point * solved[..., 6:]).sum())
        return matrix.sum(axis=0), gradient.sum(axis=0)[:, 0], cost

    def refined(self, pose: Pose) -> Pose:
        """The pose of least squares from a start, robust weights refreshed on the way."""
        for _ in range(REWEIGHTINGS):
            weighting = self.weighting(pose)
            if not np.isfinite(weighting.root).all():
                return pose
            before, pose = pose, self._solved(pose, weighting)
            moved = np.abs(pose.translation - before.translation).max(), np.abs(pose.rotation - before.rotation).max()
            if moved[0] < 1e-6 and moved[1] < 1e-9:  # mm and rad
                break
        return pose

    def _solved(self, pose: Pose, weighting: _Weighting) -> Pose:
        matrix, gradient, cost = self.normal(pose, weighting)
        damping = 1e-4
        for _ in range(STEPS):
            step = -np.linalg.solve(matrix + damping * np.diag(np.diag(matrix)), gradient)
            moved = pose.perturbed(step)
            there = (moved(self.points[self.features.cluster])[:, 2] > self.camera.main_lens.focal_length).all()
            trial = self.normal(moved, weighting) if there else None
            if trial is not None and np.isfinite(trial[2]) and trial[2] <= cost:
                gained = cost - trial[2]
                pose, (matrix, gradient, cost) = moved, trial
                damping = max(damping / 10, 1e-12)
                if gained <= CONVERGED * cost:
                    break
            else:
                damping *= 10
                if damping > 1e8:
                    break
        return pose
