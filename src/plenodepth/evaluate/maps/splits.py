"""Errors split by something else that is known of each pixel: texture, boundaries, lens types, confidence.

One function does the work, `grouped_errors`: it takes the number of a group for every error. The others make those
numbers. Errors are signed, as `signed_differences` gives them; the sign only matters for the bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.micro_images import owner_map
from plenodepth.errors import InputError

Int32 = NDArray[np.int32]
NO_GROUP = -1


@dataclass(frozen=True)
class ErrorGroup:
    """Errors of one group; NaN where it has none. AE is |error|, in the error's unit."""

    label: int
    name: str
    members: int  # entries with this label, with an error or without
    count: int  # of them, with an error
    q25: float  # of AE
    median: float
    q75: float
    mean: float
    rmse: float
    bias: float  # median of the signed errors

    @property
    def completeness(self) -> float:
        """Share of the members with an error; of the reference if the labels are `NO_GROUP` where that has no depth."""
        return self.count / self.members if self.members else float("nan")


def grouped_errors(error: ArrayLike, labels: ArrayLike, names: Sequence[str] | None = None) -> tuple[ErrorGroup, ...]:
    """Figures of errors (…), NaN = missing, by their labels (…): whole numbers from 0, negative for no group.

    One group for each label up to the largest, or for each of `names`; groups without errors are there, with NaN.
    """
    errors, groups = np.asarray(error), np.asarray(labels)
    if errors.shape != groups.shape:
        raise InputError(f"has shape {groups.shape}, the errors {errors.shape}", field="labels")
    if not np.issubdtype(groups.dtype, np.integer):
        raise InputError(f"are {groups.dtype}, need whole numbers", field="labels", fix="see bin_labels")
    errors, groups = errors.ravel(), groups.ravel()
    total = len(names) if names is not None else max(int(groups.max(initial=NO_GROUP)) + 1, 0)
    if int(groups.max(initial=NO_GROUP)) >= total:
        raise InputError(f"holds {groups.max()}, there are {total} names", field="labels")
    members = np.bincount(groups[groups >= 0], minlength=total)
    there = (groups >= 0) & np.isfinite(errors)
    errors, groups = errors[there], groups[there]
    if not len(errors):
        raise InputError("has no error in any group", field="error", fix="missing is NaN, no group is −1")
    smallest: type[np.signedinteger[Any]] = np.int16 if total < np.iinfo(np.int16).max else np.int64
    errors = errors[np.argsort(groups.astype(smallest), kind="stable")]  # 16 bits are sorted in linear time
    ends = np.cumsum(np.bincount(groups, minlength=total))
    parts = np.split(errors, ends[:-1])
    names = names if names is not None else [str(label) for label in range(total)]
    rows = zip(names, members.tolist(), parts, strict=True)
    return tuple(_group(label, name, count, part) for label, (name, count, part) in enumerate(rows))


def bin_labels(values: ArrayLike, edges: ArrayLike) -> Int32:
    """Which bin values (…) are in, the first is 0: [e0, e1), [e1, e2), …, the last with its upper edge.

    `NO_GROUP` for NaN and outside all bins; edges (b + 1,) increase and may be infinite at the ends.
    """
    limits, given = _checked_edges(edges), np.asarray(values)
    labels = np.searchsorted(limits, given, side="right").astype(np.int32) - 1
    labels[given == limits[-1]] = len(limits) - 2
    labels[~((given >= limits[0]) & (given <= limits[-1]))] = NO_GROUP
    return labels


def bin_names(edges: ArrayLike, unit: str = "") -> list[str]:
    """Names of bins for tables, as "2 – 5 px"; "≥ 5 px" and "< 2 px" where a bin has no end."""
    limits, ending = _checked_edges(edges), f" {unit}" if unit else ""
    return [_range_name(low, high) + ending for low, high in pairwise(limits.tolist())]


def binned_errors(error: ArrayLike, values: ArrayLike, edges: ArrayLike, unit: str = "") -> tuple[ErrorGroup, ...]:
    """Errors (…) by bins of values (…): a texture map, `boundary_distance`, a confidence, the true depth."""
    return grouped_errors(error, bin_labels(values, edges), bin_names(edges, unit))


def quantile_edges(values: ArrayLike, bins: int) -> NDArray[np.float64]:
    """Edges (≤ bins + 1,) between which equally many of the finite values lie; fewer where many values are equal.

    A value that is the largest and very frequent shares the last bin, for the last edge belongs to it.
    """
    present = np.asarray(values, dtype=np.float64).ravel()
    present = present[np.isfinite(present)]
    if bins < 1 or not len(present):
        raise InputError(
            f"{bins} bins of {len(present)} values", field="bins", fix="one bin or more, one value or more"
        )
    edges = np.unique(np.quantile(present, np.linspace(0, 1, bins + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], np.nextafter(edges[0], np.inf)])


def errors_by_confidence(error: ArrayLike, confidence: ArrayLike, bins: int = 10) -> tuple[ErrorGroup, ...]:
    """Errors (…) by confidence (…), least first, in bins of equally many errors."""
    errors, values = np.asarray(error), np.asarray(confidence)
    if errors.shape != values.shape:
        raise InputError(f"has shape {values.shape}, the errors {errors.shape}", field="confidence")
    return binned_errors(errors, values, quantile_edges(values[np.isfinite(errors)], bins))


def lens_type_labels(shape: tuple[int, ...], camera: PlenopticCamera) -> Int32:
    """Lens type, from 0, of each entry of a coarse map (rows, columns) or of each pixel of the raw image (h, w)."""
    lattice, sensor = camera.micro_images.lattice, camera.sensor
    k, l = lattice.indices()
    types = np.asarray(camera.micro_images.lens_type(k, l), dtype=np.int32)
    if shape == types.shape:
        return types
    if shape != (sensor.height, sensor.width):
        raise InputError(
            f"is {shape}, the camera has {types.shape} micro-images and {(sensor.height, sensor.width)} pixels",
            field="shape",
        )
    return np.append(types.ravel(), np.int32(NO_GROUP))[owner_map(camera.micro_images, *shape)]  # owner −1 is the last


def errors_by_lens_type(error: ArrayLike, camera: PlenopticCamera) -> tuple[ErrorGroup, ...]:
    """Errors of a coarse map (rows, columns), or of a refined one (h, w), by the type of the micro-lens."""
    labels = lens_type_labels(np.shape(error), camera)
    return grouped_errors(error, labels, [f"type {number}" for number in range(int(labels.max()) + 1)])


def _group(label: int, name: str, members: int, errors: NDArray[Any]) -> ErrorGroup:
    nan = float("nan")
    if not len(errors):
        return ErrorGroup(label, name, members, 0, nan, nan, nan, nan, nan, nan)
    size = np.abs(errors)
    q25, median, q75 = np.quantile(size, (0.25, 0.5, 0.75)).tolist()
    mean, rmse = float(size.mean(dtype=np.float64)), float(np.sqrt(np.square(size).mean(dtype=np.float64)))
    return ErrorGroup(label, name, members, len(errors), q25, median, q75, mean, rmse, float(np.median(errors)))


def _range_name(low: float, high: float) -> str:
    if high == np.inf:
        return "all" if low == -np.inf else f"≥ {low:.4g}"
    return f"< {high:.4g}" if low == -np.inf else f"{low:.4g} – {high:.4g}"


def _checked_edges(edges: ArrayLike) -> NDArray[np.float64]:
    limits = np.asarray(edges, dtype=np.float64)
    if limits.ndim != 1 or len(limits) < 2 or not (np.diff(limits) > 0).all():
        raise InputError("needs two or more numbers that increase", field="edges")
    return limits
