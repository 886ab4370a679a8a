"""What the commands of a calibration draw, report and print."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from plenodepth.cli.shared.common import console, plain_table, print_json, print_notes

if TYPE_CHECKING:
    from plenodepth.calib.corners.step import FeaturesStep
    from plenodepth.calib.image_list import ListedImage, ReadImage
    from plenodepth.calib.pipeline import Calibration
    from plenodepth.calib.whites.step import WhiteStep

REPORT, RESIDUALS, WHITE, CORNERS = "report.html", "residuals.png", "white.png", "features.png"
Record = TypeVar("Record")


def draw_step(step: WhiteStep | FeaturesStep, pictures: list[ListedImage], folder: Path, read: ReadImage) -> None:
    """The radii in white images, or the corners over the board images, as a figure, unless it is there already."""
    from plenodepth.calib.whites.step import WhiteStep
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.calibration import MOST_PANELS, feature_figure, thumbnail, white_radii_figure

    path = folder / (WHITE if isinstance(step, WhiteStep) else CORNERS)
    if not step.fresh and path.is_file():
        return
    if isinstance(step, WhiteStep):
        figure = None if step.radii is None else white_radii_figure(step.radii)
    else:
        images = {image.frame: thumbnail(read(image.path)) for image in pictures[:MOST_PANELS]}
        figure = feature_figure(images, step.features)
    if figure is not None:
        write_figure(figure, path)


def write_report(calibration: Calibration, folder: Path) -> None:
    """Report and figure of the residuals, in the work folder."""
    from plenodepth.io.figures import write_figure
    from plenodepth.view.figures.residuals import residual_figure
    from plenodepth.view.reports.calibration import write_calibration_report

    write_figure(residual_figure(calibration.run.facts), folder / RESIDUALS)
    write_calibration_report(calibration.run, folder / REPORT)


def print_calibration(calibration: Calibration, out: Path, folder: Path, *, as_json: bool) -> None:
    """The parameters, the errors, the notes and the advice; or all of it as JSON."""
    summary = calibration.summary
    if as_json:
        print_json(summary.to_json())
        return
    skipped = [name for name, fresh in (calibration.made_now or {}).items() if not fresh]
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
    print_notes(summary.notes)
    for item in summary.advice:
        console().print(f"- {item.finding}: {item.remedy}")
    console().print(f"camera: {out}; report: {folder / REPORT}")


def print_step(
    record: Record,
    notes: Iterable[str],
    files: dict[str, Path],
    show: Callable[[Record], None],
    *,
    fresh: bool,
    as_json: bool,
) -> None:
    """Print what a step found, as JSON or by `show`, where its files are, and whether an earlier run made them."""
    from plenodepth.calib.records import to_json

    if as_json:
        print_json({**to_json(record), **{name: str(path) for name, path in files.items()}, "up_to_date": not fresh})
        return
    show(record)
    print_notes(notes)
    places = "; ".join(f"{name}: {path}" for name, path in files.items())
    console().print(places if fresh else f"up to date; {places}")


def percent(part: float) -> str:
    """A share such as 0.00047 as 0.047 %."""
    return f"{100 * part:.3f} %"
