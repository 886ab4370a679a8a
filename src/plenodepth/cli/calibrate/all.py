"""``plenodepth calibrate``: white images and boards in, a calibrated camera with uncertainties and a report out."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from plenodepth.cli.calibrate.options import (
    AdjustOptions,
    BoardOption,
    FreshOption,
    OpticsOptions,
    ThreadsOption,
    WorkOption,
    work_folder,
)
from plenodepth.cli.calibrate.output import draw_step, print_calibration, write_report
from plenodepth.cli.shared.common import JsonOption
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.cli.shared.quantities import parse_board
from plenodepth.threads import thread_count

OPTIONS_BOX = "Options without a COMMAND: all steps"


class AllByDefault(TyperGroup):
    """Commands of which `all` is meant where none is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `all` before options that belong to no command."""
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["all", *args]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help of the group with the options of `all`, which it takes, in a box of their own."""
        shown = copy(self)
        shown.params = [*self.params, *map(_in_own_box, self.commands["all"].params)]
        super(AllByDefault, shown).format_help(ctx, formatter)


def _in_own_box(parameter: Any) -> Any:
    boxed = copy(parameter)
    boxed.rich_help_panel = OPTIONS_BOX
    return boxed


@expand_groups
def all_steps(
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
    fresh: FreshOption = False,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate a camera: white images and boards in, camera with uncertainties, figures and a report out.

    Steps that are up to date are not done again. f-numbers and frames come from the files' names
    (white_f5.6.png, board_03.png) or from a manifest.yaml: a list of {file, f_number, frame}.

    Example: [bold]plenodepth calibrate --whites whites --boards boards --board 9x5:10mm --sensor 5.5um --focal 50
    --aperture 4 --focus 450 --out camera.yaml[/bold]
    """
    from plenodepth.calib.image_list import ImageReader, listed_images
    from plenodepth.calib.pipeline import calibrate
    from plenodepth.camera import save_camera

    kind, pictures, read = parse_board(board), listed_images(boards), ImageReader()
    white_images = None if whites is None else listed_images(whites)
    with work_folder(work, out) as folder, row_progress("calibration", quiet=as_json) as bar:
        result = calibrate(
            pictures,
            kind,
            optics.optics(read(pictures[0].path)),
            whites=white_images,
            work=folder,
            grid=optics.grid(),
            settings=adjusting.settings(foreign=False),
            kappa=kappa,
            fresh=fresh,
            threads=thread_count(threads),
            name=out.stem,
            progress=step_progress(bar),
            on_step=lambda step: draw_step(step, pictures, folder, read),
            read=read,
        )
        write_report(result, folder)
    save_camera(replace(result.camera, name=out.stem), out)
    print_calibration(result, out, folder, as_json=as_json)
