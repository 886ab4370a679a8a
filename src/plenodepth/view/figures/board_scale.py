"""Scale errors of boards before and after the correction Γ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from plenodepth.view.figures.canvas import BLUE, GREEN, GRID, ORANGE, ZERO


def board_scale_figure(record: Mapping[str, Any]) -> Figure:
    """Scale errors of frames before and after Γ, and Γ itself; `record` as `calib.scale.step` writes it."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    errors, scale = figure.subplots(1, 2)
    distance = np.array([row["distance"] for row in record["frames"]])
    for name, color, marker in (("before", ORANGE, "o"), ("after", BLUE, "s")):
        values = 100 * np.array([row[name] for row in record["frames"]])
        label = f"{name}: median {100 * record[f'median_{name}']:.3f} %"
        errors.plot(distance, values, marker, color=color, label=label)
    tested = record["held_out"].get(record["order"])
    if tested is not None and tested["median"] is not None:
        values = 100 * np.array([np.nan if error is None else error for error in tested["errors"]])
        label = f"each by the others: median {100 * tested['median']:.3f} %"
        errors.plot(distance, values, "x", color=GREEN, label=label)
    for row in record["frames"]:
        errors.annotate(str(row["frame"]), (row["distance"], 100 * row["before"]), fontsize="x-small")
    errors.set_xlabel("distance without Γ [mm]")
    errors.set_ylabel("scale error [%], positive: found too small")
    z = np.linspace(record["depth_range"][0], record["depth_range"][1], 100)
    gamma = np.polyval(record["depth_scale"][::-1], z)
    scale.plot(z, 100 * (gamma / z - 1), color=BLUE)
    scale.set_xlabel("distance without Γ [mm]")
    scale.set_ylabel("Γ(z)/z − 1 [%]")
    scale.set_title(f"{record['order']}, for aperture model {record['aperture_model']}", fontsize="medium")
    for axes in (errors, scale):
        axes.axhline(0, **ZERO, zorder=0)
        axes.grid(True, **GRID)
    errors.legend()
    return figure
