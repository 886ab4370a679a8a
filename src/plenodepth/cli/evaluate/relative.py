"""`plenodepth evaluate relative`: does depth follow a target that moves in known steps?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.cli.evaluate.options import FigureOption, require_figure, save, say_notes
from plenodepth.cli.shared.common import JsonOption, console, plain_table, print_json
from plenodepth.cli.shared.progress import row_progress
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.evaluate.frames.frame_depths import FrameDepth, FrameMatch

LEAST_FRAMES = 2


def relative(
    depths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DEPTHS…",
            help="Depth maps or clouds, one a frame; a folder of them (steps/03/depth.tiff); a table frame,depth "
            "(.csv); libpleno's poses or list of results (.js).",
            show_default=False,
        ),
    ],
    truth: Annotated[
        Path, typer.Option("--truth", help="Known places: lines `frame distance`, or manifest.json of a dataset.")
    ],
    figure: FigureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Relative depth error ε_z of the paper: errors of displacements between all pairs of frames.

    A frame's depth is the median of its map. Only displacements count, so the truth may have any zero; it grows away
    from the camera. The interval of the mean comes from frames drawn anew (bootstrap, 95 %).

    Example: [bold]plenodepth evaluate relative out/steps --truth distances.txt --figure relative.png[/bold]
    """
    from plenodepth.evaluate.frames.frame_depths import frame_depths, match_frames
    from plenodepth.evaluate.frames.relative import by_displacement, relative_depth_error
    from plenodepth.io.frame_tables import read_places

    require_figure(figure)
    places = read_places(truth)
    with row_progress("reading", quiet=as_json) as bar:
        found = frame_depths(depths, bar)
    match = match_frames(found, places)
    _require_frames(match, found, places, truth)
    result = relative_depth_error([row.depth for row in match.used], [places[row.frame] for row in match.used])
    by_length = by_displacement(result)
    content: dict[str, Any] = {
        "kind": "relative",
        "truth": str(truth),
        "mean_error": result.mean,
        "std_error": result.std,
        "interval": list(result.interval),
        "level": result.level,
        "displacements": [
            {"displacement_mm": row.displacement, "mean_error": row.mean, "std_error": row.std, "pairs": row.pairs}
            for row in by_length
        ],
        "frames": [
            {"frame": row.frame, "depth_mm": row.depth, "place_mm": places[row.frame], "source": row.source}
            for row in match.used
        ],
        "frames_without_truth": list(match.lost),
        "truths_without_frame": list(match.unseen),
        "frames_without_depth": list(match.empty),
        "notes": match.notes,
    }
    if figure is not None:
        from plenodepth.view.figures.depth import relative_error_figure

        save(relative_error_figure(result), figure, content)
    if as_json:
        print_json(content)
        return
    _print(content)


def _require_frames(match: FrameMatch, found: tuple[FrameDepth, ...], places: dict[int, float], truth: Path) -> None:
    """Refuse what makes no pair of frames."""
    from plenodepth.evaluate.frames.frame_depths import listed_frames

    if len(match.used) < LEAST_FRAMES:
        given = listed_frames([row.frame for row in found])
        message = f"names {listed_frames(sorted(places))}; of the frames given ({given}) "
        raise InputError(f"{message}{len(match.used)} are among them, needs 2", file=truth)
    if match.with_depth < LEAST_FRAMES:
        message = f"frames {listed_frames(match.empty)} have no depth, {match.with_depth} have, needs 2"
        raise InputError(message, field="depth", fix="missing depth is NaN or 0; are these the right maps?")


def _print(content: dict[str, Any]) -> None:
    table = plain_table("Relative depth error", "displacement [mm]", "mean ε_z", "± std", "pairs")
    for row in content["displacements"]:
        spread = "–" if row["std_error"] != row["std_error"] else f"{100 * row['std_error']:.2f} %"
        table.add_row(f"{row['displacement_mm']:g}", f"{100 * row['mean_error']:.2f} %", spread, str(row["pairs"]))
    console().print(table, "")
    low, high = content["interval"]
    interval = (
        "no interval of less than 4 frames"
        if low != low
        else f"{100 * content['level']:g} % interval {100 * low:.2f} … {100 * high:.2f} %"
    )
    frames = len(content["frames"]) - len(content["frames_without_depth"])
    console().print(f"mean ε_z {100 * content['mean_error']:.3f} % of {frames} frames; {interval}")
    if "figure" in content:
        console().print(f"figure: {content['figure']}")
    say_notes(content["notes"])
