"""``plenodepth calibrate``: white images and boards in, a calibrated camera with uncertainties and a report out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from plenodepth.cache import WorkFolder
from plenodepth.cli.calibrate.files import make_folder, named_progress, saved, say_notes, work_folder
from plenodepth.cli.calibrate.options import (
    AdjustOptions,
    BoardOption,
    OpticsOptions,
    ThreadsOption,
    WorkOption,
    threads_for,
)
from plenodepth.cli.calibrate.results import draw_features, draw_white, finished, print_summary
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.image_list import ListedImage

APERTURE_STOP = 0.15  # of a white image's f-number: nearer ones have the same aperture


class AllByDefault(TyperGroup):
    """Commands of which `all` is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `all` before options that belong to no command."""
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["all", *args]
        return super().parse_args(ctx, args)


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
    from plenodepth.calib.advice.summary import KappaSummary
    from plenodepth.calib.blur.step import kappa_step
    from plenodepth.calib.bundle.settings import free_parameters
    from plenodepth.calib.image_list import listed_images
    from plenodepth.calib.steps import adjust_step, features_step, white_step

    kind, pictures = parse_board(board), listed_images(boards)
    white_images = [] if whites is None else listed_images(whites)
    folder = work_folder(work, out)
    with row_progress("calibration", quiet=as_json) as bar:
        progress = named_progress(bar)
        nominal = optics.optics(pictures[0].path)
        first = white_step(WorkFolder(folder), nominal, white_images, pictures[0].path, optics.grid(), progress)
        white = _white_of(white_images, optics.aperture)
        settings = adjusting.settings(foreign=False, types=first.camera.type_count)
        draw_white(folder, first)
        free_parameters(first.camera, settings)  # an error in them shows before the search for features
        second = features_step(pictures, white, kind, first.camera, WorkFolder(folder), threads_for(threads), progress)
        draw_features(folder, second, pictures)
        result = adjust_step(
            second.features, first.centers, kind, first.camera, WorkFolder(folder), settings, progress, out.stem
        )
        notes = [*first.record["notes"], *second.record["notes"], *_white_notes(white_images, white, optics.aperture)]
        inputs = list(dict.fromkeys([*first.record["images"], *second.record["images"]]))
        camera, steps = result.camera, [("white", first.fresh), ("features", second.fresh)]
        third = None
        if kappa and camera.type_count > 1:  # κ compares the blur of lens types
            try:
                third = kappa_step(
                    pictures, white, second.features, camera, WorkFolder(folder), progress, threads=threads_for(threads)
                )
            except InputError as error:  # no reason to lose the camera
                notes.append(f"no blur coefficient κ: {error}")
            else:
                camera, steps = third.camera, [*steps, ("kappa", third.fresh)]
                notes += third.record["notes"]
        result = replace(result, camera=camera)
        names = ("kappa", "standard_error", "pairs", "outliers")
        found = None if third is None else KappaSummary(*(third.record[name] for name in names))
        summary = finished(folder, result, first.camera, kind, settings, notes, inputs, first.radii, found)
    saved(camera, out)
    print_summary(summary, out, folder, as_json, steps)


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
    make_folder(out)
    with row_progress("white images", quiet=as_json) as bar:
        step = white_step(
            WorkFolder(out), optics.optics(images[0].path), images, None, optics.grid(), named_progress(bar)
        )
        draw_white(out, step)
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
    make_folder(out)
    with row_progress("features", quiet=as_json) as bar:
        step = features_step(
            pictures, white_image, kind, optics, WorkFolder(out), threads_for(threads), named_progress(bar)
        )
        draw_features(out, step, pictures)
    if as_json:
        print_json(step.record)
        return
    table = plain_table("Features", "frame", "features")
    for frame, count in step.record["features"].items():
        table.add_row(frame, str(count))
    console().print(table)
    say_notes(step.record["notes"])


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
