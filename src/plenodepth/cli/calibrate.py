"""``plenodepth calibrate``: white images and boards in, a calibrated camera with uncertainties and a report out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from plenodepth.cli.calibration_files import named_progress, saved, say_notes, work_folder
from plenodepth.cli.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.option_groups import expand_groups
from plenodepth.cli.progress import row_progress
from plenodepth.cli.quantities import parameter_name, parse_board, parse_counts, parse_length, parse_priors
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.adjustment import AdjustSettings
    from plenodepth.calib.features import Centers, Features
    from plenodepth.calib.image_list import ListedImage
    from plenodepth.calib.initial_camera import Optics
    from plenodepth.calib.steps import AdjustStep, FeaturesStep, GridOptions, WhiteStep
    from plenodepth.calib.white_radii import WhiteRadii
    from plenodepth.camera import PlenopticCamera

REPORT, RESIDUALS, WHITE, CORNERS = "report.html", "residuals.png", "white.png", "features.png"
APERTURE_STOP = 0.15  # of a white image's f-number: nearer ones have the same aperture


class AllByDefault(TyperGroup):
    """Commands of which `all` is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `all` before options that belong to no command."""
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["all", *args]
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class OpticsOptions:
    """What is printed on the camera and its lens."""

    sensor: Annotated[str, typer.Option("--sensor", help="Pixel size, as in 5.5um.")]
    focal: Annotated[str, typer.Option("--focal", help="Focal length of the main lens, as in 50 (mm).")]
    aperture: Annotated[float, typer.Option("--aperture", help="f-number of the board images.")]
    focus: Annotated[str, typer.Option("--focus", help="Focus distance from the sensor, as in 450 (mm), or inf.")]
    types: Annotated[int, typer.Option("--types", help="Lens types; 0: pinholes (no blur).")] = 3
    configuration: Annotated[
        Literal["galilean", "keplerian", "unfocused"], typer.Option("--configuration", help="Of the micro-lenses.")
    ] = "galilean"
    lenses: Annotated[
        str | None, typer.Option("--lenses", metavar="KxL", help="Columns x rows of the array; default: found.")
    ] = None
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    black_level: Annotated[
        float, typer.Option("--black-level", help="What the sensor counts without light, as a part of full scale.")
    ] = 0.0

    def optics(self, example: Path) -> Optics:
        """The nominal optics of a camera that makes images like `example`."""
        from plenodepth.calib.initial_camera import Optics
        from plenodepth.camera.model import Configuration
        from plenodepth.io.images import read_image

        height, width = read_image(example).shape[:2]
        return Optics(
            focal_length=parse_length(self.focal, "--focal"),
            f_number=self.aperture,
            focus_distance=parse_length(self.focus, "--focus"),
            pixel_size=parse_length(self.sensor, "--sensor", unit="um"),
            width=width,
            height=height,
            configuration=Configuration(self.configuration),
            bayer=self.bayer,
            black_level=self.black_level,
        )

    def grid(self) -> GridOptions:
        """What is known of the array."""
        from plenodepth.calib.steps import GridOptions

        columns, rows = parse_counts(self.lenses, "--lenses")
        return GridOptions(columns, rows, type_count=self.types)


@dataclass(frozen=True)
class AdjustOptions:
    """What is adjusted."""

    aperture_aware: Annotated[
        bool | None,
        typer.Option(
            "--aperture-aware/--no-aperture-aware",
            help="Corners are where they appear through the aperture. Default: yes, but not for libpleno's features.",
        ),
    ] = None
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", help="Hold a parameter: F, f, pitch, tilt, distortion, …"),
    ] = None
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", help="NAME=VALUE±SIGMA (or +-), of F, D, d, …: F=50±0.2."),
    ] = None
    rho: Annotated[bool, typer.Option("--rho/--no-rho", help="Use the blur radii of the features.")] = True

    def settings(self, *, foreign: bool, types: int) -> AdjustSettings:
        """For features of libpleno (`foreign`) or ours, and a camera of so many lens types."""
        from plenodepth.calib.adjustment import AdjustSettings

        aware = self.aperture_aware if self.aperture_aware is not None else not foreign
        return AdjustSettings(
            aperture=aware and types > 0,
            hold=tuple(parameter_name(name) for name in self.hold or ()),
            priors=parse_priors(self.prior or []),
            use_rho=self.rho and types > 0,
        )


BoardOption = Annotated[
    str, typer.Option("--board", help="Inner corners and side of a square: 9x5:10mm.", show_default=False)
]
WorkOption = Annotated[
    Path | None, typer.Option("--work", help="Folder for results of steps; default: beside --out, OUT-calibration.")
]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Default: all cores.")]


@expand_groups
def everything(
    *,
    boards: Annotated[Path, typer.Option("--boards", help="Folder of checkerboard images.")],
    whites: Annotated[
        Path | None, typer.Option("--whites", help="Folder of white images, at several apertures.")
    ] = None,
    board: BoardOption,
    optics: OpticsOptions,
    adjusting: AdjustOptions,
    out: Annotated[Path, typer.Option("--out", help="Camera file to write (.yaml, .json).")],
    kappa: Annotated[bool, typer.Option("--kappa/--no-kappa", help="Find the blur coefficient too.")] = True,
    work: WorkOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate a camera: white images and boards in, camera with uncertainties, figures and a report out.

    Steps that are up to date are not done again. f-numbers and frames come from the files' names
    (white_f5.6.png, board_03.png) or from a manifest.yaml: a list of {file, f_number, frame}.

    Example: [bold]plenodepth calibrate --whites whites --boards boards --board 9x5:10mm --sensor 5.5um --focal 50
    --aperture 4 --focus 450 --out camera.yaml[/bold]
    """
    from plenodepth.calib.adjustment import free_parameters
    from plenodepth.calib.image_list import listed_images
    from plenodepth.calib.kappa_step import kappa_step
    from plenodepth.calib.steps import adjust_step, features_step, white_step

    kind, pictures = parse_board(board), listed_images(boards)
    white_images = [] if whites is None else listed_images(whites)
    folder = work_folder(work, out)
    with row_progress("calibration", quiet=as_json) as bar:
        progress = named_progress(bar)
        nominal = optics.optics(pictures[0].path)
        first = white_step(folder, nominal, white_images, pictures[0].path, optics.grid(), progress)
        white = _white_of(white_images, optics.aperture)
        settings = adjusting.settings(foreign=False, types=first.camera.type_count)
        _draw_white(folder, first)
        free_parameters(first.camera, settings)  # an error in them shows before the search for features
        second = features_step(folder, first.camera, pictures, white, kind, _threads(threads), progress)
        _draw_features(folder, second, pictures)
        result = adjust_step(folder, first.camera, second.features, first.centers, kind, settings, progress, out.stem)
        notes = [*first.record["notes"], *second.record["notes"], *_white_notes(white_images, white, optics.aperture)]
        inputs = list(dict.fromkeys([*first.record["images"], *second.record["images"]]))
        camera, steps = result.camera, [("white", first.fresh), ("features", second.fresh)]
        if kappa and camera.type_count:
            third = kappa_step(folder, camera, pictures, white, second.features, progress, threads=_threads(threads))
            camera, steps = third.camera, [*steps, ("kappa", third.fresh)]
            notes += third.record["notes"]
        result = replace(result, camera=camera)
        summary = _finish(folder, result, first.camera, kind, settings, notes, inputs, first.radii)
        if kappa and camera.type_count:
            summary["kappa"] = {name: third.record[name] for name in ("kappa", "standard_error", "pairs", "outliers")}
    saved(camera, out)
    _print(summary, out, folder, as_json, steps)


@expand_groups
def white(
    *,
    whites: Annotated[Path, typer.Option("--whites", help="Folder of white images, at several apertures.")],
    optics: OpticsOptions,
    out: Annotated[Path, typer.Option("--out", help="Folder for start.yaml, centers.csv and white.json.")],
    as_json: JsonOption = False,
) -> None:
    """Pre-calibrate: grid, centres, radii and the camera to start from, from white images.

    Example: [bold]plenodepth calibrate white --whites whites --sensor 5.5um --focal 50 --aperture 4 --focus 450
    --out work[/bold]
    """
    from plenodepth.calib.image_list import listed_images
    from plenodepth.calib.steps import white_step

    images = listed_images(whites)
    _make_folder(out)
    with row_progress("white images", quiet=as_json) as bar:
        step = white_step(out, optics.optics(images[0].path), images, None, optics.grid(), named_progress(bar))
        _draw_white(out, step)
    if as_json:
        print_json(step.record)
        return
    record = step.record
    console().print(
        f"{out}: {record['lenses'][0]} × {record['lenses'][1]} lenses, pitch {record['pitch_px'][0]:.4f} × "
        f"{record['pitch_px'][1]:.4f} px, {len(step.centers)} centres" + ("" if step.fresh else " (up to date)")
    )
    say_notes(record["notes"])


@expand_groups
def features(
    *,
    boards: Annotated[Path, typer.Option("--boards", help="Folder of checkerboard images.")],
    board: BoardOption,
    camera: Annotated[str, typer.Option("--camera", help="Camera, if only that of the white images (start.yaml).")],
    white_image: Annotated[
        Path | None, typer.Option("--white", help="White image at the aperture of the board images.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for features.csv and features.json.")],
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the board's corners in the micro-images of all frames, with their uncertainties and blur radii.

    Example: [bold]plenodepth calibrate features --boards boards --board 9x5:10mm --camera work/start.yaml
    --white whites/white_f4.png --out work[/bold]
    """
    from plenodepth.calib.image_list import listed_images
    from plenodepth.calib.steps import features_step
    from plenodepth.camera import load_plenoptic_camera

    kind, pictures, optics = parse_board(board), listed_images(boards), load_plenoptic_camera(camera)
    _make_folder(out)
    with row_progress("features", quiet=as_json) as bar:
        step = features_step(out, optics, pictures, white_image, kind, _threads(threads), named_progress(bar))
        _draw_features(out, step, pictures)
    if as_json:
        print_json(step.record)
        return
    table = plain_table("Features", "frame", "features")
    for frame, count in step.record["features"].items():
        table.add_row(frame, str(count))
    console().print(table)
    say_notes(step.record["notes"])


@expand_groups
def adjust(
    *,
    features_file: Annotated[
        Path, typer.Option("--features", help="Features: ours (.csv) or libpleno's (.csv, .bin.gz).")
    ],
    centers_file: Annotated[
        Path | None, typer.Option("--centers", help="Micro-image centres: ours (.csv) or libpleno's (.csv, .bin.gz).")
    ] = None,
    camera: Annotated[
        str,
        typer.Option("--camera", help="Camera to start from; libpleno's camera.js may hold bare numbers."),
    ],
    params: Annotated[Path | None, typer.Option("--params", help="libpleno's parameter file.")] = None,
    board: BoardOption,
    adjusting: AdjustOptions,
    every: Annotated[
        int | None, typer.Option("--hold-out", metavar="N", help="Leave out every Nth frame and test with it.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Camera file to write (.yaml, .json).")],
    work: WorkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Adjust a camera and the boards' poses to features and centres, with uncertainties.

    Example: [bold]plenodepth calibrate adjust --features bap.csv --centers centers.csv --camera camera.js
    --params params.js --board 9x5:10mm --out camera.yaml[/bold]
    """
    from plenodepth.calib.feature_files import is_foreign, read_centers, read_features
    from plenodepth.calib.steps import adjust_step

    kind, found = parse_board(board), read_features(features_file)
    centers = None if centers_file is None else read_centers(centers_file)
    start = _start(camera, params, centers)
    settings = adjusting.settings(foreign=is_foreign(features_file), types=start.type_count)
    folder = work_folder(work, out)
    used, held_out = _split(found, every)
    with row_progress("adjustment", quiet=as_json) as bar:
        result = adjust_step(folder, start, used, centers, kind, settings, named_progress(bar), out.stem)
        inputs = [str(path) for path in (features_file, centers_file) if path is not None]
        summary = _finish(folder, result, start, kind, settings, [], inputs)
        if held_out is not None:
            summary["hold_out"] = _tested(result, held_out, kind, settings)
    saved(result.camera, out)
    _print(summary, out, folder, as_json, [])


def _draw_white(folder: Path, step: WhiteStep) -> None:
    """The radii in white images as a figure, unless it is there already."""
    from plenodepth.view.coverage_figures import white_figure
    from plenodepth.view.save import save_figure

    radii = step.radii
    figure = None if radii is None or (not step.fresh and (folder / WHITE).is_file()) else white_figure(radii)
    if figure is not None:
        save_figure(figure, folder / WHITE)


def _draw_features(folder: Path, step: FeaturesStep, pictures: list[ListedImage]) -> None:
    """The corners over the board images as a figure, unless it is there already."""
    from plenodepth.io.images import read_image
    from plenodepth.view.feature_figure import MOST_PANELS, feature_figure, thumbnail
    from plenodepth.view.save import save_figure

    if not step.fresh and (folder / CORNERS).is_file():
        return
    images = {image.frame: thumbnail(read_image(image.path)) for image in pictures[:MOST_PANELS]}
    save_figure(feature_figure(images, step.features), folder / CORNERS)


def _start(camera: str, params: Path | None, centers: Centers | None) -> PlenopticCamera:
    """A calibrated camera to go on from, or the nominal one of libpleno's minimal files."""
    from plenodepth.calib.libpleno_start import initial_camera_from_libpleno
    from plenodepth.camera import load_plenoptic_camera
    from plenodepth.io.property_tree import read_tree

    if Path(camera).suffix.lower() == ".js" and not read_tree(camera).has("mla"):
        if centers is None:
            raise InputError("are needed with a camera file that has no lens array", field="--centers")
        return initial_camera_from_libpleno(camera, params, centers)
    return load_plenoptic_camera(camera, parameters=params)


def _split(found: Features, every: int | None) -> tuple[Features, Features | None]:
    import numpy as np

    if every is None:
        return found, None
    if every < 2:
        raise InputError(f"is {every}, needs 2 or more", field="--hold-out")
    out = np.isin(found.frame, found.frames[every - 1 :: every])
    return found.where(~out), found.where(out)


def _tested(result: AdjustStep, held_out: Features, board: Any, settings: AdjustSettings) -> dict[str, float]:
    """Residuals of frames that took no part, after finding their poses alone."""
    from plenodepth.calib.adjustment import adjust as adjusted
    from plenodepth.camera.parameters import intrinsic_names

    poses_only = replace(settings, hold=intrinsic_names(result.camera), priors={})
    tested = adjusted(result.adjustment.camera, held_out, None, board, poses_only)
    return {"frames": float(len(tested.estimate.poses)), "rmse_uv": tested.rmse_uv, "rmse_rho": tested.rmse_rho}


def _finish(
    folder: Path,
    result: AdjustStep,
    start: PlenopticCamera,
    board: Any,
    settings: AdjustSettings,
    notes: list[str],
    inputs: list[str],
    radii: WhiteRadii | None = None,
) -> dict[str, Any]:
    """Report and figure in the work folder, and the numbers."""
    from plenodepth.calib.fit_facts import fit_facts
    from plenodepth.view.calibration_figures import residual_figure
    from plenodepth.view.calibration_report import write_calibration_report
    from plenodepth.view.calibration_summary import CalibrationRun, input_file
    from plenodepth.view.save import save_figure

    run = CalibrationRun(
        adjustment=result.adjustment,
        settings=settings,
        board=board,
        known=result.known,
        start=start,
        inputs=[input_file(path) for path in inputs],
        notes=notes,
        white_radii=radii,
    )
    save_figure(residual_figure(fit_facts(result.adjustment)), folder / RESIDUALS)
    return write_calibration_report(run, folder / REPORT)


def _print(summary: dict[str, Any], out: Path, folder: Path, as_json: bool, steps: list[tuple[str, bool]]) -> None:
    if as_json:
        print_json(summary)
        return
    skipped = [name for name, fresh in steps if not fresh]
    if skipped:
        console().print(f"up to date: {', '.join(skipped)}")
    table = plain_table("Parameters", "name", "value", "σ")
    for name, row in summary["parameters"].items():
        sigma = row["sigma"]
        table.add_row(name, f"{row['value']:.7g}", "held" if sigma is None or sigma != sigma else f"{sigma:.2g}")
    for name, row in summary["derived"].items():
        sigma = row["sigma"]
        table.add_row(name, f"{row['value']:.7g} {row.get('unit') or ''}", "" if sigma is None else f"{sigma:.2g}")
    console().print(table)
    console().print(
        f"{summary['features']} features in {summary['frames']} frames, {summary['outliers']} outliers; RMSE: u, v "
        f"{summary['rmse_uv']:.3f} px, ρ {summary['rmse_rho']:.3f} px, centres {summary['rmse_centers']:.3f} px; "
        f"{summary['iterations']} iterations, {summary['cpu_seconds']:.1f} CPU-seconds"
        + ("" if summary["converged"] else "; NOT CONVERGED")
    )
    if "kappa" in summary:
        console().print(f"κ = {summary['kappa']['kappa']:.4f} ± {summary['kappa']['standard_error']:.4f}")
    if "hold_out" in summary:
        console().print(f"held-out frames, poses alone adjusted: u, v {summary['hold_out']['rmse_uv']:.3f} px")
    say_notes(summary["notes"])
    for item in summary["advice"]:
        console().print(f"- {item['finding']}: {item['remedy']}")
    console().print(f"camera: {out}; report: {folder / REPORT}")


def _white_of(images: list[ListedImage], aperture: float) -> Path | None:
    """The white image at the aperture of the board images."""
    known = [image for image in images if image.f_number is not None]
    same = [image for image in known if image.f_number and abs(image.f_number / aperture - 1) < APERTURE_STOP]
    if same:
        return min(same, key=lambda image: abs((image.f_number or 0) - aperture)).path
    return images[0].path if len(images) == 1 and not known else None


def _white_notes(images: list[ListedImage], chosen: Path | None, aperture: float) -> list[str]:
    if not images:
        return ["no white image: the grid comes from a board image, and images are devignetted by themselves"]
    if chosen is None:
        return [f"no white image at f/{aperture:g}: board images are devignetted by the model or by themselves"]
    return []


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=folder, fix="give a writable folder") from None


def _threads(given: int | None) -> int:
    import os

    if given is not None and given < 1:
        raise InputError(f"is {given}, needs 1 or more", field="--threads")
    return given or os.cpu_count() or 1
