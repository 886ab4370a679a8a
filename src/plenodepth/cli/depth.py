"""``plenodepth depth``: raw images in, virtual and metric depth out."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plenodepth.cli.shared.common import JsonOption, print_json
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import row_progress
from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.errors import InputError, PlenodepthError
from plenodepth.io import require_writable
from plenodepth.io.atomic import filled_folder
from plenodepth.io.claims import claimed_each
from plenodepth.memory import keep_freed_memory
from plenodepth.threads import limited_threads, thread_count
from plenodepth.timing import STARTED

if TYPE_CHECKING:  # Numba's import takes a second; `--help` should not
    from plenodepth.depth.settings_file import SettingsFile
    from plenodepth.metric.result import DepthResult, DepthSummary

DOUBTFUL = 3  # exit code: a map that is not to be trusted
COLUMNS = 80  # of a narrow terminal; paths are not broken
OPTION_OF = {"near": "--min-z", "far": "--max-z", "least_confidence": "--least-confidence"}


@dataclass(frozen=True)
class SettingsOptions:
    """Settings from a file and, winning over it, from options; None is an option that was not typed."""

    settings: Annotated[
        Path | None, typer.Option("--settings", help="Settings file (.yaml), or NAME.json of an earlier frame.")
    ] = None
    refined: Annotated[
        bool | None,
        typer.Option("--refined/--coarse", help="One depth per pixel, or (default) one per micro-image."),
    ] = None
    dense: Annotated[
        bool | None,
        typer.Option(
            "--dense/--no-dense",
            help="Also make the dense central view: what a pinhole in place of the main lens sees, all in focus, with "
            "a depth for every pixel.",
        ),
    ] = None
    blur: Annotated[
        bool | None,
        typer.Option("--blur/--no-blur", help="Compare equally blurred views (default), or disparity only."),
    ] = None
    aperture_model: Annotated[
        Literal["auto", "off", "slope", "per_pixel"] | None,
        typer.Option(
            "--aperture-model",
            help="How the aperture's effect on depth is undone, by the camera's f-number; auto (default): per_pixel "
            "where that is known and the image's, else off.",
        ),
    ] = None
    min_z: Annotated[float | None, typer.Option("--min-z", help="Nearest depth to keep, mm.")] = None
    max_z: Annotated[float | None, typer.Option("--max-z", help="Farthest depth to keep, mm.")] = None
    consistent: Annotated[
        bool | None,
        typer.Option("--consistent/--no-consistent", help="Keep only what neighbouring views agree on."),
    ] = None
    least_confidence: Annotated[
        float | None, typer.Option("--least-confidence", help="Drop estimates below it; 0 keeps all.")
    ] = None

    def chosen(self) -> SettingsFile:
        """All settings of the run."""
        from plenodepth.depth.settings_file import SettingsFile, load_settings

        chosen = SettingsFile() if self.settings is None else load_settings(self.settings)
        depth = _typed(refined=self.refined, blur=self.blur, aperture_model=self.aperture_model)
        filters = _typed(
            near=self.min_z,
            far=self.max_z,
            consistency=self.consistent,
            confidence=None if self.least_confidence is None else self.least_confidence > 0,
            least_confidence=self.least_confidence,
        )
        try:
            dense = replace(chosen.dense, **_typed(enabled=self.dense))
            return SettingsFile(replace(chosen.depth, **depth), replace(chosen.filters, **filters), dense)
        except InputError as error:  # the file alone was fine
            name = (error.field or "").split(".")[-1]
            raise InputError(error.message, field=OPTION_OF.get(name, error.field), fix=error.fix) from None


@expand_groups
def depth(
    *,
    images: Annotated[
        list[Path],
        typer.Argument(
            metavar="IMAGE…", help="Raw images of any format, videos, or TIFFs of several pages.", show_default=False
        ),
    ],
    raw: RawOptions,
    out: Annotated[Path, typer.Option("--out", help="Folder for the results; made if it is not there.")],
    settings: SettingsOptions,
    outputs: Annotated[
        str | None,
        typer.Option(
            "--outputs",
            metavar="NAME,…",
            help="What to write: depth, sigma, confidence, virtual, cloud, central, picture, dense. Default: all but "
            "virtual; for a vendor's grid virtual, confidence, picture. NAME.json is always written.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also write NAME.html, a page that shows the frame and says what to do better; with --dense its "
            "picture is all in focus.",
        ),
    ] = False,
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        typer.Option("--device", help="Where to search; auto: on the GPU, if there is one."),
    ] = "auto",
    threads: Annotated[int | None, typer.Option("--threads", help="Default: all cores.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate depth: maps (TIFF), point cloud (PLY), picture and figures of each image.

    Exit code 0: all is well; 2: something could not be read or estimated; 3: a map is not to be trusted, and why.

    Example: [bold]plenodepth depth raw.png --camera r12-e --white white.png --out depth[/bold]
    """
    from plenodepth.raw.reading import read_ahead

    keep_freed_memory()
    used_threads = thread_count(threads)
    if raw.camera is not None and not raw.align and not raw.is_sequence(images[0]):
        with limited_threads(used_threads):
            read_ahead(images[0], raw.white or [])  # while Numba is imported
    from plenodepth.depth.device import chosen_device
    from plenodepth.metric.frame import estimate_depth
    from plenodepth.metric.result import require_outputs

    chosen = settings.chosen()
    camera, camera_note = raw.load_camera(images[0])
    wanted = require_outputs(None if outputs is None else names_of(outputs), camera, dense=chosen.dense.enabled)
    used_device = chosen_device(device, chosen.depth)
    _require_own_names(images, [*(raw.white or []), *([raw.dark] if raw.dark else [])], out)
    require_writable(out)
    summaries: list[DepthSummary] = []
    with (
        filled_folder(out),
        claimed_each(out / path.stem for path in images),
        row_progress("", quiet=as_json) as progress,
        compiling_notice(progress.note, refined=chosen.depth.refined),
        limited_threads(used_threads),
    ):
        counts = [raw.count_frames(path) for path in images]
        total = None if None in counts else sum(count or 0 for count in counts)
        failed = 0
        for path in images:
            try:
                for image in raw.load_images(path, camera, last=path is images[-1]):
                    progress.frame(len(summaries) + failed, total, image.name)
                    notes = (camera_note,) if camera_note else ()
                    found = estimate_depth(
                        replace(image, notes=(*notes, *image.notes)),
                        camera,
                        chosen.depth,
                        chosen.filters,
                        chosen.dense,
                        device=used_device,
                        threads=used_threads,
                        progress=progress,
                    )
                    camera = found.camera  # the sign of a grid's virtual depth is looked for once
                    found.save(out, wanted)
                    if report:
                        _write_report(found, out)
                    summaries.append(found.summary)
            except PlenodepthError as error:
                # The other files still finish; the exit code tells.
                failed += 1
                print(f"plenodepth: {error}", file=sys.stderr)
    if as_json:
        print_json({"frames": [summary.content() for summary in summaries], "failed": failed})
    else:
        for summary in summaries:
            print(_report(summary, out, "html" if report else "json"))
        if summaries:
            print(f"{_frames(len(summaries))} in all: {_since_start()}")
    doubtful = [summary for summary in summaries if summary.quality.doubtful]
    for summary in doubtful:
        print(f"plenodepth: {summary.image}: do not trust this map: {summary.quality.problem}", file=sys.stderr)
    if failed:
        raise typer.Exit(2)
    if doubtful:
        raise typer.Exit(DOUBTFUL)


def _require_own_names(images: Sequence[Path], whites: Sequence[Path], out: Path) -> None:
    """Refuse images whose results would replace each other, or the images themselves."""
    inputs = {path.resolve() for path in (*images, *whites)}
    first_of: dict[str, Path] = {}
    for path in images:
        twin = first_of.setdefault(path.stem, path)
        if twin is not path:
            raise InputError(f"its results would replace those of {twin}", file=path, fix="give each its own --out")
        picture = out / f"{path.stem}.png"
        if picture.resolve() in inputs:
            raise InputError("would be replaced by the picture of its depth", file=picture, fix="give another --out")


def _write_report(found: DepthResult, out: Path) -> None:
    from plenodepth.view.reports import write_depth_report

    with limited_threads(found.summary.threads):
        write_depth_report(found, out / f"{found.name}.html")


def names_of(text: str) -> list[Any]:
    """The names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _frames(count: int) -> str:
    return "1 frame" if count == 1 else f"{count} frames"


def _since_start() -> str:
    """What the program has taken so far, its start included."""
    return f"{time.perf_counter() - STARTED:.1f} s, {time.process_time():.1f} CPU-seconds, start-up included"


def _typed(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _dense_line(dense: dict[str, float]) -> str:
    there, filled = 100 * dense["valid_fraction"], 100 * dense["filled_fraction"]
    return f"dense view: {there:.0f} % with depth ({filled:.0f} % filled), confidence {dense['median_confidence']:.2f}"


def _report(summary: DepthSummary, out: Path, page: str) -> str:
    """What a frame gave, how, what the user should know, and what it took: lines that fit a terminal."""
    found = f"{100 * summary.valid_fraction:.0f} % with depth"
    if summary.median_z_mm is not None:
        found += f", median {summary.median_z_mm:.0f} mm"
    elif summary.median_virtual_depth is not None:
        found += f", median virtual depth {summary.median_virtual_depth:.2f}"
    if summary.median_confidence is not None:
        found += f", median confidence {summary.median_confidence:.2f}"
    total = summary.clock.total
    stages = ", ".join(f"{name} {taken.cpu:.1f}" for name, taken in summary.clock.stages.items() if taken.cpu >= 0.05)
    below = [
        f"devignetted by {summary.devignetting}, aperture model {summary.aperture_model}"
        + (", searched on the GPU" if summary.device == "cuda" else ""),
        *([f"note: {summary.note}"] if summary.note else []),
        *([_dense_line(summary.dense)] if summary.dense else []),
        f"{total.wall:.1f} s, {total.cpu:.1f} CPU-seconds: {stages}",
    ]
    lines = [textwrap.fill(line, COLUMNS, initial_indent="  ", subsequent_indent="    ") for line in below]
    return "\n".join([f"{summary.image}: {found}; see {out}/{summary.image}.{page}", *lines])
