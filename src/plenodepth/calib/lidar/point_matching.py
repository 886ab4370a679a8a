"""Which point is which in two sets of points: by the distances between them, and the motion that brings them together.

Some points of either set may be missing in the other. A camera knows directions well and depths less, so two points
agree where they are in one direction, and at one depth within its uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from plenodepth.camera.model import Array, Indices
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

LEAST_MATCHES = 3
MOST_SEEN, MOST_OTHERS = 16, 40  # points of which threes are tried
DEVIATIONS = 3.5  # within which what belongs together agrees
DIRECTION = 5e-4  # rad, of a point that the camera sees: mostly what its calibration leaves open
AT_FIRST = 4.0  # times as far apart may directions be while the motion is that of three points alone
NOT_MUCH_WORSE = 4.0  # χ² per match by which another match may be worse, and still be as good an explanation
LEAST_WIDTH = 0.05  # of a three's length: narrower ones do not tell how the other set is turned
STEPS = 8
MOST_MOTIONS = 5000


@dataclass(frozen=True, eq=False)
class Match:
    """n pairs of points, and the motion that brings the others to those seen."""

    seen: Indices  # (n,) ascending
    other: Indices  # (n,)
    seen_from_other: Pose
    chi: float  # χ² of the pairs


def match_constellations(seen: Array, depth_sigma: Array, others: Array, other_sigma: Array) -> Match:
    """Pairs of `seen` (m, 3) mm, camera frame, with depths to `depth_sigma` (m,) mm, and `others` (k, 3) of any frame.

    The points told best come first. An `InputError` where fewer than three pairs agree, or several matches do alike.
    """
    problem = _Problem(seen, depth_sigma, others, other_sigma)
    best: dict[tuple[tuple[int, int], ...], Match] = {}
    for motion, three, which in problem.motions():
        match = problem.refined(motion, three, which)
        if match is not None:
            key = tuple(zip(match.seen.tolist(), match.other.tolist(), strict=True))
            if key not in best or match.chi < best[key].chi:
                best[key] = match
    counted = f"{len(seen)} found in the image, {len(others)} in the cloud"
    if not best:
        raise InputError(
            f"{counted}; fewer than {LEAST_MATCHES} have the same distances",
            field="targets",
            fix="show more targets to both, or give --targets and --features",
        )
    ranked = sorted(best.values(), key=lambda one: (-len(one.seen), one.chi))
    first = ranked[0]
    for other in ranked[1:]:
        alike = len(other.seen) == len(first.seen) and other.chi < first.chi + NOT_MUCH_WORSE * len(first.seen)
        if alike and _shared(first, other) < LEAST_MATCHES:  # three in common are one motion
            raise InputError(
                f"{counted}; {len(first.seen)} of them match in more than one way",
                field="targets",
                fix="place them unevenly, or give --targets and --features",
            )
    return first


def rigid_motion(points: Array, others: Array) -> Pose:
    """The motion that brings points (n, 3) nearest to others, by least squares."""
    middle, other = points.mean(axis=0), others.mean(axis=0)
    left, _, right = np.linalg.svd((others - other).T @ (points - middle))
    rotation = left @ np.diag([1, 1, np.sign(np.linalg.det(left @ right))]) @ right
    return Pose(rotation, other - rotation @ middle)


@dataclass(frozen=True, eq=False)
class _Problem:
    seen: Array
    depth_sigma: Array
    others: Array
    other_sigma: Array

    def motions(self) -> list[tuple[Pose, Indices, Indices]]:
        """Motions by triples of points with equal distances on both sides, and the triples; the best agreeing ones."""
        count = min(len(self.others), MOST_OTHERS)
        if count < LEAST_MATCHES or len(self.seen) < LEAST_MATCHES:
            return []
        between = np.linalg.norm(self.others[:, None] - self.others[None], axis=2)
        grid = np.stack(np.meshgrid(*[np.arange(count)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        grid = grid[(grid[:, 0] != grid[:, 1]) & (grid[:, 0] != grid[:, 2]) & (grid[:, 1] != grid[:, 2])]
        there = np.stack([between[grid[:, a], grid[:, b]] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
        found: list[tuple[float, tuple[int, ...], Indices]] = []
        for three in combinations(range(min(len(self.seen), MOST_SEEN)), 3):
            here, sigma = self._distances(three)
            if not _wide(self.seen[list(three)]):
                continue
            miss = np.abs(there - here) / sigma
            rows = np.flatnonzero((miss < DEVIATIONS).all(axis=1))
            found += [(float((miss[row] ** 2).sum()), three, grid[row]) for row in rows]
        found.sort(key=lambda one: one[0])
        return [
            (rigid_motion(self.others[which], self.seen[list(three)]), np.array(three), which)
            for _, three, which in found[:MOST_MOTIONS]
        ]

    def _distances(self, three: tuple[int, ...]) -> tuple[Array, Array]:
        """The distances (3,) of three points that are seen, and their standard deviations."""
        lengths, sigmas = [], []
        for a, b in combinations(three, 2):
            step = self.seen[b] - self.seen[a]
            length = float(np.linalg.norm(step))
            rays = [self.seen[n] / np.linalg.norm(self.seen[n]) for n in (a, b)]
            by_depth = [float(step @ ray) / length * self.depth_sigma[n] for n, ray in zip((a, b), rays, strict=True)]
            across = DIRECTION * max(self.seen[a, 2], self.seen[b, 2])
            lengths.append(length)
            sigmas.append(float(np.linalg.norm([*by_depth, across, float(np.max(self.other_sigma))])))
        return np.array(lengths), np.array(sigmas)

    def refined(self, motion: Pose, three: Indices, which: Indices) -> Match | None:
        """Find pairs that agree with a motion, and the motion that fits them, in turn; None with fewer than three."""
        pairs = self._pairs(self._fitted(motion, three, which), AT_FIRST)
        for _ in range(STEPS):
            if len(pairs[0]) < LEAST_MATCHES or not _wide(self.seen[pairs[0]]):
                return None
            motion = self._fitted(motion, *pairs)
            before, pairs = pairs, self._pairs(motion)
            if all(np.array_equal(one, other) for one, other in zip(before, pairs, strict=True)):
                values, _ = self._residuals(motion, *pairs)
                return Match(*pairs, motion, float((values**2).sum()))
        return None

    def _pairs(self, motion: Pose, loosely: float = 1.0) -> tuple[Indices, Indices]:
        """Points that agree, each with the one that agrees best, and only where that is mutual."""
        moved = motion(self.others)
        with np.errstate(divide="ignore", invalid="ignore"):
            plane = self.seen[:, None, :2] / self.seen[:, None, 2:] - moved[None, :, :2] / moved[None, :, 2:]
            sideways = np.linalg.norm(plane, axis=2) / (loosely * DIRECTION)
            along = np.abs(self.seen[:, None, 2] - moved[None, :, 2]) / self.depth_sigma[:, None]
        cost = np.where((moved[None, :, 2] > 0) & np.isfinite(sideways), np.hypot(sideways, along), np.inf)
        best, best_seen = cost.argmin(axis=1), cost.argmin(axis=0)
        rows = np.arange(len(self.seen))
        mutual = (best_seen[best] == rows) & (cost[rows, best] < DEVIATIONS)
        return rows[mutual], best[mutual]

    def _residuals(self, motion: Pose, seen: Indices, other: Indices) -> tuple[Array, Array]:
        """Differences (n, 3), of direction and depth, in standard deviations; and their derivatives (n, 3, 6)."""
        moved = motion(self.others[other])
        x, y, z = moved.T
        direction = (moved[:, :2] / z[:, None] - self.seen[seen, :2] / self.seen[seen, 2:]) / DIRECTION
        depth = (z - self.seen[seen, 2]) / self.depth_sigma[seen]
        by_point = np.zeros((len(z), 3, 3))
        by_point[:, 0, 0] = by_point[:, 1, 1] = 1 / (z * DIRECTION)
        by_point[:, 0, 2], by_point[:, 1, 2] = -x / (z**2 * DIRECTION), -y / (z**2 * DIRECTION)
        by_point[:, 2, 2] = 1 / self.depth_sigma[seen]
        a, b, c = self.others[other].T
        zero = np.zeros_like(a)
        cross = np.stack([np.stack(row, axis=1) for row in ((zero, -c, b), (c, zero, -a), (-b, a, zero))], axis=1)
        # Rotation · exp([w]ₓ) p: the derivative by w is −R [p]ₓ.
        by_turn = -by_point @ motion.rotation @ cross
        return np.column_stack([direction, depth]), np.concatenate([by_turn, by_point], axis=2)

    def _fitted(self, motion: Pose, seen: Indices, other: Indices) -> Pose:
        for _ in range(STEPS):
            values, derivatives = self._residuals(motion, seen, other)
            step = np.linalg.lstsq(derivatives.reshape(-1, 6), -values.reshape(-1), rcond=None)[0]
            motion = motion.perturbed(step)
            if np.abs(step[:3]).max() < 1e-7 and np.abs(step[3:]).max() < 1e-4:
                break
        return motion


def _shared(first: Match, other: Match) -> int:
    """How many pairs two matches have in common."""
    one, two = (set(zip(match.seen.tolist(), match.other.tolist(), strict=True)) for match in (first, other))
    return len(one & two)


def _wide(points: Array) -> bool:
    """Whether points do not lie on one straight line."""
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spread[1] > LEAST_WIDTH * spread[0])
