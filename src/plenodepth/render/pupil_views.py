"""Views from places in the main lens' pupil."""

from __future__ import annotations

import math
from collections.abc import Iterator

from plenodepth.blas import single_blas_thread
from plenodepth.errors import InputError
from plenodepth.metric.result import DepthResult
from plenodepth.render.allfocus import SCALE, require_scale
from plenodepth.render.picture import view_of
from plenodepth.render.surface import ViewSurface, central_surface, converging_depth, surface_from
from plenodepth.render.view import RenderedView
from plenodepth.threads import limited_threads

SPAN = 0.6  # of the pupil's radius: how far from its middle the outermost views of a row or column stand


def viewpoints(
    depth: DepthResult,
    columns: int = 5,
    rows: int = 5,
    *,
    scale: float = SCALE,
    span: float = SPAN,
    converge: float | None = None,
    sharpen: bool = True,
    threads: int | None = None,
) -> Iterator[RenderedView]:
    """Views from a grid of places in the pupil, row by row, one at a time: view-00-00, view-00-01, …

    `span`: where the outermost of a row or column stand, in radii of the pupil. All look the same way; with `converge`
    (mm, or virtual depth) they are shifted so that what lies there stays where it is. The middle one of an odd grid is
    the view of `all_in_focus`.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> image = plenodepth.load_raw("raw.png", camera, white="white.png")
    >>> depth = plenodepth.estimate_depth(image, camera, dense=plenodepth.DenseSettings(enabled=True))
    >>> views = plenodepth.viewpoints(depth, 3, 1, scale=4)
    >>> [view.viewpoint for view in views]
    [(-0.6, 0.0), (0.0, 0.0), (0.6, 0.0)]
    """
    require_scale(scale)
    central = central_surface(depth)
    meeting = converging_depth(central, converge)
    return views_from(central, grid_places(columns, rows, span), meeting, scale, sharpen=sharpen, threads=threads)


def grid_places(columns: int, rows: int, span: float = SPAN) -> dict[str, tuple[float, float]]:
    """Places in the pupil, in its radii, to the right and downwards, by the names of their views."""
    if min(columns, rows) < 1 or max(columns, rows) > 99:
        raise InputError(f"is {columns}x{rows}, needs 1x1 to 99x99", field="grid")
    corner = span * math.hypot(columns > 1, rows > 1)
    if columns * rows > 1 and not 0 < corner <= 1:
        raise InputError(
            f"of {span:g} puts the outermost views at {corner:.3g} radii of the pupil",
            field="span",
            fix="give one that leaves them within 1",
        )
    return {
        f"view-{row:02d}-{column:02d}": (span * _share(column, columns), span * _share(row, rows))
        for row in range(rows)
        for column in range(columns)
    }


@single_blas_thread()
def views_from(
    central: ViewSurface,
    places: dict[str, tuple[float, float]],
    converge: float,
    scale: float,
    *,
    sharpen: bool = True,
    threads: int | None = None,
) -> Iterator[RenderedView]:
    """The views from places in the pupil, by their names, one at a time."""
    for name, place in places.items():
        with limited_threads(threads):
            view = view_of(surface_from(central, place, converge), scale, sharpen=sharpen, name=name)
        yield view


def _share(index: int, count: int) -> float:
    """−1 … 1 for the first to the last of several; 0 for a single one."""
    return 0.0 if count == 1 else 2 * index / (count - 1) - 1
