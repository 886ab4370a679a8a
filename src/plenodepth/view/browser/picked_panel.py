"""What is known of the place that was clicked: numbers, cost curves, neighbours; and the distance of two places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import PlenodepthError
from plenodepth.view.browser.latest import LatestOnly
from plenodepth.view.browser.measure import measured_distance
from plenodepth.view.browser.probe import Probe

if TYPE_CHECKING:
    import viser

    from plenodepth.depth.curves import CostCurve

INVITATION = "Click on a point, or on a picture (**show**)."
COLORS = {"B": "#0072b2", "D": "#d55e00"}  # as in the figure of `plenodepth cost`
MARKS = ((255, 214, 0), (255, 92, 168))  # of the last place and of the one before
LINE = (255, 214, 0)
MARK = 0.006  # radius of a mark, of the distance to the cloud's middle
SHOWN_DEPTHS = (20, 10, 7, 5, 4, 3, 2.5, 2)  # |v| below the curves, which are spread evenly over 1/v
WIDTHS = {"B": 4, "D": 1.5}  # px: each is seen where they agree
PANEL_WIDTH = 340  # px


@dataclass(frozen=True)
class Picked:
    """A place that was clicked; None: not known."""

    point: tuple[float, float, float] | None  # in the unit of the cloud
    sigma: float | None  # of its depth
    confidence: float | None
    metric: bool
    probe: Probe | None
    virtual_depth: float | None = None  # of a point of a relief


@dataclass(frozen=True, eq=False)
class Details:
    """What takes a moment to compute: the cost curves of a micro-image and the picture of its neighbours."""

    curves: dict[str, CostCurve]
    picture: NDArray[np.uint8]
    neighbours: str


class PickedPanel:
    """The panel on the left. `details` computes what takes a moment; None: there is no raw image to compute it from."""

    def __init__(
        self,
        server: viser.ViserServer,
        details: Callable[[Probe], Details | None] | None,
        place: Callable[[NDArray[Any]], NDArray[np.float32]],
    ) -> None:
        self._server, self._details, self._place = server, details, place
        self._last: list[Picked] = []  # the last two
        self._marks: list[Any] = []
        self.panel = server.gui.add_panel()
        with self.panel.add_tab("place"):
            self._text = server.gui.add_markdown(INVITATION)
            empty = np.array([0.05, 0.5])
            lines: list[Any] = [{"label": name, "stroke": COLORS[name], "width": WIDTHS[name]} for name in COLORS]
            splits = tuple(1 / depth for depth in SHOWN_DEPTHS)
            values = tuple(f"{depth:g}" for depth in SHOWN_DEPTHS)
            self._plot = server.gui.add_uplot(
                (empty, empty, empty),
                ({"label": "1/|v|"}, *lines),
                scales={"x": {"time": False}},
                axes=(
                    {"label": "|virtual depth|", "stroke": "#999", "size": 40, "splits": splits, "values": values},
                    {"label": "difference of the views", "stroke": "#999", "size": 64},
                ),
                height=230,
                visible=False,
            )
            self._said = server.gui.add_markdown("", visible=False)
            self._picture = server.gui.add_image(np.zeros((2, 2, 3), np.uint8), visible=False)
        with self.panel.add_tab("distance"):
            self._distance = server.gui.add_markdown("Click on two points of the cloud.")
            self._forget = server.gui.add_button("start again")
            self._forget.on_click(lambda _: self.forget())
        self.panel.dock_left()
        self.panel.set_width(PANEL_WIDTH)
        self._working = LatestOnly(self._show_details)

    def close(self) -> None:
        """End the thread that computes."""
        self._working.close()

    def pick(self, picked: Picked, *, marked: bool = True) -> None:
        """Show a place, marked in the cloud; with the one before it, their distance."""
        self._last = [*self._last, picked][-2:]
        self._text.content = description(picked)
        self._measure()
        self.draw_marks(visible=marked)
        if self._details is not None and picked.probe is not None:
            self._say("computing the cost curves …")
            self._working.ask()

    def forget(self) -> None:
        """Forget the places."""
        self._last = []
        self._text.content = INVITATION
        self._distance.content = "Click on two points of the cloud."
        for handle in (self._plot, self._picture, self._said):
            handle.visible = False
        self.draw_marks()

    def _measure(self) -> None:
        known = [picked for picked in self._last if picked.point is not None]
        if len(known) < 2:
            self._distance.content = "Click on a second point of the cloud."
        elif not all(picked.metric for picked in known):
            self._distance.content = "There are no millimetres: virtual depth has no unit."
        else:
            before, last = known
            found = measured_distance(before.point, last.point, (before.sigma, last.sigma))  # type: ignore[arg-type]
            self._distance.content = f"**distance {found}**\n\nbetween {_xyz(before.point)} and {_xyz(last.point)}"

    def draw_marks(self, *, visible: bool = True) -> None:
        """Draw the marks of the last places in the cloud, or leave them out."""
        for handle in self._marks:
            handle.remove()
        self._marks = []
        points = [picked.point for picked in self._last if picked.point is not None][::-1]
        if not points or not visible:
            return
        places = self._place(np.array(points, np.float32))
        for number, (place, color) in enumerate(zip(places, MARKS, strict=False)):
            name = f"/picked/{number}"
            self._marks.append(self._server.scene.add_icosphere(name, radius=MARK, color=color, position=place))
        if len(points) == 2:
            line = self._server.scene.add_line_segments(
                "/picked/line", places[None], LINE, thickness=3.0, thickness_units="screen"
            )
            self._marks.append(line)

    def _show_details(self) -> None:
        picked = self._last[-1] if self._last else None
        if picked is None or picked.probe is None or self._details is None:
            return
        try:
            details = self._details(picked.probe)
        except PlenodepthError as error:
            self._say(str(error))
            return
        if not self._last or self._last[-1] is not picked:  # another place since
            return
        if details is None:
            self._say("There is no raw image of this frame, and so no curves.")
            return
        self._plot.data = plotted(details.curves)
        self._plot.visible = True
        self._picture.image = details.picture
        self._picture.visible = True
        found = "; ".join(f"**{name}** {_estimate(curve)}" for name, curve in details.curves.items())
        self._say(f"{found}\n\n{details.neighbours}")

    def _say(self, text: str) -> None:
        self._said.content, self._said.visible = text, True


def description(picked: Picked) -> str:
    """A place in words and numbers, as Markdown."""
    rows = list[tuple[str, str]]()
    if picked.point is not None and picked.metric:
        rows.append(("x, y, z", f"{_xyz(picked.point)} mm"))
        if picked.sigma is not None:
            rows.append(("σ of z", f"{picked.sigma:.2f} mm"))
    if picked.virtual_depth is not None:
        spread = "" if picked.sigma is None else f" ± {picked.sigma:.3f}"
        rows.append(("v of the relief", f"{picked.virtual_depth:.3f}{spread}"))
    if picked.confidence is not None:
        rows.append(("confidence", f"{picked.confidence:.2f}"))
    probe = picked.probe
    if probe is not None:
        kind = f", type {probe.lens_type}" if probe.lens_type >= 0 else ""
        rows += [
            ("micro-image", f"({probe.k}, {probe.l}){kind}"),
            ("its centre", f"{probe.center[0]:.1f}, {probe.center[1]:.1f} px"),
            ("pixel u, v", f"{probe.pixel[0]:.1f}, {probe.pixel[1]:.1f}"),
        ]  # fmt: skip
        if probe.depth is not None:
            spread = "" if probe.sigma is None else f" ± {probe.sigma:.2f}"
            rows.append(("its depth z", f"{probe.depth:.2f}{spread} mm"))
        if probe.virtual_depth is not None:
            spread = f" ± {probe.sigma:.3f}" if probe.sigma is not None and probe.depth is None else ""
            rows.append(("virtual depth v", f"{probe.virtual_depth:.3f}{spread}"))
        elif probe.depth is None:
            rows.append(("depth", "none"))
        if probe.blur:
            rows.append(("blur radius ρ", ", ".join(f"{radius:+.2f}" for radius in probe.blur) + " px (type 0, 1, …)"))
    body = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"| place | |\n|---|---|\n{body}" if rows else "nothing is known of this place"


def plotted(curves: dict[str, CostCurve]) -> tuple[NDArray[np.float64], ...]:
    """1/|v| ascending (n,), and the cost of each curve; both are sampled alike."""
    inverse = 1 / np.abs(next(iter(curves.values())).virtual_depth)
    order = np.argsort(inverse)
    return inverse[order], *(curve.cost[order] for curve in curves.values())


def _estimate(curve: CostCurve) -> str:
    return f"v = {curve.estimate:.3f} ± {curve.sigma:.3f}" if np.isfinite(curve.estimate) else "finds no depth"


def _xyz(point: tuple[float, float, float] | None) -> str:
    return "" if point is None else ", ".join(f"{value:.1f}" for value in point)
