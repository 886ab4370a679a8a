"""The report of a calibration, one HTML file: what came out, how sure it is, what it rests on, what to do better."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from plenodepth.calib.advice.facts import FrameFacts, radial_profiles
from plenodepth.calib.advice.summary import CalibrationRun, CalibrationSummary, DepthSigma, Quantity, depth_curve
from plenodepth.calib.bundle.optics_choice import OpticsChoice
from plenodepth.io import atomic_path
from plenodepth.view.figures.calibration import coverage_figure, depth_uncertainty_figure, white_radii_figure
from plenodepth.view.figures.residuals import (
    blur_residual_figure,
    center_residual_figure,
    micro_image_residual_figure,
    residual_figure,
)
from plenodepth.view.reports.formats import MISSING, fixed, percentage, with_sigma
from plenodepth.view.reports.page import Picture, Table, draw_picture, render

# By the importance of the most important advice; 0 where there is none.
VERDICTS = (
    "No weak spot was found.",
    "Small remarks only: see below.",
    "Some things could be better: see below.",
    "Something may spoil the result: see below.",
)
MAIN_PARAMETERS = {  # of those derived from the adjusted ones
    "D": "D, main lens to lens array (corner lens)",
    "d": "d, lens array to sensor (corner lens)",
    "u0": "principal point u₀",
    "v0": "principal point v₀",
    "pitch": "lens pitch ΔC (mean)",
    "kappa": "blur coefficient κ",
}
CURVE_POINTS, DEPTH_ROWS = 80, 6  # of the uncertainty of depth: points of the figure, rows of the table


def write_calibration_report(run: CalibrationRun, path: str | Path) -> None:
    """Write the report to an .html file, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(calibration_report(run), encoding="utf-8")


def calibration_report(run: CalibrationRun) -> str:
    """The report as HTML."""
    summary = run.summary
    return render(
        "calibration.html.j2",
        title=f"Calibration of {summary.camera}",
        summary=summary,
        verdict=VERDICTS[max((item.importance for item in summary.advice), default=0)],
        tiles_shown=_tiles(summary),
        tables=_tables(summary),
        pictures=_pictures(run),
    )


def _tiles(summary: CalibrationSummary) -> list[tuple[str, str]]:
    shares = [_percent(row) for row in summary.depth_uncertainty if math.isfinite(row.sigma)]
    return [
        (fixed(summary.rmse_uv, 3, "px"), "RMSE of positions (u, v)"),
        (fixed(summary.rmse_rho, 3, "px"), "RMSE of blur radii ρ"),
        (fixed(summary.rmse_centers, 3, "px"), "RMSE of micro-image centres"),
        (f"≤ {max(shares):.2g} %" if shares else MISSING, "σ of depth from the calibration"),
        (f"{summary.frames}", "frames"),
        (f"{summary.features}", f"features, {percentage(summary.outliers, summary.features)} outliers"),
        (f"{summary.centers}", f"centres, {percentage(summary.center_outliers, summary.centers)} outliers"),
    ]


def _percent(row: DepthSigma) -> float:
    """σ of depth in per cent of the depth."""
    return 100 * row.sigma / row.depth


def _tables(summary: CalibrationSummary) -> dict[str, Table]:
    """All tables of the report by the names that the template has for them."""
    known = summary.uncertainty
    correlated = [] if known is None else known.correlated
    return {
        "main_parameters": _main_parameters(summary),
        "parameters": _parameter_table("parameter", summary.parameters),
        "correlated": Table(
            ("parameters", "correlation"),
            [(f"{pair.first} – {pair.second}", f"{pair.correlation:+.6f}") for pair in correlated],
        ),
        "optics": _optics_table(summary.optics),
        "depth_uncertainty": _depth_table(summary.depth_uncertainty),
        "frames": _frame_table(summary.per_frame),
        "settings": _setting_table(summary),
        "inputs": Table(
            ("input", "bytes", "SHA-256"),
            [(item.name, f"{item.size}", item.sha256) for item in summary.inputs],
            left=(2,),
        ),
    }


def _main_parameters(summary: CalibrationSummary) -> Table:
    known = summary.parameters
    chosen = {"F, focal length of the main lens": known["main_lens.focal_length"]}
    chosen |= {MAIN_PARAMETERS.get(name, name): row for name, row in summary.derived.items()}
    focals = [name for name in known if name.startswith("micro_lenses.focal_lengths.")]
    chosen |= {f"f, focal length of lens type {name.rsplit('.', 1)[1]}": known[name] for name in focals}
    return _parameter_table("", chosen)


def _parameter_table(title: str, parameters: dict[str, Quantity]) -> Table:
    rows = [
        (label, with_sigma(row.value, row.sigma), row.unit, "(held)" if row.held else "")
        for label, row in parameters.items()
    ]
    return Table((title, "value ± σ", "unit", ""), rows, left=(2, 3))


def _optics_table(choice: OpticsChoice | None) -> Table:
    rows = [
        (
            model.name,
            f"{model.change:+.1f}" if model.parameters else "0",
            f"{model.parameters}",
            "adjusted" if model.adjusted else "one step",
            model.found,
            "chosen" if model.chosen else "",
        )
        for model in (choice.models if choice else ())
    ]
    return Table(("main lens", "change of −2 log L", "parameters more", "by", "found", ""), rows, left=(3, 4, 5))


def _depth_table(rows: tuple[DepthSigma, ...]) -> Table:
    few = [rows[index] for index in np.linspace(0, len(rows) - 1, DEPTH_ROWS).round().astype(int)] if rows else []
    lines = [
        (f"{row.depth:.0f}", f"{row.virtual_depth:.2f}", f"{row.sigma:.2f}", f"{_percent(row):.2f}") for row in few
    ]
    return Table(("z [mm]", "v", "σ_z [mm]", "σ_z [%]"), lines)


def _frame_table(frames: tuple[FrameFacts, ...]) -> Table:
    several = any(row.board > 0 for row in frames)
    rows = [
        (
            f"{row.frame}" + (f", board {row.board}" if several else ""),
            f"{row.features}",
            f"{row.outliers}",
            f"{row.rmse_uv:.3f}",
            fixed(row.rmse_rho, 3),
            f"{row.near:.0f} … {row.far:.0f}",
            f"{math.degrees(row.tilt):.1f}",
        )
        for row in frames
    ]
    return Table(("frame", "features", "outliers", "RMSE u, v [px]", "RMSE ρ [px]", "distance [mm]", "tilt [°]"), rows)


def _setting_table(summary: CalibrationSummary) -> Table:
    settings = summary.settings
    priors = "; ".join(f"{name}: {row.value:g} ± {row.sigma:g}" for name, row in settings.priors.items())
    rows = [
        ("aperture's effect", "modelled" if settings.aperture else "not modelled"),
        ("blur radii ρ", "used" if settings.use_rho else "not used"),
        ("held", ", ".join(settings.hold) or "nothing besides the pixel size"),
        ("freed", ", ".join(settings.free) or "nothing of the exit pupil and the clear aperture"),
        ("priors", priors or "none"),
        ("rounds of weights, at most per stage", f"{settings.rounds}"),
        ("iterations", f"{summary.iterations}"),
        ("processor time", f"{summary.cpu_seconds:.1f} s"),
        ("RMSE of positions without outliers", fixed(summary.rmse_uv_without_outliers, 3, "px")),
    ]
    return Table(("", ""), rows, left=(1,))


def _pictures(run: CalibrationRun) -> dict[str, Picture | None]:
    """All pictures by the names that the template has for them; None where there is nothing to draw."""
    camera, facts = run.adjustment.camera, run.facts
    curve = depth_curve(run, CURVE_POINTS)
    figures = {
        "depth_uncertainty": None if curve is None else depth_uncertainty_figure(curve, camera),
        "residuals": residual_figure(facts),
        "micro_images": micro_image_residual_figure(facts, radial_profiles(facts)),
        "blur": blur_residual_figure(facts),
        "centers": center_residual_figure(run.adjustment.fit, facts.size),
        "coverage": coverage_figure(facts, camera),
        "white_images": None if run.radii is None else white_radii_figure(run.radii),
    }
    return {name: None if figure is None else draw_picture(figure, name) for name, figure in figures.items()}
