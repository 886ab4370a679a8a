"""What a calibration draws, reports and prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plenodepth.cli.calibrate.files import say_notes
from plenodepth.cli.shared.common import console, plain_table, print_json

if TYPE_CHECKING:
    from plenodepth.calib.advice.summary import CalibrationSummary, HoldOut, KappaSummary
    from plenodepth.calib.bundle.settings import AdjustSettings
    from plenodepth.calib.image_list import ListedImage
    from plenodepth.calib.steps import AdjustStep, FeaturesStep, WhiteStep
    from plenodepth.calib.whites.radii import WhiteRadii
    from plenodepth.camera import PlenopticCamera

REPORT, RESIDUALS, WHITE, CORNERS = "report.html", "residuals.png", "white.png", "features.png"


def draw_white(folder: Path, step: WhiteStep) -> None:
    """The radii in white images as a figure, unless it is there already."""
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.calibration import white_radii_figure

    radii = step.radii
    figure = None if radii is None or (not step.fresh and (folder / WHITE).is_file()) else white_radii_figure(radii)
    if figure is not None:
        write_figure(figure, folder / WHITE)


def draw_features(folder: Path, step: FeaturesStep, pictures: list[ListedImage]) -> None:
    """The corners over the board images as a figure, unless it is there already."""
    from plenodepth.io.figures import write_figure
    from plenodepth.io.images import read_image
    from plenodepth.view.figures.calibration import MOST_PANELS, feature_figure, thumbnail

    if not step.fresh and (folder / CORNERS).is_file():
        return
    images = {image.frame: thumbnail(read_image(image.path)) for image in pictures[:MOST_PANELS]}
    write_figure(feature_figure(images, step.features), folder / CORNERS)


def finished(
    folder: Path,
    result: AdjustStep,
    start: PlenopticCamera,
    board: Any,
    settings: AdjustSettings,
    notes: list[str],
    inputs: list[str],
    radii: WhiteRadii | None = None,
    kappa: KappaSummary | None = None,
    hold_out: HoldOut | None = None,
) -> CalibrationSummary:
    """Report and figure in the work folder, and the numbers."""
    from plenodepth.calib.advice.summary import CalibrationRun, input_file
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import residual_figure
    from plenodepth.view.reports.calibration import write_calibration_report

    run = CalibrationRun(
        adjustment=result.adjustment,
        settings=settings,
        board=board,
        uncertainty=result.known,
        start=start,
        inputs=tuple(input_file(path) for path in inputs),
        notes=tuple(notes),
        radii=radii,
        kappa=kappa,
        hold_out=hold_out,
    )
    write_figure(residual_figure(run.facts), folder / RESIDUALS)
    write_calibration_report(run, folder / REPORT)
    return run.summary


def print_summary(
    summary: CalibrationSummary, out: Path, folder: Path, as_json: bool, steps: list[tuple[str, bool]]
) -> None:
    """The parameters, the errors, the notes and the advice; or all of it as JSON."""
    if as_json:
        print_json(summary.to_json())
        return
    skipped = [name for name, fresh in steps if not fresh]
    if skipped:
        console().print(f"up to date: {', '.join(skipped)}")
    table = plain_table("Parameters", "name", "value", "σ")
    for name, row in summary.parameters.items():
        sigma = row.sigma
        table.add_row(name, f"{row.value:.7g}", "held" if sigma is None or sigma != sigma else f"{sigma:.2g}")
    for name, row in summary.derived.items():
        sigma = row.sigma
        table.add_row(name, f"{row.value:.7g} {row.unit}", "" if sigma is None else f"{sigma:.2g}")
    console().print(table)
    console().print(
        f"{summary.features} features in {summary.frames} frames, {summary.outliers} outliers; RMSE: u, v "
        f"{summary.rmse_uv:.3f} px, ρ {summary.rmse_rho:.3f} px, centres {summary.rmse_centers:.3f} px; "
        f"{summary.iterations} iterations, {summary.cpu_seconds:.1f} CPU-seconds"
        + ("" if summary.converged else "; NOT CONVERGED")
    )
    if summary.kappa is not None:
        console().print(f"κ = {summary.kappa.kappa:.4f} ± {summary.kappa.standard_error:.4f}")
    if summary.hold_out is not None:
        console().print(f"held-out frames, poses alone adjusted: u, v {summary.hold_out.rmse_uv:.3f} px")
    say_notes(summary.notes)
    for item in summary.advice:
        console().print(f"- {item.finding}: {item.remedy}")
    console().print(f"camera: {out}; report: {folder / REPORT}")
