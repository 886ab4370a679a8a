"""From what the user names to frames and to the instrument that took them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.presets import PRESETS
from plenodepth.errors import InputError
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.result import DepthResult
from plenodepth.raw.image import RawImage
from plenodepth.view.browser.clouds import ShownCloud, relief
from plenodepth.view.browser.frames import DENSE, NO_MM, RELIEF, SPARSE, Frame
from plenodepth.view.browser.instrument import Instrument
from plenodepth.view.browser.probe import FrameMaps

Camera = PlenopticCamera | GridCamera


def preset_of(frames: Sequence[Frame]) -> PlenopticCamera | None:
    """The preset that the frames' records name as their camera; None if they name another, or several."""
    names = {str(frame.record.get("camera")) for frame in frames}
    name = names.pop() if len(names) == 1 else ""
    return PRESETS[name]() if name in PRESETS else None


def instrument_of(
    camera: Camera, raw: Path | None, frames: Sequence[Frame], load: Callable[[Path], RawImage]
) -> Instrument:
    """The camera with its raw images: a file for a single frame, or a folder that holds one NAME.* for each frame."""
    if raw is None:
        return Instrument(camera)
    found = raw_images(raw, [frame.name for frame in frames])

    def load_of(name: str) -> RawImage | None:
        return load(found[name]) if name in found else None

    return Instrument(camera, load_of)


def raw_images(raw: Path, names: Sequence[str]) -> dict[str, Path]:
    """The raw images of frames by their names."""
    if raw.is_file():
        if len(names) == 1:
            return {names[0]: raw}
        if raw.stem not in names:
            raise InputError(f"belongs to none of the frames {', '.join(names[:3])} …", file=raw, field="--raw")
        return {raw.stem: raw}
    if not raw.is_dir():
        raise InputError("does not exist", file=raw, field="--raw", fix="give a raw image, or a folder of them")
    found = {path.stem: path for path in sorted(raw.iterdir()) if path.stem in names and path.is_file()}
    if not found:
        raise InputError(f"holds no raw image {names[0]}.*", file=raw, field="--raw")
    return found


def frame_of(result: DepthResult) -> Frame:
    """The frame of a result that is in memory."""
    clouds = dict[str, Callable[[], ShownCloud]]()
    dense, cloud, camera = result.dense, result.cloud, result.camera
    if isinstance(camera, PlenopticCamera):
        if dense is not None:
            clouds[DENSE] = lambda: _shown(dense.cloud(camera))
        if cloud is not None:
            clouds[SPARSE] = lambda: _shown(cloud)
    else:
        clouds[RELIEF] = lambda: _relief(result)
    metric = result.metric
    maps = FrameMaps(
        result.virtual.virtual_depth if metric is None else metric.depth,
        result.virtual.sigma if metric is None else metric.sigma,
        result.confidence,
        result.virtual.aperture_model,
        metric is not None,
    )
    notes = [result.summary.note] if result.summary.note and metric is not None else []
    return Frame(
        result.name,
        clouds,
        None if dense is None else lambda: np.ascontiguousarray(dense.picture),
        {},
        (*notes, *([] if metric is not None else [NO_MM])),
        lambda: maps,
        lambda: result.summary.settings.depth,
        lambda: _view_depth(result),
    )


def _view_depth(result: DepthResult) -> NDArray[np.float32]:
    """The depth of the dense view, else what a pinhole sees of the map, or the map of a camera known by its grid."""
    if result.dense is not None:
        return result.dense.depth
    return result.virtual.virtual_depth if result.central is None else result.central


def _shown(cloud: PointCloud) -> ShownCloud:
    return ShownCloud(cloud.points, cloud.points[:, 2].copy(), cloud.colors, cloud.confidence, cloud.sigma, metric=True)


def _relief(result: DepthResult) -> ShownCloud:
    dense, virtual = result.dense, result.virtual
    if dense is None:
        return relief(virtual.virtual_depth, colors=None, confidence=virtual.confidence, sigma=virtual.sigma)
    return relief(dense.depth, colors=dense.picture, confidence=dense.confidence, sigma=dense.sigma)
