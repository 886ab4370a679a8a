"""The page: the scene with its points, and the panel that says which of them are shown and how."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import PlenodepthError
from plenodepth.view.browser.clouds import ShownCloud, quantiles
from plenodepth.view.browser.coloring import LABELS, color_bar, color_ends, color_kinds, colors_of
from plenodepth.view.browser.frames import Frame
from plenodepth.view.browser.latest import LatestOnly
from plenodepth.view.browser.selection import DRAWN_POINTS, Limits, Selection, select

if TYPE_CHECKING:
    import viser

OUTLIERS = (0.001, 0.999)  # quantiles at the ends of the sliders
STEPS = 200  # of a slider
POINT = 0.0016  # side of a drawn point, of the distance to the middle of the cloud
KEYS = {label: kind for kind, label in LABELS.items()}


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page shows at the moment."""

    frame: Frame
    cloud: ShownCloud
    selection: Selection
    part: ShownCloud  # the points that are drawn


class Viewer:
    """The page of some frames. It shows the first one; the rest is up to the user."""

    def __init__(self, server: viser.ViserServer, frames: Sequence[Frame], *, most_points: int = DRAWN_POINTS) -> None:
        self.server, self.frames, self.most_points = server, frames, most_points
        self.frame, self.cloud = frames[0], _first_cloud(frames[0])
        self.shown: Shown | None = None
        # One unit of the scene is the distance of the first cloud's middle: the browser's near and far planes fit it.
        self.unit = float(np.median(self.cloud.points[:: max(1, len(self.cloud) // 100_000), 2]))
        self.after: list[Callable[[Shown], None]] = []  # who wants to know what is shown
        self._lock = threading.RLock()
        self._drawing = LatestOnly(self._draw)
        self._look_from_behind_the_camera()
        self._build_panel()
        self._draw()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._drawing.close()

    def scene_from_points(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """Places (n, 3) in the scene of points in mm (of a relief: px)."""
        return np.asarray(points / np.float32(self.unit), np.float32)

    def _look_from_behind_the_camera(self) -> None:
        middle = np.median(self.cloud.points[:: max(1, len(self.cloud) // 100_000)], axis=0) / self.unit
        self.server.scene.set_up_direction("-y")
        self.server.initial_camera.position = middle + np.array([0.3, -0.25, -0.95])
        self.server.initial_camera.look_at = middle
        self.server.initial_camera.fov = np.radians(45)
        self.server.initial_camera.near = 0.001

    def _build_panel(self) -> None:
        gui = self.server.gui
        self.said = gui.add_markdown("")
        if len(self.frames) > 1:
            self.time = gui.add_slider("frame", 0, len(self.frames) - 1, 1, 0, hint="The frames of the sequence.")
            self.time.on_update(self._changes_source)
        labels = list(self.frame.clouds)
        self.source: Any = gui.add_dropdown("show", labels, initial_value=labels[0], visible=len(labels) > 1)
        self.source.on_update(self._changes_source)
        kinds = [LABELS[kind] for kind in color_kinds(self.cloud)]
        self.color: Any = gui.add_dropdown("colour by", kinds, initial_value=kinds[0])
        self.bar = gui.add_html("")
        self.confidence = gui.add_slider(
            "confidence ≥", 0.0, 1.0, 0.01, 0.0, hint="Points of less confidence are left out; 0 keeps all."
        )
        self.sigma: Any = gui.add_slider(
            "σ ≤", 0.0, 1.0, 0.01, 1.0, hint="Points of larger σ are left out; the right end keeps all."
        )
        self.range: Any = gui.add_multi_slider(
            "range", 0.0, 1.0, 0.01, (0.0, 1.0), hint="Points nearer or farther are left out; the ends keep all."
        )
        self.size = gui.add_slider("point size", 0.25, 4.0, 0.25, 1.0)
        self._fit_sliders()
        for control in (self.color, self.confidence, self.sigma, self.range):
            control.on_update(lambda _: self._drawing.ask())
        self.size.on_update(lambda _: self._resize())

    def _fit_sliders(self) -> None:
        """Give the sliders the ends of the cloud's values; a column that is missing has none."""
        self.confidence.visible = self.cloud.confidence is not None
        ends = None if self.cloud.sigma is None else quantiles(self.cloud.sigma, OUTLIERS)
        self.sigma.visible = ends is not None
        if ends is not None:
            _set_slider(self.sigma, *ends)
            self.sigma.value = self.sigma.max
        low, high = quantiles(self.cloud.depth, OUTLIERS) or (0.0, 1.0)
        _set_slider(self.range, low, high)
        self.range.value = (self.range.min, self.range.max)

    @property
    def limits(self) -> Limits:
        """What the sliders say; at its end, a slider is no limit."""
        near, far = self.range.value
        return Limits(
            self.confidence.value if self.confidence.visible and self.confidence.value > 0 else None,
            self.sigma.value if self.sigma.visible and self.sigma.value < self.sigma.max else None,
            near if near > self.range.min else None,
            far if far < self.range.max else None,
        )

    def _changes_source(self, _: Any) -> None:
        with self._lock:
            frame = self.frames[self.time.value] if len(self.frames) > 1 else self.frame
            labels = list(frame.clouds)
            label = self.source.value if self.source.value in labels else labels[0]
            try:
                self.cloud = frame.clouds[label]()
            except PlenodepthError as error:
                self.say(str(error))
                return
            if frame is not self.frame:
                self.frame = frame
                self.source.options, self.source.value = labels, label
            self._fit_sliders()
            kinds = [LABELS[kind] for kind in color_kinds(self.cloud)]
            chosen = self.color.value
            self.color.options = kinds
            self.color.value = chosen if chosen in kinds else kinds[0]
        self._drawing.ask()

    def say(self, text: str) -> None:
        """A sentence at the top of the panel, in place of what stood there."""
        self.said.content = text

    def _draw(self) -> None:
        with self._lock:
            cloud, kind = self.cloud, KEYS[self.color.value]
            selection = select(cloud, self.limits, self.most_points)
            part = cloud if len(selection.index) == len(cloud) else cloud.part(selection.index)
            ends = color_ends(cloud, kind)
            self.bar.content = color_bar(kind, cloud.metric, ends)
            self.points = self.server.scene.add_point_cloud(
                "/cloud",
                self.scene_from_points(part.points),
                colors_of(part, kind, ends),
                point_size=POINT * self.size.value,
                precision="float32",
                point_shading="flat",
            )
            lines = [f"**{self.frame.name}**", selection.sentence, *self.frame.notes]
            self.say("\n\n".join(lines))
            self.shown = Shown(self.frame, cloud, selection, part)
            for told in self.after:
                told(self.shown)

    def _resize(self) -> None:
        self.points.point_size = POINT * self.size.value


def _first_cloud(frame: Frame) -> ShownCloud:
    return next(iter(frame.clouds.values()))()


def _set_slider(slider: Any, low: float, high: float) -> None:
    """Round ends and steps for a slider. No moment has its ends the wrong way round."""
    step = round_step((high - low) / STEPS)
    low, high = step * np.floor(low / step), step * np.ceil(high / step + 1e-9)
    slider.min, slider.max = min(low, slider.min), max(high, slider.max)
    slider.min, slider.max, slider.step = float(f"{low:.9g}"), float(f"{high:.9g}"), step


def round_step(least: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is not below a number; 1e-6 at least."""
    power = 10.0 ** np.floor(np.log10(max(least, 1e-6)))
    return float(f"{next(n * power for n in (1, 2, 5, 10) if n * power >= least * (1 - 1e-9)):.3g}")
