"""What a study of real lenses found, and the files `optics.json` and `optics.csv` that hold it.

Errors are in parts (0.01 = 1 %), lengths in mm. A figure that could not be computed is NaN here, null in the JSON
file and empty in the table.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from plenodepth.io import atomic_path, json_text
from plenodepth.io.yaml_json import null_for_nan
from plenodepth.studies.reproduction.results import CalibratedParameters, MethodRelativeErrors, Number, Stage

JSON, CSV = "optics.json", "optics.csv"
CSV_COLUMNS = ("part", "name", "off_axis_mm", "virtual_depth", "distance_mm", "error", "error_with_scale")
UsedCamera = Literal["calibrated", "true"]


@dataclass(frozen=True)
class WallErrors:
    """Errors of the median depth of walls, through one effect, at one place of the field."""

    name: str  # of the effect
    off_axis: float  # mm, from the optical axis to the middle of the sensor
    virtual_depths: tuple[float, ...]
    distances: tuple[float, ...]
    errors: tuple[Number, ...]
    scaled_errors: tuple[Number, ...]  # with a Γ of first order, fitted to the other walls


@dataclass(frozen=True)
class NoScale:
    """That no Γ can be fitted, and why."""

    reason: str


@dataclass(frozen=True)
class TwinErrors:
    """The relative depth error ε_z of a twin with real lenses, from images to depth, without and with Γ."""

    name: str
    camera: UsedCamera  # that of our calibration; or the true one, that of thin lenses, to tell what calibration costs
    errors: MethodRelativeErrors
    scaled_errors: MethodRelativeErrors | NoScale

    @property
    def depth_error(self) -> float:
        """Mean of |z/true − 1| over the frames without Γ."""
        return mean_depth_error(self.errors)

    @property
    def scaled_depth_error(self) -> float:
        """Mean of |z/true − 1| over the frames with Γ; NaN without one."""
        return math.nan if isinstance(self.scaled_errors, NoScale) else mean_depth_error(self.scaled_errors)

    @property
    def scaled_mean(self) -> float:
        """ε_z with Γ; NaN without one."""
        return math.nan if isinstance(self.scaled_errors, NoScale) else self.scaled_errors.mean


@dataclass(frozen=True)
class OpticsResult:
    """All that a study of real lenses found, and the settings that it was run with."""

    plenodepth: str
    quick: bool
    seed: int
    rays: int  # per pixel
    threads: int
    camera: str  # of the walls
    walls: tuple[WallErrors, ...]
    twins: tuple[TwinErrors, ...]
    calibration: Mapping[str, CalibratedParameters]  # by twin
    plan: tuple[Stage, ...]
    seconds: float


def mean_depth_error(errors: MethodRelativeErrors) -> float:
    """Mean of |z/true − 1| over the frames that have a depth."""
    parts = [abs(frame.depth / frame.truth - 1) for frame in errors.frames if math.isfinite(frame.depth)]
    return float(np.mean(parts)) if parts else math.nan


def as_content(result: OpticsResult) -> dict[str, Any]:
    """The result as `optics.json` has it."""
    content: dict[str, Any] = null_for_nan(asdict(result))
    return content


def save_optics_result(result: OpticsResult, folder: Path) -> list[Path]:
    """Write `optics.json` and `optics.csv` into a folder; their paths."""
    with atomic_path(folder / JSON) as temporary:
        temporary.write_text(json_text(as_content(result)), encoding="utf-8")
    with atomic_path(folder / CSV) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CSV_COLUMNS)
        writer.writerows(["" if cell != cell else cell for cell in row] for row in _csv_rows(result))
    return [folder / JSON, folder / CSV]


def _csv_rows(result: OpticsResult) -> Iterator[tuple[str | float, ...]]:
    """A row for each wall; then one for each frame of a twin, and one with its ε_z, which has no distance."""
    for row in result.walls:
        places = zip(row.virtual_depths, row.distances, row.errors, row.scaled_errors, strict=True)
        yield from (("wall", row.name, row.off_axis, *place) for place in places)
    for twin in result.twins:
        name = f"{twin.name}, {twin.camera} camera"
        plain = twin.errors.frames
        scaled = [math.nan] * len(plain)
        if not isinstance(twin.scaled_errors, NoScale):
            scaled = [frame.depth for frame in twin.scaled_errors.frames]
        for frame, depth in zip(plain, scaled, strict=True):
            errors = (frame.depth / frame.truth - 1, depth / frame.truth - 1)
            yield ("frame", name, 0.0, math.nan, frame.truth, *errors)
        yield "relative", name, 0.0, math.nan, math.nan, twin.errors.mean, twin.scaled_mean
