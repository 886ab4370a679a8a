"""The frames that the viewer was opened with, each with the clouds that can be shown of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.io import read_float_map, read_image
from plenodepth.io.clouds.any_format import CLOUD_SUFFIXES
from plenodepth.view.browser.clouds import ShownCloud, load_shown_cloud, relief
from plenodepth.view.browser.folder import OpenedFolder
from plenodepth.view.browser.probe import FrameMaps

DENSE, SPARSE, RELIEF = "dense view", "cloud", "relief of virtual depth"
NO_MM = "This camera is known by its lens grid only: the relief shows virtual depth, which has no millimetres."


@dataclass(frozen=True)
class Frame:
    """One frame: its clouds by name, the best to look at first, each read when it is shown."""

    name: str
    clouds: Mapping[str, Callable[[], ShownCloud]]
    view: Callable[[], NDArray[np.uint8]] | None = None  # what the main lens' centre sees, all in focus, (h, w, 3)
    record: Mapping[str, Any] = field(default_factory=dict)  # the content of NAME.json
    notes: tuple[str, ...] = ()
    maps: Callable[[], FrameMaps] | None = None  # per micro-image or pixel; None where the folder has none
    settings: Callable[[], DepthSettings] = DepthSettings  # by which the depth was estimated
    view_depth: Callable[[], NDArray[np.float32]] | None = None  # (h, w) of `view`; mm, or virtual depth


def open_frames(path: Path) -> list[Frame]:
    """The frames of a folder of results, or a cloud as the only one."""
    if not path.exists():
        raise InputError("does not exist", file=path, fix="give a folder of results, a cloud or a raw image")
    if path.is_dir():
        folder = OpenedFolder(path)
        return [_frame_of(folder, name) for name in folder.frame_names()]
    return [Frame(path.stem, {SPARSE: lambda: load_shown_cloud(path)})]


def is_cloud(path: Path) -> bool:
    """Whether a file is named as a cloud."""
    return path.name.lower().endswith(CLOUD_SUFFIXES)


def _frame_of(folder: OpenedFolder, name: str) -> Frame:
    record = folder.record(name)
    clouds = dict[str, Callable[[], ShownCloud]]()
    for label, suffix in ((DENSE, "dense.ply"), (SPARSE, "ply")):
        if folder.has(f"{name}.{suffix}"):
            path = folder.file(f"{name}.{suffix}")
            clouds[label] = lambda path=path: load_shown_cloud(path)  # type: ignore[misc]
    metric = bool(clouds)
    if not metric:
        clouds[RELIEF] = lambda: _relief_of(folder, name)
    has_view = folder.has(f"{name}.view.png")
    said = [str(record["note"])] if record.get("note") and metric else []
    if record.get("doubtful"):
        said.append(f"Do not trust this map: {record.get('problem', 'see the file .json')}")
    return Frame(
        name,
        clouds,
        (lambda: _picture(folder.file(f"{name}.view.png"))) if has_view else None,
        record,
        (*said, *([] if metric else [NO_MM])),
        _maps_of(folder, name, record),
        lambda: _settings_of(folder, name),
        _view_depth_of(folder, name, metric),
    )


def _view_depth_of(folder: OpenedFolder, name: str, metric: bool) -> Callable[[], NDArray[np.float32]] | None:
    """The depth of the dense view, else what a pinhole sees of the map, or the map of a camera known by its grid."""
    for file in (f"{name}.dense.tiff", f"{name}.{'csad' if metric else 'virtual'}.tiff"):
        if folder.has(file):
            return lambda file=file: read_float_map(folder.file(file))  # type: ignore[misc]
    return None


def _settings_of(folder: OpenedFolder, name: str) -> DepthSettings:
    from plenodepth.depth.settings_file import load_settings

    return load_settings(folder.file(f"{name}.json")).depth


def _maps_of(folder: OpenedFolder, name: str, record: Mapping[str, Any]) -> Callable[[], FrameMaps] | None:
    from plenodepth.metric.result import MODELS

    metric = folder.has(f"{name}.depth.tiff")
    main = f"{name}.depth.tiff" if metric else f"{name}.virtual.tiff"
    model = MODELS.get(str(record.get("aperture_model")))
    if not folder.has(main) or model is None:
        return None

    def load() -> FrameMaps:
        beside = [f"{name}.{kind}.tiff" for kind in ("sigma", "confidence")]
        sigma, confidence = (read_float_map(folder.file(file)) if folder.has(file) else None for file in beside)
        return FrameMaps(read_float_map(folder.file(main)), sigma if metric else None, confidence, model, metric)

    return load


def _relief_of(folder: OpenedFolder, name: str) -> ShownCloud:
    """The dense view of a camera known by its grid, or its micro-images, as a relief."""
    dense = folder.has(f"{name}.dense.tiff")
    stem = f"{name}.dense" if dense else name

    def optional(file: str) -> NDArray[np.float32] | None:
        return read_float_map(folder.file(file)) if folder.has(file) else None

    depth = read_float_map(folder.file(f"{stem}.tiff" if dense else f"{name}.virtual.tiff"))
    colors = _picture(folder.file(f"{name}.view.png")) if dense and folder.has(f"{name}.view.png") else None
    return relief(
        depth,
        colors=colors if colors is not None and colors.shape[:2] == depth.shape else None,
        confidence=optional(f"{stem}.confidence.tiff"),
        sigma=optional(f"{stem}.sigma.tiff") if dense else None,
    )


def _picture(path: Path) -> NDArray[np.uint8]:
    """A picture (h, w, 3) of 8 bits."""
    pixels = read_image(path)
    if pixels.dtype != np.uint8:
        raise InputError("is no picture of 8 bits", file=path, fix="give the one that `plenodepth depth` wrote")
    return np.ascontiguousarray(
        np.broadcast_to(pixels if pixels.ndim == 3 else pixels[..., None], (*pixels.shape[:2], 3))
    )
