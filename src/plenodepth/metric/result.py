"""The depth of one frame: what `estimate_depth` returns, and the files that it goes into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
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
    write_image,
)
from plenodepth.metric.central_view import central_view
from plenodepth.metric.cloud import PointCloud, point_cloud
from plenodepth.metric.cloud_files import write_cloud
from plenodepth.metric.dense.central_view import CentralView
from plenodepth.metric.depth_map import MetricDepthMap
from plenodepth.metric.picture import depth_picture
from plenodepth.metric.quality import Quality
from plenodepth.raw.image import RawImage
from plenodepth.threads import limited_threads, thread_count
from plenodepth.timing import StageClock

Float32 = NDArray[np.float32]

Output = Literal["depth", "sigma", "confidence", "virtual", "cloud", "central", "picture", "dense"]

SUFFIXES: dict[Output, str] = {
    "depth": "depth.tiff",
    "sigma": "sigma.tiff",
    "confidence": "confidence.tiff",
    "virtual": "virtual.tiff",
    "cloud": "ply",
    "central": "csad.tiff",
    "picture": "png",
    "dense": "dense.tiff",  # and others: see `CentralView.write`
}
# Virtual depth is left out where there are millimetres: next to nobody opens it.
DEFAULT_OUTPUTS: tuple[Output, ...] = ("depth", "sigma", "confidence", "cloud", "central", "picture")
GRID_OUTPUTS: tuple[Output, ...] = ("virtual", "confidence", "picture")
DENSE_OUTPUTS: tuple[Output, ...] = ("dense",)

VIRTUAL_SUFFIX = f".{SUFFIXES['virtual']}"
MODELS: dict[str, ApertureModel] = {"off": "off", "slope": "slope", "per_pixel": "per_pixel"}
NEEDS_CALIBRATION = (
    "metric depth needs a calibrated camera; this one is known by its lens grid only, so the effect of a small "
    "aperture is left in the virtual depth"
)


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
    clock: StageClock  # what each stage has taken so far, from reading the image to writing the results
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
    notes: tuple[str, ...]  # what the user should know
    median_confidence: float | None
    quality: Quality  # whether the map as a whole can be trusted
    settings: SettingsFile
    metric: bool = True
    dense: dict[str, float] | None = None  # see `CentralView.summary`

    @property
    def note(self) -> str:
        """All notes in one line; empty for none."""
        return "; ".join(self.notes)

    def content(self) -> dict[str, Any]:
        """The summary as NAME.json holds it."""
        content = dict[str, Any]()
        for part in fields(self):
            if part.name == "clock":
                content |= _times(self.clock)
            elif part.name == "quality":
                content |= {"doubtful": self.quality.doubtful, "problem": self.quality.problem}
                content["share_at_ends_of_range"] = self.quality.at_ends
            elif part.name == "notes":
                content["note"] = self.note
            elif part.name != "metric":
                content[part.name] = getattr(self, part.name)
        content["settings"] = settings_content(self.settings)
        left_out = [name for name in content if name.endswith("_mm") and not self.metric]
        left_out += [] if self.note else ["note"]
        left_out += [] if self.dense else ["dense"]
        left_out += [] if self.quality.problem else ["problem"]
        return {name: value for name, value in content.items() if name not in left_out}


def _times(clock: StageClock) -> dict[str, Any]:
    """Seconds of the whole frame and of its stages, as NAME.json holds them."""
    total = clock.total
    stages = {
        name: {"seconds": round(taken.wall, 3), "cpu_seconds": round(taken.cpu, 3)}
        for name, taken in clock.stages.items()
    }
    return {"seconds": round(total.wall, 3), "cpu_seconds": round(total.cpu, 3), "stages": stages}


@dataclass(frozen=True, eq=False)
class DepthResult:
    """Depth of a frame: per micro-image (rows, columns) if coarse, per pixel (h, w) if refined; NaN: none.

    `metric`, `cloud` and `central` are None for a camera that is known by its lens grid only. Cloud and central view
    are computed when they are first asked for.
    """

    image: RawImage
    camera: PlenopticCamera | GridCamera
    virtual: VirtualDepthMap
    metric: MetricDepthMap | None
    summary: DepthSummary
    dense: CentralView | None = None  # where it was asked for

    @property
    def name(self) -> str:
        """How the files are called."""
        return self.image.name

    @cached_property
    def cloud(self) -> PointCloud | None:
        """The point cloud with colours, σ and confidence."""
        if self.metric is None or not isinstance(self.camera, PlenopticCamera):
            return None
        with self._stage("cloud"):
            return point_cloud(self.virtual, self.camera, self.image, metric=self.metric)

    @cached_property
    def central(self) -> Float32 | None:
        """Depth as a pinhole at the main lens sees it, (h // 4, w // 4) mm."""
        if self.metric is None or not isinstance(self.camera, PlenopticCamera):
            return None
        with self._stage("central view"):
            return central_view(self.virtual, self.camera, metric=self.metric)

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

    def save(self, folder: Path | str, outputs: Sequence[Output] | None = None) -> list[Path]:
        """Write the chosen files into a folder, all or none, and return their paths; the folder is made if need be.

        depth: NAME.depth.tiff (mm); sigma: NAME.sigma.tiff (mm); confidence: NAME.confidence.tiff; virtual:
        NAME.virtual.tiff; cloud: NAME.ply; central: NAME.csad.tiff (mm); picture: NAME.png; dense: NAME.view.png,
        NAME.dense.tiff and others, see `CentralView.write`, and with mm NAME.dense.ply. NAME.json, the summary, is
        always written. The default is all but the virtual depth, which only a camera known by its lens grid needs.
        """
        chosen = require_outputs(outputs, self.camera, dense=self.dense is not None)
        target = Path(folder)
        require_writable(target)
        cloud = self.cloud if "cloud" in chosen else None
        maps = {name: values for name in chosen if (values := self._map(name)) is not None}
        with atomic_files(target) as unfinished:
            with self._stage("write"), ThreadPoolExecutor(thread_count()) as pool:
                # What takes longest starts first: drawing the picture, then the cloud.
                tasks = [pool.submit(self._write_picture, unfinished)] if "picture" in chosen else []
                if cloud is not None:
                    tasks.append(pool.submit(write_cloud, cloud, unfinished / f"{self.name}.ply"))
                if self.dense is not None and "dense" in chosen:
                    tasks.append(pool.submit(self._write_dense, self.dense, unfinished))
                tasks.append(pool.submit(self._write_maps, maps, unfinished))
                for task in reversed(tasks):  # of several files that fail, a map is named
                    task.result()
            # Last, because it says what the writing took.
            with atomic_path(unfinished / f"{self.name}.json") as record:
                # A name that Python could not decode, as of any beyond ASCII with LC_ALL=C, is written as its bytes.
                record.write_text(json_text(self.summary.content()), encoding="utf-8", errors="surrogateescape")
            names = sorted(path.name for path in unfinished.iterdir())
        return [target / name for name in names]

    def _map(self, output: Output) -> Float32 | None:
        """The map that an output writes; None for those that are no map."""
        match output:
            case "depth":
                return self.z
            case "sigma":
                return self.sigma
            case "confidence":
                return self.confidence
            case "virtual":
                return self.virtual.virtual_depth
            case "central":
                return self.central
        return None

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """Time a stage, and keep to the threads of the estimation."""
        with self.summary.clock.stage(name), limited_threads(self.summary.threads):
            yield

    def _metric(self) -> MetricDepthMap:
        if self.metric is None:
            raise InputError(NEEDS_CALIBRATION, field="camera", fix="use `virtual`")
        return self.metric

    def _write_maps(self, maps: dict[Output, Float32], folder: Path) -> None:
        """One after the other: they wait for the disk, which does not write two of them faster."""
        for name, values in maps.items():
            write_float_map(values, folder / f"{self.name}.{SUFFIXES[name]}", compressed=False)

    @property
    def _warning(self) -> str:
        """What stands above the pictures of a map that is not to be trusted."""
        return "do not trust this map: see the file .json" if self.summary.quality.doubtful else ""

    def _write_dense(self, view: CentralView, folder: Path) -> None:
        view.write(folder, self.name, warning=self._warning)
        if isinstance(self.camera, PlenopticCamera):
            write_cloud(view.cloud(self.camera), folder / f"{self.name}.dense.ply")

    def _write_picture(self, folder: Path) -> None:
        kind = "refined" if self.virtual.refined else "coarse"
        cue = "blur aware" if self.summary.settings.depth.blur else "disparity only"
        title = f"{self.name}: {kind}, {cue}"
        shown = (self.virtual.virtual_depth, "virtual depth") if self.metric is None else (self.metric.depth, "mm")
        write_image(depth_picture(shown[0], title, shown[1], warning=self._warning), folder / f"{self.name}.png")


def require_outputs(
    outputs: Sequence[Output] | None, camera: PlenopticCamera | GridCamera, *, dense: bool = False
) -> tuple[Output, ...]:
    """The outputs to write, by default those that suit the camera. Refuses unknown ones, and what there is not."""
    calibrated = isinstance(camera, PlenopticCamera)
    if outputs is None:
        return (*(DEFAULT_OUTPUTS if calibrated else GRID_OUTPUTS), *DENSE_OUTPUTS[: int(dense)])
    for name in outputs:
        if name not in SUFFIXES:
            raise InputError(f"names '{name}'", field="outputs", fix=f"choose among {', '.join(SUFFIXES)}")
        if name == "dense" and not dense:
            raise InputError("names dense, which was not estimated", field="outputs", fix="give --dense")
        if not calibrated and name not in (*GRID_OUTPUTS, *DENSE_OUTPUTS):
            raise InputError(f"names {name}: {NEEDS_CALIBRATION}", field="outputs", fix="give virtual")
    return tuple(outputs)


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
