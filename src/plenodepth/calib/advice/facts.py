"""What a calibration was made from and how well it fits, for people: by frame, over the image, by lens type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.camera.depth import virtual_from_metric
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, Indices

LEAST_IN_BIN = 20  # features: the mean of fewer says little


@dataclass(frozen=True)
class FrameFacts:
    """One board in one frame. Distances are those of its corners' depths, mm; tilt in rad."""

    frame: int
    board: int
    features: int
    outliers: int
    rmse_uv: float  # px, over all features
    rmse_rho: float  # px; NaN without blur radii
    near: float
    far: float
    distance: float  # mean depth of the features' corners
    tilt: float  # between the board's normal and the optical axis
    tilt_xy: tuple[float, float]  # the tilt as a vector: which way the normal leans, right and down


@dataclass(frozen=True, eq=False)
class FitFacts:
    """Positions, depths and residuals of the n features of an adjustment, in the order of `Fit.features`."""

    frames: tuple[FrameFacts, ...]
    size: tuple[int, int]  # of the image, px
    micro_radius: float  # of a micro-image, px
    uv: Array  # (n, 2) px, observed
    depth: Array  # (n,) mm, of the corner by its board's pose
    virtual_depth: Array  # (n,) of that depth, amid the array
    lens_type: Indices  # (n,) −1 for pinholes
    residual: Array  # (n, 3) px: u, v, ρ
    counts: NDArray[np.bool_]  # (n,) no outlier
    offset: Array  # (n,) px, distance from the micro-image's centre
    radial: Array  # (n,) px, the part of the residual that points away from that centre

    def cells(self, columns: int, rows: int) -> Indices:
        """How many features (rows, columns) fall into each cell of the image."""
        width, height = self.size
        table, _, _ = np.histogram2d(
            self.uv[:, 1],
            self.uv[:, 0],
            bins=(rows, columns),
            range=((-0.5, height - 0.5), (-0.5, width - 0.5)),
        )
        return table.astype(np.int64)

    @property
    def reach(self) -> float:
        """How far from the centres of micro-images features lie, px: hardly any (one in twenty) beyond."""
        return float(np.quantile(self.offset, 0.95)) if len(self.offset) else 0.0

    @property
    def rmse_of_counting(self) -> float:
        """RMSE (u, v) without the outliers, px; NaN if there is nothing but outliers."""
        squares = (self.residual[self.counts, :2] ** 2).sum(axis=1)
        return float(np.sqrt(squares.mean())) if len(squares) else float("nan")


def fit_facts(adjustment: Adjustment) -> FitFacts:
    """Coverage and residuals of an adjustment, by frame and by feature."""
    camera, fit, estimate = adjustment.camera, adjustment.fit, adjustment.estimate
    features = fit.features
    depth = np.concatenate(
        [estimate.poses[view](weighted.seen.points)[:, 2] for view, weighted in adjustment.problem.views.items()]
    )
    counts = np.asarray(fit.weight > 0)
    frames, start = [], 0
    for view, weighted in adjustment.problem.views.items():
        rows = slice(start, start + len(weighted.root))
        start = rows.stop
        normal = estimate.poses[view].rotation[:, 2]
        lean = normal[:2] * np.sign(normal[2])
        tilt = float(np.arctan2(np.hypot(*lean), abs(normal[2])))
        toward = lean / max(float(np.hypot(*lean)), 1e-12) * tilt
        frames.append(
            FrameFacts(
                *view,
                features=len(weighted.root),
                outliers=int(np.count_nonzero(~counts[rows])),
                rmse_uv=float(np.sqrt((fit.residuals[rows, :2] ** 2).sum(axis=1).mean())),
                rmse_rho=root_mean_square(fit.residuals[rows, 2]),
                near=float(depth[rows].min()),
                far=float(depth[rows].max()),
                distance=float(depth[rows].mean()),
                tilt=tilt,
                tilt_xy=(float(toward[0]), float(toward[1])),
            )
        )
    away = features.uv - predicted_center(features.k, features.l, camera)
    offset = np.hypot(away[:, 0], away[:, 1])
    radial = (fit.residuals[:, :2] * away).sum(axis=1) / np.maximum(offset, 1e-9)
    return FitFacts(
        frames=tuple(frames),
        size=(camera.sensor.width, camera.sensor.height),
        micro_radius=camera.micro_images.radius,
        uv=features.uv,
        depth=depth,
        virtual_depth=virtual_from_metric(depth, camera, invalid="nan"),
        lens_type=camera.micro_images.lens_type(features.k, features.l),
        residual=fit.residuals,
        counts=counts,
        offset=offset,
        radial=radial,
    )


def root_mean_square(values: Array) -> float:
    """Root mean square of the finite values; NaN if there is none."""
    known = values[np.isfinite(values)]
    return float(np.sqrt((known**2).mean())) if len(known) else float("nan")


@dataclass(frozen=True, eq=False)
class Profile:
    """Mean radial residual against the distance from the micro-image's centre, for one lens type."""

    lens_type: int
    offset: Array  # (m,) px, mean of each bin
    mean: Array  # (m,) px
    error: Array  # (m,) px, standard error of the mean
    slope: float  # px per px: of a straight line through the centre
    slope_error: float


def radial_profiles(facts: FitFacts, bins: int = 10) -> list[Profile]:
    """The profile of each lens type (one profile for pinholes), without outliers."""
    profiles = []
    edges = np.linspace(0, facts.micro_radius, bins + 1)
    for kind in np.unique(facts.lens_type).tolist():
        mine = facts.counts & (facts.lens_type == kind)
        offset, radial = facts.offset[mine], facts.radial[mine]
        if len(offset) < 2:
            continue
        place = np.digitize(offset, edges) - 1
        rows = [row for b in range(bins) if np.count_nonzero(row := place == b) >= LEAST_IN_BIN]
        square = max(float((offset**2).sum()), 1e-12)
        slope = float((offset * radial).sum()) / square
        left = radial - slope * offset
        profiles.append(
            Profile(
                kind,
                np.array([offset[row].mean() for row in rows]),
                np.array([radial[row].mean() for row in rows]),
                np.array([radial[row].std() / np.sqrt(np.count_nonzero(row)) for row in rows]),
                slope,
                float(np.sqrt((left**2).mean() / square)),
            )
        )
    return profiles


def radial_slopes(facts: FitFacts, lens_type: int, bins: int = 8) -> tuple[Array, Array]:
    """How the radial residual of a lens type grows away from the micro-image's centre, over depth.

    The features that count are divided by depth into bins of like size. Returns the mean depth (m,), mm, of each bin
    and the slope (m,), px per px, of a straight line through the centre.
    """
    mine = facts.counts & (facts.lens_type == lens_type)
    depth, offset, radial = facts.depth[mine], facts.offset[mine], facts.radial[mine]
    edges = np.quantile(depth, np.linspace(0, 1, bins + 1))
    place = np.clip(np.searchsorted(edges, depth, side="right") - 1, 0, bins - 1)
    square = np.bincount(place, offset**2, bins)
    known = square > 0
    slope = np.bincount(place, offset * radial, bins)[known] / square[known]
    middle = np.bincount(place, depth, bins)[known] / np.bincount(place, minlength=bins)[known]
    return middle, slope
