"""One frame at a glance: the raw image, what was put together from it, and its depth beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from plenodepth.metric.picture import MISSING, depth_colors, reduced
from plenodepth.view.figures.style import ORANGE, hide_ticks

Map = NDArray[np.float32]
Picture = NDArray[np.uint8]

MOST_PIXELS = 1000  # of a picture's longer side
ERROR_END = 5.0  # per cent, the end of the colours of errors
WHITE_QUANTILE = 0.995  # of the enlarged part's numbers are no brighter than white
SCREEN_EXPONENT = 1 / 2.2
FOUND = 2  # maps that are shown beside the truth


def overview_figure(
    raw: NDArray[Any],
    enlarged: tuple[slice, slice],
    central: Picture,
    view: Picture,
    truth: Map,
    found: Mapping[str, Map],
    title: str,
) -> Figure:
    """One frame from its raw image to depth, in pictures with numbers in their titles.

    Above: the raw image, linear light (h, w) or (h, w, 3); a part of it enlarged, by its rows and columns; the central
    view in colour and the cloud from another side, both sRGB. Below: true depth (h, w), mm; up to two maps by name, mm;
    and by how much the last one is off.
    """
    figure = Figure(figsize=(16, 7.9), layout="constrained", facecolor="white")
    figure.suptitle(title, fontsize=19)
    grid = figure.add_gridspec(2, 1, height_ratios=(1, 1.16))
    _draw_pictures(figure.add_subfigure(grid[0]), raw, enlarged, central, view)
    _draw_maps(figure.add_subfigure(grid[1]), truth, dict(list(found.items())[:FOUND]))
    return figure


def _draw_pictures(
    place: SubFigure, raw: NDArray[Any], enlarged: tuple[slice, slice], central: Picture, view: Picture
) -> None:
    rows, columns = enlarged
    panels = place.subplots(1, 4)
    small, white = _averaged(raw), float(np.quantile(raw[rows, columns], WHITE_QUANTILE))
    _show(panels[0], _encoded(small, white), "1  The raw image: one exposure")
    scale = small.shape[1] / raw.shape[1]
    box = (columns.start * scale, rows.start * scale)
    size = ((columns.stop - columns.start) * scale, (rows.stop - rows.start) * scale)
    panels[0].add_patch(Rectangle(box, *size, fill=False, edgecolor=ORANGE, linewidth=2))
    _show(panels[1], _encoded(raw[rows, columns], white), "2  Enlarged: one image per micro-lens")
    for spine in panels[1].spines.values():
        spine.set(edgecolor=ORANGE, linewidth=2)
    _show(panels[2], central, "3  The picture that they hold together")
    _show(panels[3], view, "4  Its points in space, from another side")


def _draw_maps(place: SubFigure, truth: Map, found: Mapping[str, Map]) -> None:
    panels = place.subplots(1, 2 + len(found))
    present = truth[np.isfinite(truth)]
    depths = {"cmap": "viridis_r", **depth_colors(present)}
    shown = _show(panels[0], reduced(truth, MOST_PIXELS), "5  True depth", depths)
    errors: Map = np.full(truth.shape, np.nan, np.float32)
    name = ""
    for number, (name, values) in enumerate(found.items(), start=1):
        errors = 100 * np.abs(values / truth - 1)
        _show(panels[number], reduced(values, MOST_PIXELS), f"{5 + number}  {name}: {_off(errors)}", depths)
    place.colorbar(shown, ax=panels[:-1].tolist(), label="z [mm]", pad=0.01, location="bottom", aspect=60)
    quality = {"cmap": "inferno", "vmin": 0, "vmax": ERROR_END}
    wrong = _show(panels[-1], reduced(errors, MOST_PIXELS), f"{6 + len(found)}  {name}: error", quality)
    place.colorbar(wrong, ax=panels[-1], label="|found − true| [% of z]", extend="max", location="bottom", pad=0.02)


def _off(errors: Map) -> str:
    """The median of errors, per cent."""
    known = errors[np.isfinite(errors)]
    return f"{np.median(known):.1f} % off" if len(known) else "no depth"


def _show(axes: Axes, values: NDArray[Any], title: str, style: Mapping[str, Any] | None = None) -> AxesImage:
    axes.set_facecolor(MISSING)
    hide_ticks(axes)
    axes.set_title(title, fontsize=12.5, loc="left")
    return axes.imshow(values, interpolation="antialiased", **(style or {}))


def _averaged(picture: NDArray[Any]) -> NDArray[Any]:
    """A picture of means of n × n pixels, at most `MOST_PIXELS` long: single ones would show a moiré of the lenses."""
    step = -(-max(picture.shape[:2]) // MOST_PIXELS)
    height, width = (length // step * step for length in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // step, step, width // step, step, *picture.shape[2:])
    return np.asarray(blocks.mean(axis=(1, 3)))


def _encoded(light: NDArray[Any], white: float) -> NDArray[Any]:
    """Linear light as a screen shows it, in [0, 1], of which `white` is 1; gray as three equal colours."""
    shown = np.clip(light / max(white, 1e-9), 0, 1) ** SCREEN_EXPONENT
    return np.asarray(shown if shown.ndim == 3 else np.repeat(shown[..., None], 3, axis=2))
