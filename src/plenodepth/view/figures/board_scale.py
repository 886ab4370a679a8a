"""Scale errors of boards before and after Γ, and Γ itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

BEFORE, AFTER, HELD_OUT = "#d55e00", "#0072b2", "#009e73"


def board_scale_figure(record: Mapping[str, Any]) -> Figure:
    """`record` as `calib.scale.step` writes it."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    errors, scale = figure.subplots(1, 2)
    distance = np.array([row["distance"] for row in record["frames"]])
    for name, color, marker in (("before", BEFORE, "o"), ("after", AFTER, "s")):
        values = 100 * np.array([row[name] for row in record["frames"]])
        label = f"{name}: median {100 * record[f'median_{name}']:.3f} %"
        errors.plot(distance, values, marker, color=color, label=label)
    tested = record["held_out"].get(record["order"])
    if tested is not None and tested["median"] is not None:
        values = 100 * np.array([np.nan if error is None else error for error in tested["errors"]])
        label = f"each by the others: median {100 * tested['median']:.3f} %"
        errors.plot(distance, values, "x", color=HELD_OUT, label=label)
    for row in record["frames"]:
        errors.annotate(str(row["frame"]), (row["distance"], 100 * row["before"]), fontsize="x-small")
    errors.set_xlabel("distance without Γ [mm]")
    errors.set_ylabel("scale error [%], positive: found too small")
    z = np.linspace(record["depth_range"][0], record["depth_range"][1], 100)
    gamma = np.polyval(record["depth_scale"][::-1], z)
    scale.plot(z, 100 * (gamma / z - 1), color=AFTER)
    scale.set_xlabel("distance without Γ [mm]")
    scale.set_ylabel("Γ(z)/z − 1 [%]")
    scale.set_title(f"{record['order']}, for aperture model {record['aperture_model']}", fontsize="medium")
    for axes in (errors, scale):
        axes.axhline(0, color="#999999", linewidth=0.8, zorder=0)
        axes.grid(True, color="#dddddd", linewidth=0.6)
    errors.legend()
    return figure
