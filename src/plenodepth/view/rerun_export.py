"""What the viewer shows, as a recording for rerun: frames on a timeline, points in m as its users expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.pinhole import Pinhole, central_pinhole
from plenodepth.errors import InputError
from plenodepth.io import atomic_path
from plenodepth.view.browser.camera_scene import TRUTH
from plenodepth.view.browser.clouds import ShownCloud
from plenodepth.view.browser.coloring import LABELS, color_ends, color_kinds, colors_of
from plenodepth.view.browser.frames import Frame
from plenodepth.view.browser.instrument import Instrument, shown_light
from plenodepth.view.browser.saving import png_bytes
from plenodepth.view.browser.selection import DRAWN_POINTS, Limits, select
from plenodepth.view.browser.truth import Truth, with_error

MM_PER_M = 1000
PATIENCE = 120.0  # s, to write one frame
TIMELINE = "frame"
CLOUD, CAMERA, DEPTH, PICTURE, RAW, TEXT = "cloud", "camera", "camera/depth", "camera/picture", "raw_image", "notes"


@dataclass(frozen=True)
class Exported:
    """What a recording holds, of all frames."""

    frames: int
    points: int
    points_of_clouds: int  # before they were thinned


def require_rerun() -> Any:
    """The package rerun, which only this export needs."""
    try:
        import rerun
    except ImportError:
        raise InputError("the export needs the package rerun-sdk", fix='pip install "plenodepth[rerun]"') from None
    return rerun


def require_rrd(path: Path) -> None:
    """Refuse a name that rerun does not open."""
    if path.suffix != ".rrd":
        raise InputError("is no file for rerun", file=path, field="--rrd", fix="give a name that ends in .rrd")


def write_rrd(
    frames: Sequence[Frame],
    path: Path,
    *,
    name: str = "plenodepth",
    instrument: Instrument | None = None,
    truth: Truth | None = None,
    color: str | None = None,
    most_points: int = DRAWN_POINTS,
    notes: Iterable[str] = (),
    started: Callable[[int, int, str], None] = lambda index, count, name: None,
) -> Exported:
    """Write the first cloud of each frame, its depth, picture, raw image and notes. `color`: as the viewer's.

    `started` is told of each frame: its index, of how many, its name.
    """
    rerun = require_rerun()
    require_rrd(path)
    with atomic_path(path) as temporary:
        stream = rerun.RecordingStream("plenodepth", recording_id=uuid4())
        try:
            stream.set_log_time_enabled(False)
            stream.set_log_tick_enabled(False)
            stream.save(temporary)
            stream.send_recording_name(name)
            recording = _Recording(rerun, stream, instrument, truth, color, most_points, tuple(notes))
            for index, frame in enumerate(frames):
                started(index, len(frames), frame.name)
                recording.add(index, frame)
                _flush(stream, path)
        finally:
            stream.disconnect()
        _require_whole(temporary, path)
    return Exported(len(frames), recording.points, recording.points_of_clouds)


def _flush(stream: Any, path: Path) -> None:
    """Write what has been logged. Without a limit of time rerun may wait for ever for a writer that has failed."""
    try:
        stream.flush(timeout_sec=PATIENCE)
    except (RuntimeError, ValueError, TimeoutError):
        raise _unfinished(path) from None


def _unfinished(path: Path) -> InputError:
    return InputError("could not be written to its end", file=path, fix="make room on the disk")


def _require_whole(written: Path, path: Path) -> None:
    """Refuse what rerun has not written to its end."""
    from rerun.chunk import RrdReader

    try:
        RrdReader(written).recordings()
    except (RuntimeError, ValueError, OSError):
        raise _unfinished(path) from None


class _Recording:
    """The frames that are written, one after the other."""

    def __init__(
        self,
        rerun: Any,
        stream: Any,
        instrument: Instrument | None,
        truth: Truth | None,
        color: str | None,
        most_points: int,
        notes: tuple[str, ...],
    ) -> None:
        self._rerun, self._stream, self._instrument, self._truth = rerun, stream, instrument, truth
        self._color, self._most_points, self._notes = color, most_points, notes
        self._ends: tuple[float, float] | None = None
        self._there: dict[str, frozenset[str]] = {}  # what the last frame had of each entity
        self.points = self.points_of_clouds = 0
        self._log("/", rerun.ViewCoordinates.RDF, static=True)  # x to the right, y downwards, z forward
        if truth is not None:
            self._log("truth", rerun.Points3D(_in_meters(truth.points), colors=TRUTH), static=True)

    def add(self, index: int, frame: Frame) -> None:
        """Another frame, at the next place of the timeline."""
        self._stream.set_time(TIMELINE, sequence=index)
        whole = next(iter(frame.clouds.values()))()
        cloud = whole if self._truth is None else with_error(whole, self._truth)
        self._add_cloud(cloud)
        self._add_images(frame, cloud.metric)
        lines = [f"**{frame.name}**", f"Colours: {self._explained(cloud)}", *frame.notes, *self._notes]
        self._set(TEXT, self._rerun.TextDocument("\n\n".join(lines), media_type="text/markdown"))

    def _add_cloud(self, cloud: ShownCloud) -> None:
        kind, ends = self._coloring(cloud)
        part = cloud.part(select(cloud, Limits(), self._most_points).index)
        self.points, self.points_of_clouds = self.points + len(part), self.points_of_clouds + len(cloud)
        unit = "mm" if cloud.metric else "virtual"
        columns = {"confidence": part.confidence, f"sigma_{unit}": part.sigma, f"error_{unit}": part.error}
        known = {name: values for name, values in columns.items() if values is not None}
        positions = _in_meters(part.points) if cloud.metric else part.points
        drawn = self._rerun.Points3D(positions, colors=colors_of(part, kind, ends))
        more = [self._rerun.AnyValues(**known)] if known else []
        self._set(CLOUD, drawn, *more, has=frozenset(known))

    def _coloring(self, cloud: ShownCloud) -> tuple[str, tuple[float, float]]:
        """By what points are coloured, and the ends: those of the first frame, so that a colour keeps its meaning."""
        if self._color is None:
            self._color = color_kinds(cloud)[0]
        if self._ends is None:
            if self._color not in color_kinds(cloud):
                fix = f"give {' or '.join(color_kinds(cloud))}"
                raise InputError(f"'{self._color}' is not known of these points", field="--rrd-color", fix=fix)
            self._ends = color_ends(cloud, self._color)
        return self._color, self._ends

    def _explained(self, cloud: ShownCloud) -> str:
        kind, ends = self._coloring(cloud)
        unit = "" if kind == "confidence" else f" {cloud.unit}"
        return LABELS[kind] if kind == "picture" else f"{LABELS[kind]} from {ends[0]:.4g} to {ends[1]:.4g}{unit}"

    def _add_images(self, frame: Frame, metric: bool) -> None:
        depth = None if frame.view_depth is None else frame.view_depth()
        picture = None if frame.view is None else frame.view()
        image = None if self._instrument is None else self._instrument.image(frame.name)
        shape = depth.shape if depth is not None else None if picture is None else picture.shape[:2]
        pinhole = None if shape is None or not metric else self._pinhole(shape)
        self._set(CAMERA, *([] if shape is None or pinhole is None else [self._drawn(pinhole, shape)]))
        scale = {"meter": MM_PER_M} if metric else {}
        self._set(DEPTH, *([] if depth is None else [self._rerun.DepthImage(depth, **scale)]))
        self._set(PICTURE, *([] if picture is None else [self._png(picture)]))
        self._set(RAW, *([] if image is None else [self._png(shown_light(image))]))

    def _pinhole(self, shape: tuple[int, ...]) -> Pinhole | None:
        """The pinhole of a central view; None where no calibrated camera is known."""
        camera = None if self._instrument is None else self._instrument.camera
        if not isinstance(camera, PlenopticCamera):
            return None
        height, width = camera.sensor.height, camera.sensor.width
        scale = max(1, round(width / shape[1]))
        if (height // scale, width // scale) != shape:
            message = f"'{camera.name}' has {width} × {height} pixels, no view of which is {shape[1]} × {shape[0]}"
            raise InputError(message, field="--camera", fix="give the camera that took the frames")
        return central_pinhole(camera, scale)

    def _drawn(self, pinhole: Pinhole, shape: tuple[int, ...]) -> Any:
        coordinates = self._rerun.ViewCoordinates.RDF
        return self._rerun.Pinhole(
            image_from_camera=pinhole.matrix, resolution=[shape[1], shape[0]], camera_xyz=coordinates
        )

    def _png(self, picture: NDArray[np.uint8]) -> Any:
        return self._rerun.EncodedImage(contents=png_bytes(picture), media_type="image/png")

    def _set(self, entity: str, *values: Any, has: frozenset[str] = frozenset()) -> None:
        """What an entity is from this frame on; rerun keeps what the last frame had, unless it is cleared."""
        if entity in self._there and (not values or self._there[entity] - has):
            self._log(entity, self._rerun.Clear(recursive=False))
        if values:
            self._log(entity, *values)
            self._there[entity] = has
        else:
            self._there.pop(entity, None)

    def _log(self, entity: str, *values: Any, static: bool = False) -> None:
        self._stream.log(entity, *values, static=static, strict=True)


def _in_meters(points: NDArray[np.float32]) -> NDArray[np.float32]:
    return points / np.float32(MM_PER_M)
