"""The relative depth error of frames in files: does depth follow a target that moves in known steps?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plenodepth.errors import InputError
from plenodepth.evaluate.frames.depths import FrameDepth, FrameMatch, frame_depths, listed_frames, match_frames
from plenodepth.evaluate.frames.relative import (
    DisplacementError,
    RelativeDepthError,
    by_displacement,
    relative_depth_error,
)
from plenodepth.io.frame_tables import read_places
from plenodepth.progress import Progress, no_progress

LEAST_FRAMES = 2


@dataclass(frozen=True, eq=False)
class RelativeComparison:
    """Depths of frames against their true places."""

    truth: Path
    error: RelativeDepthError
    displacements: tuple[DisplacementError, ...]  # the same errors by the length of the displacement
    match: FrameMatch
    places: dict[int, float]  # frame → true place, mm

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "kind": "relative",
            "truth": str(self.truth),
            "mean_error": self.error.mean,
            "std_error": self.error.std,
            "interval": list(self.error.interval),
            "level": self.error.level,
            "displacements": [
                {"displacement_mm": row.displacement, "mean_error": row.mean, "std_error": row.std, "pairs": row.pairs}
                for row in self.displacements
            ],
            "frames": [
                {"frame": row.frame, "depth_mm": row.depth, "place_mm": self.places[row.frame], "source": row.source}
                for row in self.match.used
            ],
            "frames_without_truth": list(self.match.lost),
            "truths_without_frame": list(self.match.unseen),
            "frames_without_depth": list(self.match.empty),
            "notes": self.match.notes,
        }


def compare_frame_depths(
    depths: Sequence[Path | str], truth: Path | str, *, progress: Progress = no_progress
) -> RelativeComparison:
    """Relative depth error ε_z of frames in files, as `frame_depths` reads them.

    `truth` is a table of the frames' true places, mm, growing away from the camera, or a simulated dataset's
    manifest.json.
    """
    truth = Path(truth)
    places = read_places(truth)
    found = frame_depths([Path(path) for path in depths], progress)
    match = match_frames(found, places)
    _require_pairs(match, found, places, truth)
    error = relative_depth_error([row.depth for row in match.used], [places[row.frame] for row in match.used])
    return RelativeComparison(truth, error, by_displacement(error), match, places)


def _require_pairs(match: FrameMatch, found: tuple[FrameDepth, ...], places: dict[int, float], truth: Path) -> None:
    """Refuse frames that make no pair."""
    if len(match.used) < LEAST_FRAMES:
        given = listed_frames([row.frame for row in found])
        message = f"names {listed_frames(sorted(places))}; of the frames given ({given}) "
        raise InputError(f"{message}{len(match.used)} are among them, needs 2", file=truth)
    if match.with_depth < LEAST_FRAMES:
        message = f"frames {listed_frames(match.empty)} have no depth, {match.with_depth} have, needs 2"
        raise InputError(message, field="depth", fix="missing depth is NaN or 0; are these the right maps?")
