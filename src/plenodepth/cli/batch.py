"""``plenodepth batch``: many frames, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plenodepth.cli.depth import DOUBTFUL, SettingsOptions, names_of
from plenodepth.cli.shared.batch_engines import EngineOptions
from plenodepth.cli.shared.batch_report import BatchReport
from plenodepth.cli.shared.common import parse_frames, parse_image_size
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.errors import InputError
from plenodepth.memory import keep_freed_memory

if TYPE_CHECKING:
    from plenodepth.batch import BatchFrame, Recipe
    from plenodepth.camera import GridCamera, PlenopticCamera
    from plenodepth.depth.device import Device

SOME_FAILED = 2
INTERRUPTED = 130


@expand_groups
def batch(
    *,
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT…",
            help="Raw images, folders of them, patterns in quotes ('shots/**/*.png'), videos, TIFFs of several pages.",
            show_default=False,
        ),
    ],
    raw: RawOptions,
    out: Annotated[Path, typer.Option("--out", help="Folder for the results, one folder in it for each frame.")],
    settings: SettingsOptions,
    outputs: Annotated[
        str | None,
        typer.Option("--outputs", metavar="NAME,…", help="What to write, as in plenodepth depth."),
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Also write NAME.html, as plenodepth depth does.")] = False,
    video: Annotated[
        Path | None,
        typer.Option("--video", metavar="FILE", help="Also a video of the dense view beside its depth (.mp4, .mkv)."),
    ] = None,
    rate: Annotated[float, typer.Option("--rate", min=0.1, help="Frames per second of that video.")] = 30.0,
    tree: Annotated[
        Path | None, typer.Option("--tree", help="Keep the folders below this one: TREE/day1/raw.png to OUT/day1/raw.")
    ] = None,
    retries: Annotated[
        int,
        typer.Option("--retries", min=0, help="How often a frame that failed is tried again, elsewhere if possible."),
    ] = 1,
    check: Annotated[
        Literal["times", "outputs", "all"],
        typer.Option(
            "--check",
            help="How an earlier run's results are looked at: sizes and times of files, the content of the results, or "
            "that of the images, too.",
        ),
    ] = "outputs",
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        typer.Option("--device", help="Where to search; auto: on the GPU, if there is one."),
    ] = "auto",
    engine: EngineOptions,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each frame.")] = False,
) -> None:
    """Estimate the depth of many frames. What is done already is not done again: run it again after any stop.

    Each frame has a folder of its own below OUT, which appears whole; OUT/manifest.jsonl has a line for each.

    Exit code 0: all is well; 2: some frames failed; 3: some maps are not to be trusted; the manifest says why.

    Example: [bold]plenodepth batch shots --camera r12-e --white white.png --out depth[/bold]
    """
    from plenodepth.batch import planned_frames, run_batch
    from plenodepth.batch.film import require_film, write_film

    keep_freed_memory()

    size = parse_image_size(raw.image_size)
    frames = planned_frames(inputs, out, frames=parse_frames(raw.frames), size=size, bits=raw.bits, tree=tree)
    recipe = replace(_recipe(frames, raw, settings, outputs, device), report=report)
    if video is not None:
        require_film(video, dense="dense" in recipe.outputs)
    if engine.slurm_script:
        print(engine.slurm_cluster().script(recipe), end="")
        return
    with (
        BatchReport(as_json=as_json) as told,
        compiling_notice(told.said, refined=recipe.settings.depth.refined),
    ):
        try:
            summary = run_batch(
                frames,
                recipe,
                out,
                engine=engine.chosen(),
                retries=retries,
                check=check,
                report=told,
            )
        except KeyboardInterrupt:
            told.stopped()
            raise typer.Exit(INTERRUPTED) from None
    if video is not None:
        write_film(summary.entries, out, video, rate=rate)
    told.ended(summary, out)
    if summary.failed:
        raise typer.Exit(SOME_FAILED)
    if summary.doubtful:
        raise typer.Exit(DOUBTFUL)


def _recipe(
    frames: Sequence[BatchFrame], raw: RawOptions, settings: SettingsOptions, outputs: str | None, device: Device
) -> Recipe:
    """What the options say about every frame."""
    from plenodepth.batch import Recipe
    from plenodepth.batch.camera_sign import with_sign
    from plenodepth.metric.result import require_outputs

    chosen = settings.chosen()
    camera, note = _camera(frames, raw)
    cleaning = raw.cleaning()
    white, dark = cleaning.pop("white"), cleaning.pop("dark")
    recipe = Recipe(
        camera,
        require_outputs(None if outputs is None else names_of(outputs), camera, dense=chosen.dense.enabled),
        chosen,
        white=tuple(dict.fromkeys(white or ())),
        dark=dark,
        cleaning=cleaning,
        camera_note=note,
        size=parse_image_size(raw.image_size),
        bits=raw.bits,
        device=device,
    )
    return with_sign(recipe, frames)


def _camera(frames: Sequence[BatchFrame], raw: RawOptions) -> tuple[PlenopticCamera | GridCamera, str]:
    """The camera of the options, which may look at the first image that can be read."""
    first_error: InputError | None = None
    for path in dict.fromkeys(frame.path for frame in frames):
        try:
            return raw.load_camera(path)
        except InputError as error:
            if error.file != str(path):  # nothing that another image would change
                raise
            first_error = first_error or error
    raise first_error or InputError("there is no frame", field="INPUT")
