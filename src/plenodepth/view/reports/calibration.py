"""A calibration as one HTML file: what came out, how sure it is, what it rests on, and what to do better."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.calib.advice.fit_facts import FitFacts, fit_facts, radial_profiles
from plenodepth.calib.advice.summary import CalibrationRun, calibration_summary, depth_curve
from plenodepth.io import atomic_path
from plenodepth.view.figures.coverage import calibration_depth_figure, coverage_figure, white_figure
from plenodepth.view.figures.residuals import blur_figure, center_figure, micro_image_figure, residual_figure
from plenodepth.view.reports.html import heading, page, paragraph, picture, table, tiles
from plenodepth.view.reports.numbers import with_sigma

RANKS = {3: ("must", "may spoil the result"), 2: ("should", "worth doing"), 1: ("may", "good to know")}


def write_calibration_report(run: CalibrationRun, path: str | Path) -> dict[str, Any]:
    """Write the report to an .html file, whole or not at all, and give the numbers of `calibration_summary`."""
    with atomic_path(path) as temporary:
        facts = fit_facts(run.adjustment)
        summary = calibration_summary(run, facts)
        temporary.write_text(calibration_report(run, summary, facts), encoding="utf-8")
    return summary


def calibration_report(run: CalibrationRun, summary: dict[str, Any], facts: FitFacts) -> str:
    """The report as HTML, from the numbers of `calibration_summary`."""
    title = f"Calibration of {summary['camera']}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        *_overview(summary),
        *_advice(summary),
        *_parameters(summary),
        *_depth(run, summary, facts),
        *_residuals(run, facts),
        *_coverage(run, summary, facts),
        *_white(run),
        *_origin(summary),
    ]
    return page(title, parts)


def _overview(summary: dict[str, Any]) -> Iterator[str]:
    near, far = summary["distance_range"]
    kind = "aperture-aware" if summary["settings"]["aperture"] else "without the aperture's effect"
    done = "converged" if summary["converged"] else "did NOT converge"
    worst = max((item["importance"] for item in summary["advice"]), default=0)
    verdict = {3: "Something may spoil the result", 2: "Some things could be better", 1: "Small remarks only"}
    yield paragraph(
        f"{summary['features']} board corners seen by micro-lenses in {summary['frames']} frames, boards at "
        f"{near:.0f} … {far:.0f} mm; {kind}; {done} after {summary['iterations']} iterations "
        f"({summary['cpu_seconds']:.0f} s). {verdict.get(worst, 'No weak spot was found')}"
        f"{': see below.' if worst else '.'}"
    )
    yield tiles(
        [
            (_pixels(summary["rmse_uv"]), "RMSE of positions (u, v)"),
            (_pixels(summary["rmse_rho"]), "RMSE of blur radii ρ"),
            (_pixels(summary["rmse_centers"]), "RMSE of micro-image centres"),
            (_depth_share(summary["depth_uncertainty"]), "σ of depth from the calibration"),
            (str(summary["frames"]), "frames"),
            (f"{summary['features']}", f"features, {_share(summary['outliers'], summary['features'])} outliers"),
            (f"{summary['centers']}", f"centres, {_share(summary['center_outliers'], summary['centers'])} outliers"),
        ]
    )


def _depth_share(rows: list[dict[str, float]]) -> str:
    shares = [_percent(row) for row in rows if np.isfinite(row["sigma"])]
    return f"≤ {max(shares):.2g} %" if shares else "–"


def _pixels(value: float) -> str:
    return f"{value:.3f} px" if np.isfinite(value) else "–"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "no"


def _advice(summary: dict[str, Any]) -> Iterator[str]:
    yield heading("Weak spots, and what to do about them")
    if not summary["advice"]:
        yield paragraph("None found: coverage, tilts, residuals and correlations are as they should be.", "good")
        return
    items = []
    for item in summary["advice"]:
        name, rank = RANKS[item["importance"]]
        items.append(
            f'<li class="{name}"><span class="rank">{rank}</span><p>{escape(item["finding"])}</p>'
            f"<p><b>What to do:</b> {escape(item['remedy'])}</p></li>"
        )
    yield f'<ol class="advice">{"".join(items)}</ol>'


def _parameters(summary: dict[str, Any]) -> Iterator[str]:
    yield heading("Parameters")
    labels = {
        "D": "D, main lens to lens array (corner lens)",
        "d": "d, lens array to sensor (corner lens)",
        "u0": "principal point u₀",
        "v0": "principal point v₀",
        "pitch": "lens pitch ΔC (mean)",
        "kappa": "blur coefficient κ",
    }
    known = summary["parameters"]
    chosen = {"F, focal length of the main lens": known["main_lens.focal_length"]}
    chosen |= {labels.get(name, name): row for name, row in summary["derived"].items()}
    focals = [name for name in known if name.startswith("micro_lenses.focal_lengths.")]
    chosen |= {f"f, focal length of lens type {name.rsplit('.', 1)[1]}": known[name] for name in focals}
    yield table(("", "value ± σ", "unit"), [_row(label, row) for label, row in chosen.items()], left=(2,))
    yield paragraph("All parameters of the adjustment, σ for those that were adjusted or held at an uncertain value:")
    rows = [_row(name, row) for name, row in known.items()]
    yield table(("parameter", "value ± σ", "unit"), rows, left=(2,))
    yield from _certainty(summary["uncertainty"])


def _row(label: str, row: dict[str, Any]) -> tuple[str, str, str]:
    value = with_sigma(row["value"], row["sigma"])
    return label, f"{value} (held)" if row.get("held") else value, row["unit"]


def _certainty(known: dict[str, Any] | None) -> Iterator[str]:
    if known is None:
        yield paragraph("The uncertainty has not been computed.", "soft")
        return
    factor = known["scatter_factor"]
    yield paragraph(
        f"Scatter factor {factor:.2f}: the frames pull the parameters apart {np.sqrt(factor):.2f} times as much as "
        "the residuals' own noise explains, and every σ above has been multiplied by that. 1 means that the frames "
        "agree. Lens types that disagree widen the σ further."
    )
    yield paragraph(
        f"Condition number of the scaled normal equations: {known['condition']:.2g}. F, D and the boards' distances "
        "nearly trade against each other, so large numbers are usual; beyond 1e13 digits get lost."
    )
    for name, sigma in known["considered"].items():
        yield paragraph(f"{name} was held at a value taken to be known to ± {sigma:g}; that is passed on to all σ.")
    if known["correlated"]:
        yield paragraph("Correlated by more than 0.99 (lens array and sensor move together, which is harmless):")
        rows = [(f"{pair['first']} – {pair['second']}", f"{pair['correlation']:+.6f}") for pair in known["correlated"]]
        yield table(("parameters", "correlation"), rows)
    else:
        yield paragraph("No two parameters are correlated by more than 0.99.")


def _depth(run: CalibrationRun, summary: dict[str, Any], facts: FitFacts) -> Iterator[str]:
    curve = depth_curve(run, facts, 80)
    if curve is None:
        return
    yield heading("Expected uncertainty of depth")
    rows = summary["depth_uncertainty"]
    few = [rows[index] for index in np.linspace(0, len(rows) - 1, 6).round().astype(int)]
    yield picture(
        calibration_depth_figure(curve, run.adjustment.camera),
        "Standard deviation of depth that is due to the calibration alone, over the distances of the boards: a "
        "systematic error that all depths of this camera share. For comparison that of a single match, which averaging "
        "reduces.",
    )
    lines = [
        (f"{row['depth']:.0f}", f"{row['virtual_depth']:.2f}", f"{row['sigma']:.2f}", f"{_percent(row):.2f}")
        for row in few
    ]
    yield table(("z [mm]", "v", "σ_z [mm]", "σ_z [%]"), lines)


def _percent(row: dict[str, float]) -> float:
    return 100 * row["sigma"] / row["depth"]


def _residuals(run: CalibrationRun, facts: FitFacts) -> Iterator[str]:
    yield heading("Residuals")
    yield picture(
        residual_figure(facts),
        "Residuals over the image, without outliers. Arrows should be short and point anywhere; arrows that agree over "
        "a region are distortion or a bent board that the model does not know.",
    )
    yield picture(
        micro_image_figure(facts, radial_profiles(facts)),
        "Mean radial residual within the micro-image, by lens type (bars: two standard errors). Curves that part from "
        "each other away from the centre are the effect of the main lens' aperture, which shifts what clipped pixels "
        "see by an amount that depends on the lens type and the distance.",
    )
    blur = blur_figure(facts)
    if blur is not None:
        yield picture(blur, "Residuals of the blur radii; each type should be centred on zero.")
    centers = center_figure(run.adjustment.fit, facts.size)
    if centers is not None:
        yield picture(centers, "Residuals of the micro-image centres from white images, without outliers.")


def _coverage(run: CalibrationRun, summary: dict[str, Any], facts: FitFacts) -> Iterator[str]:
    yield heading("Coverage")
    yield picture(
        coverage_figure(facts, run.adjustment.camera),
        "Where in the image and at which distances the features lie (bars), and what each frame's board spans "
        "(lines). What is beyond is extrapolated.",
    )
    board = summary["board"]
    size = f"{board['columns']} × {board['rows']} inner corners, squares of {board['square']:g} mm"
    yield paragraph(f"The board: {size}.")
    several = any(frame["board"] > 0 for frame in summary["per_frame"])
    rows = [
        (
            f"{row['frame']}" + (f", board {row['board']}" if several else ""),
            str(row["features"]),
            str(row["outliers"]),
            f"{row['rmse_uv']:.3f}",
            f"{row['rmse_rho']:.3f}" if np.isfinite(row["rmse_rho"]) else "–",
            f"{row['near']:.0f} … {row['far']:.0f}",
            f"{np.degrees(row['tilt']):.1f}",
        )
        for row in summary["per_frame"]
    ]
    yield table(("frame", "features", "outliers", "RMSE u, v [px]", "RMSE ρ [px]", "distance [mm]", "tilt [°]"), rows)


def _white(run: CalibrationRun) -> Iterator[str]:
    figure = None if run.radii is None else white_figure(run.radii)
    if figure is None:
        return
    yield heading("White images")
    yield picture(
        figure,
        "Radius of the micro-images in white images against the inverse f-number, by lens type. The slope "
        "m = F d/(2 D) is that of the main lens' aperture, the intercepts are the lenses' own blur. Points off the "
        "line: a wrong f-number.",
    )


def _origin(summary: dict[str, Any]) -> Iterator[str]:
    yield heading("How it was made")
    settings = summary["settings"]
    priors = "; ".join(f"{name}: {row['value']:g} ± {row['sigma']:g}" for name, row in settings["priors"].items())
    rows = [
        ("aperture's effect", "modelled" if settings["aperture"] else "not modelled"),
        ("blur radii ρ", "used" if settings["use_rho"] else "not used"),
        ("held", ", ".join(settings["hold"]) or "nothing besides the pixel size"),
        ("priors", priors or "none"),
        ("rounds of weights, at most per stage", str(settings["rounds"])),
        ("iterations", f"{summary['iterations']}"),
        ("processor time", f"{summary['cpu_seconds']:.1f} s"),
        ("RMSE of positions without outliers", _pixels(summary["rmse_uv_without_outliers"])),
    ]
    yield table(("", ""), rows, left=(1,))
    versions = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    yield paragraph(f"Versions: {versions}.", "soft")
    if summary["notes"]:
        yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in summary["notes"]) + "</ul>"
    if summary["inputs"]:
        files = [(item["name"], f"{item['size']}", item["sha256"]) for item in summary["inputs"]]
        yield table(("input", "bytes", "SHA-256"), files, left=(2,))
