"""The depth of one frame: what `estimate_depth` returns, and the files that it goes into."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import ApertureModel
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings_file import SettingsFile, settings_content
from plenodepth.errors import InputError
from plenodepth.io import (
    atomic_files,
    atomic_path,
    json_text,
    parse_by_suffix,
    read_float_map,
    read_text,
    require_writable,
    write_float_map,
)
from plenodepth.io.figures import write_figure
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.cloud_files import write_cloud
from plenodepth.metric.depth_map import MetricDepthMap
from plenodepth.metric.picture import depth_picture

Float32 = NDArray[np.float32]

VIRTUAL_SUFFIX = ".virtual.tiff"
PICTURE_DPI = 110
MODELS: dict[str, ApertureModel] = {"off": "off", "slope": "slope", "per_pixel": "per_pixel"}
NEEDS_CALIBRATION = "metric depth needs a calibrated camera; this one is known by its lens grid only"


@dataclass(frozen=True)
class DepthSummary:
    """What was computed, with what, and how it came out: the content of NAME.json.

    A number is None where there is none. `metric` is False for a camera that is known by its lens grid only.
    """

    plenodepth: str  # version
    image: str
    camera: str
    devignetting: str
    device: str
    threads: int
    seconds: float  # of the estimation alone
    cpu_seconds: float
    aperture_model: ApertureModel
    depth_scale_applied: bool
    blur_coefficient: float | None
    blur_coefficient_from: str | None
    valid_fraction: float
    median_virtual_depth: float | None
    q25_virtual_depth: float | None
    q75_virtual_depth: float | None
    median_sigma_virtual_depth: float | None
    median_z_mm: float | None
    q25_z_mm: float | None
    q75_z_mm: float | None
    median_sigma_z_mm: float | None
    note: str  # what the user should know; empty for nothing
    median_confidence: float | None
    settings: SettingsFile
    metric: bool = True

    def content(self) -> dict[str, Any]:
        """The summary as NAME.json holds it."""
        content = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "metric"}
        content["settings"] = settings_content(self.settings)
        left_out = [name for name in content if name.endswith("_mm") and not self.metric]
        left_out += [] if self.note else ["note"]
        return {name: value for name, value in content.items() if name not in left_out}


@dataclass(frozen=True, eq=False)
class DepthResult:
    """Depth of a frame: per micro-image (rows, columns) if coarse, per pixel (h, w) if refined; NaN: none.

    `metric`, `cloud` and `central` are None for a camera that is known by its lens grid only.
    """

    name: str
    virtual: VirtualDepthMap
    metric: MetricDepthMap | None
    cloud: PointCloud | None
    central: Float32 | None  # (h / 4, w / 4) depth as a pinhole at the main lens sees it, mm
    summary: DepthSummary

    @property
    def z(self) -> Float32:
        """Depth along the optical axis from the main lens, mm."""
        return self._metric().depth

    @property
    def sigma(self) -> Float32:
        """Standard deviation of `z`, mm."""
        return self._metric().sigma

    @property
    def confidence(self) -> Float32:
        """How sure each depth is, in [0, 1]."""
        return self.virtual.confidence if self.metric is None else self.metric.confidence

    @property
    def points(self) -> Float32:
        """The point cloud (n, 3) in the camera frame, mm; colours, σ and confidence are in `cloud`."""
        if self.cloud is None:
            raise InputError(NEEDS_CALIBRATION, field="camera", fix="use `virtual`")
        return self.cloud.points

    def save(self, folder: Path | str) -> list[Path]:
        """Write all files into a folder, all or none, and return their paths; the folder is made if it is not there.

        NAME.depth.tiff (mm), NAME.virtual.tiff, NAME.confidence.tiff, NAME.csad.tiff (central view, mm), NAME.ply,
        NAME.json (the summary) and NAME.png (a picture).
        """
        target = Path(folder)
        require_writable(target)
        maps = {"virtual": self.virtual.virtual_depth, "confidence": self.virtual.confidence}
        if self.metric is not None and self.central is not None:
            maps |= {"depth": self.metric.depth, "csad": self.central}
        with atomic_files(target) as unfinished:
            for suffix, values in maps.items():
                write_float_map(values, unfinished / f"{self.name}.{suffix}.tiff")
            if self.cloud is not None:
                write_cloud(self.cloud, unfinished / f"{self.name}.ply")
            with atomic_path(unfinished / f"{self.name}.json") as record:
                record.write_text(json_text(self.summary.content()), encoding="utf-8")
            write_figure(self._picture(), unfinished / f"{self.name}.png", dpi=PICTURE_DPI)
            names = sorted(path.name for path in unfinished.iterdir())
        return [target / name for name in names]

    def _metric(self) -> MetricDepthMap:
        if self.metric is None:
            raise InputError(NEEDS_CALIBRATION, field="camera", fix="use `virtual`")
        return self.metric

    def _picture(self) -> Any:
        kind = "refined" if self.virtual.refined else "coarse"
        cue = "blur aware" if self.summary.settings.depth.blur else "disparity only"
        title = f"{self.name}: {kind}, {cue}"
        if self.metric is None:
            return depth_picture(self.virtual.virtual_depth, title, "virtual depth")
        return depth_picture(self.metric.depth, title, "mm")


def is_virtual_map(path: Path) -> bool:
    """Whether a file is named as the virtual depth of a frame, NAME.virtual.tiff."""
    return path.name.lower().endswith(VIRTUAL_SUFFIX)


def load_virtual_map(path: Path) -> VirtualDepthMap:
    """The virtual depth that `DepthResult.save` has written as NAME.virtual.tiff.

    NAME.json beside it says which aperture model made it, and whether it is refined. What the files do not hold (σ,
    cost, views) is missing in the map.
    """
    record_path = path.with_name(path.name[: -len(VIRTUAL_SUFFIX)] + ".json")
    record = parse_by_suffix(read_text(record_path), record_path)
    try:
        model, refined = MODELS[record["aperture_model"]], bool(record["settings"]["depth"]["refined"])
    except (KeyError, TypeError):
        raise InputError("names no aperture_model and settings.depth.refined", file=record_path) from None
    depth = read_float_map(path)
    none = np.full(depth.shape, np.nan, np.float32)
    present = np.isfinite(depth)
    return VirtualDepthMap(
        depth, none, present.astype(np.float32), none, np.zeros(depth.shape, np.int16), refined, model
    )
