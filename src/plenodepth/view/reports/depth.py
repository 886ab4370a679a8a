"""The report of a frame, one HTML file: picture and depth, σ and confidence, a cloud to turn, what to do better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.depth.settings_file import SettingsFile, settings_content
from plenodepth.io import atomic_path
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.result import DepthResult, DepthSummary
from plenodepth.view.reports.depth_advice import depth_advice
from plenodepth.view.reports.depth_maps import ShownMaps, shown_maps
from plenodepth.view.reports.embedded_cloud import MOST_POINTS, embedded_cloud
from plenodepth.view.reports.formats import MISSING, fixed
from plenodepth.view.reports.map_pictures import map_picture, photo_uri
from plenodepth.view.reports.page import Table, render

GOOD = "Nothing speaks against this map."
BAD = "Do not trust this map."
MOST_SIGMAS = 0.95  # of the σ are below the end of their colours
BAR = 30  # signs: the length of a bar that stands for all the time


def write_depth_report(result: DepthResult, path: str | Path) -> None:
    """Write the report to an .html file, whole or not at all. Its cloud and pictures are those that `save` writes."""
    with atomic_path(path) as temporary:
        temporary.write_text(depth_report(result), encoding="utf-8")


def depth_report(result: DepthResult) -> str:
    """The report as HTML."""
    summary, maps = result.summary, shown_maps(result)
    cloud = _cloud(result)
    return render(
        "depth.html.j2",
        title=f"Depth of {summary.image}",
        summary=summary,
        verdict=BAD if summary.quality.doubtful else GOOD,
        tiles_shown=_tiles(summary),
        advice=depth_advice(summary),
        what=maps.what,
        photo=photo_uri(maps.picture),
        depth=map_picture(maps.depth, maps.unit, near_is_low=maps.metric),
        sigma=map_picture(maps.sigma, f"σ, {maps.unit}", ends=_sigma_ends(maps)),
        confidence=map_picture(maps.confidence, "confidence", ends=(0.0, 1.0)),
        cloud=None if cloud is None else embedded_cloud(cloud),
        cloud_points=0 if cloud is None else len(cloud),
        most_points=MOST_POINTS,
        tables=_tables(summary),
    )


def _tiles(summary: DepthSummary) -> list[tuple[str, str]]:
    of_what = "pixels" if summary.settings.depth.refined else "micro-images"
    if summary.metric:
        spread = f"{fixed(summary.q25_z_mm, 0)} … {fixed(summary.q75_z_mm, 0, 'mm')}"
        depths = [
            (fixed(summary.median_z_mm, 0, "mm"), f"median depth; half lies in {spread}"),
            (fixed(summary.median_sigma_z_mm, 1, "mm"), "median σ of a depth"),
        ]
    else:
        depths = [
            (fixed(summary.median_virtual_depth, 2), "median virtual depth"),
            (fixed(summary.median_sigma_virtual_depth, 3), "median σ of a virtual depth"),
        ]
    view = (
        [] if summary.dense is None else [(_percent(summary.dense["valid_fraction"]), "of the dense view have a depth")]
    )
    return [
        *depths,
        (_percent(summary.valid_fraction), f"of the {of_what} have a depth"),
        *view,
        (fixed(summary.median_confidence, 2), "median confidence"),
        (fixed(summary.clock.total.wall, 1, "s"), "from reading to writing"),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _sigma_ends(maps: ShownMaps) -> tuple[float, float] | None:
    """σ from nothing to what nearly all are below: outliers would take all the colours."""
    present = maps.sigma[np.isfinite(maps.sigma)]
    return (0.0, max(float(np.quantile(present, MOST_SIGMAS)), 1e-6)) if present.size else None


def _cloud(result: DepthResult) -> PointCloud | None:
    """The cloud of the dense view, or the frame's own; None where the camera is known by its grid only."""
    if result.dense is not None and isinstance(result.camera, PlenopticCamera):
        return result.dense.cloud(result.camera)
    return result.cloud


def _tables(summary: DepthSummary) -> dict[str, Table]:
    """All tables of the report by the names that the template has for them."""
    chosen, usual = settings_content(summary.settings), settings_content(SettingsFile())
    rows = [
        (
            f"{section}.{name}",
            _said(value),
            "" if value == usual[section][name] else f"default: {_said(usual[section][name])}",
        )
        for section, values in chosen.items()
        for name, value in values.items()
    ]
    kappa = summary.blur_coefficient
    made = [
        ("camera", summary.camera),
        ("vignetting divided out by", summary.devignetting),
        ("aperture model", summary.aperture_model.replace("_", " ")),
        ("depth scale Γ of the camera", "applied" if summary.depth_scale_applied else "not applied"),
        ("blur coefficient κ", MISSING if kappa is None else f"{kappa:g}, from {summary.blur_coefficient_from}"),
        ("searched on", {"cpu": "the processor", "cuda": "the GPU"}.get(summary.device, summary.device)),
        ("threads", f"{summary.threads}"),
        ("plenodepth", summary.plenodepth),
    ]
    return {
        "changed": Table(("setting", "value", ""), [row for row in rows if row[2]], left=(1, 2)),
        "settings": Table(("setting", "value", ""), rows, left=(1, 2)),
        "made": Table(("", ""), made, left=(1,)),
        "stages": _stages(summary),
    }


def _stages(summary: DepthSummary) -> Table:
    total = summary.clock.total
    rows = [
        (name, f"{taken.wall:.2f}", f"{taken.cpu:.2f}", "▇" * round(BAR * taken.wall / max(total.wall, 1e-9)))
        for name, taken in summary.clock.stages.items()
    ]
    rows.append(("all", f"{total.wall:.2f}", f"{total.cpu:.2f}", ""))
    return Table(("stage", "seconds", "CPU-seconds", ""), rows, left=(3,))


def _said(value: Any) -> str:
    """A setting in words."""
    if value is None:
        return "by itself"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " … ".join(f"{item:g}" for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")
