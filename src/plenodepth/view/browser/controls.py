"""The panel on the right: which frame, what of it, in which colours and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plenodepth.view.browser.clouds import ShownCloud, quantiles
from plenodepth.view.browser.coloring import LABELS, color_kinds
from plenodepth.view.browser.frames import Frame
from plenodepth.view.browser.selection import Limits

if TYPE_CHECKING:
    import viser

OUTLIERS = (0.001, 0.999)  # quantiles at the ends of the sliders
STEPS = 200  # of a slider
KEYS = {label: kind for kind, label in LABELS.items()}


class Controls:
    """The controls, and what they say. `source_changed`, `limits_changed` and `resized` are told when the user acts."""

    def __init__(self, gui: viser.GuiApi, frames: Sequence[Frame], shows: Sequence[str], cloud: ShownCloud) -> None:
        self._gui = gui
        self._said = gui.add_markdown("")
        self._time: Any = None
        if len(frames) > 1:
            self._time = gui.add_slider("frame", 0, len(frames) - 1, 1, 0, hint="The frames of the sequence.")
        self._show: Any = gui.add_dropdown("show", shows, initial_value=shows[0])
        self._show.visible = len(shows) > 1
        kinds = [LABELS[kind] for kind in color_kinds(cloud)]
        self._color: Any = gui.add_dropdown("colour by", kinds, initial_value=kinds[0])
        self._bar = gui.add_html("")
        self._confidence = gui.add_slider(
            "confidence ≥", 0.0, 1.0, 0.01, 0.0, hint="Points of less confidence are left out; 0 keeps all."
        )
        self._sigma: Any = gui.add_slider(
            "σ ≤", 0.0, 1.0, 0.01, 1.0, hint="Points of larger σ are left out; the right end keeps all."
        )
        self._range: Any = gui.add_multi_slider(
            "range", 0.0, 1.0, 0.01, (0.0, 1.0), hint="Points nearer or farther are left out; the ends keep all."
        )
        self._size = gui.add_slider("point size", 0.25, 4.0, 0.25, 1.0)
        self.fit(cloud)

    def on_change(
        self, source_changed: Callable[[], None], limits_changed: Callable[[], None], resized: Callable[[], None]
    ) -> None:
        """Whom to tell when the user acts."""
        for control in (self._show, self._time):
            if control is not None:
                control.on_update(lambda _: source_changed())
        for control in (self._color, self._confidence, self._sigma, self._range):
            control.on_update(lambda _: limits_changed())
        self._size.on_update(lambda _: resized())

    def add_checkbox(self, label: str, initial: bool, changed: Callable[[bool], None]) -> None:
        """Another thing that can be shown or not."""
        box = self._gui.add_checkbox(label, initial)
        box.on_update(lambda _: changed(box.value))

    def offer(self, shows: Sequence[str]) -> None:
        """What of the frame can be shown; the choice stays where it can."""
        if tuple(self._show.options) != tuple(shows):
            chosen = self._show.value
            self._show.options = shows
            self._show.value = chosen if chosen in shows else shows[0]

    def fit(self, cloud: ShownCloud) -> None:
        """Give the sliders the ends of the cloud's values; a column that is missing has none."""
        self._confidence.visible = cloud.confidence is not None
        ends = None if cloud.sigma is None else quantiles(cloud.sigma, OUTLIERS)
        self._sigma.visible = ends is not None
        if ends is not None:
            _set_slider(self._sigma, *ends)
            self._sigma.value = self._sigma.max
        low, high = quantiles(cloud.depth, OUTLIERS) or (0.0, 1.0)
        _set_slider(self._range, low, high)
        self._range.value = (self._range.min, self._range.max)
        kinds, chosen = [LABELS[kind] for kind in color_kinds(cloud)], self._color.value
        if list(self._color.options) != kinds:
            self._color.options = kinds
            self._color.value = chosen if chosen in kinds else kinds[0]

    @property
    def frame(self) -> int:
        """Which frame."""
        return 0 if self._time is None else int(self._time.value)

    @property
    def show(self) -> str:
        """What of it."""
        return str(self._show.value)

    @property
    def color(self) -> str:
        """By what it is coloured."""
        return KEYS[self._color.value]

    @property
    def size(self) -> float:
        """How large points are, 1 by default."""
        return float(self._size.value)

    @property
    def limits(self) -> Limits:
        """What the sliders say; at its end, a slider is no limit."""
        near, far = self._range.value
        return Limits(
            self._confidence.value if self._confidence.visible and self._confidence.value > 0 else None,
            self._sigma.value if self._sigma.visible and self._sigma.value < self._sigma.max else None,
            near if near > self._range.min else None,
            far if far < self._range.max else None,
        )

    def say(self, text: str, bar: str | None = None) -> None:
        """The text at the top of the panel, and the bar that explains the colours."""
        self._said.content = text
        if bar is not None:
            self._bar.content = bar


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
