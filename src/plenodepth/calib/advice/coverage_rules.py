"""Rules about what a calibration was made from: distances, tilts, places in the image, number of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from plenodepth.calib.advice.advice import MAY, MUST, SHOULD, Advice
from plenodepth.calib.advice.facts import FitFacts, FrameFacts
from plenodepth.camera.depth import VIRTUAL_RANGE
from plenodepth.camera.model import PlenopticCamera
from plenodepth.camera.summary import shown_depths
from plenodepth.errors import InputError

FEW_FRAMES = 6
ONE_DISTANCE = 1.25  # farthest over nearest board: below it F, D and the distances trade against each other
UNSEEN = 0.25  # of the usable range, on the scale of log z
SPARSE = 0.1  # of an even share of the features
LEAST_TILT = np.radians(10)
TILTED_FRAMES = 3
OTHER_AXIS = np.radians(5)  # least tilt across the direction in which the boards are tilted most


def frame_count(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Warn of too few frames."""
    if len(frames) < FEW_FRAMES:
        yield Advice(
            SHOULD,
            "frame_count",
            f"Only {len(frames)} view{'s' if len(frames) != 1 else ''} of a board: errors of single frames do not "
            "average out, and whether frames agree can hardly be told.",
            "Take 10 to 20 frames, near and far, tilted both ways, all over the image.",
        )


def impossible_boards(frames: Sequence[FrameFacts], camera: PlenopticCamera) -> Iterator[Advice]:
    """Warn of boards behind the camera or within the focal length: the adjustment went wrong."""
    wrong = [frame for frame in frames if frame.near <= camera.main_lens.focal_length]
    if wrong:
        yield Advice(
            MUST,
            "impossible_boards",
            f"The board of frame {wrong[0].frame}{' and others' if len(wrong) > 1 else ''} came out at "
            f"{wrong[0].distance:.0f} mm, where the main lens of {camera.main_lens.focal_length:.0f} mm cannot image "
            "it: the result is useless.",
            "Check the nominal focal length and focus distance that the calibration begins with, and the board's "
            "counts of corners; hold main_lens.focal_length.",
        )


def distances(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Warn of boards that all stand at one distance."""
    near, far = min(frame.near for frame in frames), max(frame.far for frame in frames)
    if near > 0 and far < ONE_DISTANCE * near:
        yield Advice(
            MUST,
            "distances",
            f"All boards stand between {near:.0f} and {far:.0f} mm: from one distance F, D and d are not observable "
            "one by one, and depths elsewhere are extrapolated.",
            "Add boards at half and at twice this distance, as far as the camera's range goes; or hold "
            "main_lens.focal_length.",
        )


def unseen_distances(frames: Sequence[FrameFacts], camera: PlenopticCamera) -> Iterator[Advice]:
    """Warn of parts of the usable range without any board, if the ratio of their ends is large."""
    try:
        usable = shown_depths(camera, 2)  # a range to infinity ends where people no longer expect depth
    except InputError:  # a calibration that went astray may leave no range at all; other rules speak of it
        return
    near, far = float(usable.min()), float(usable.max())
    spans = sorted((frame.near, frame.far) for frame in frames)
    reached = near
    for begin, end in [*spans, (far, far)]:
        low, high = max(reached, near), min(begin, far)
        if high > low and np.log(high / low) > UNSEEN * np.log(far / near):
            yield _unseen(low, high, nearest=low <= near, farthest=high >= far)
        reached = max(reached, end)


def _unseen(low: float, high: float, *, nearest: bool, farthest: bool) -> Advice:
    where, usable = f"between {low:.0f} and {high:.0f} mm", "amid the usable range"
    if farthest and not nearest:
        where, usable = f"beyond {low:.0f} mm", f"the usable range goes on to {high:.0f} mm"
    elif nearest and not farthest:
        where, usable = f"nearer than {high:.0f} mm", f"the usable range begins at {low:.0f} mm"
    return Advice(
        SHOULD,
        "unseen_distances",
        f"No board {where} ({usable}, that of virtual depths {VIRTUAL_RANGE[0]:g} to {VIRTUAL_RANGE[1]:g}): depths "
        "there are not backed by any data.",
        f"Add some boards {where}, or do not rely on depths there.",
    )


def thirds(facts: FitFacts) -> Iterator[Advice]:
    """Warn of a third of the image (left, right, top, bottom) without features."""
    cells = facts.cells(3, 3)
    total = max(int(cells.sum()), 1)
    sides = {"left": cells[:, 0], "right": cells[:, 2], "top": cells[0], "bottom": cells[2]}
    for name, part in sides.items():
        share = float(part.sum()) / total
        if share < SPARSE / 3:
            amount = "no corners" if not part.sum() else f"hardly any corners ({share:.1%} of all)"
            yield Advice(
                SHOULD,
                "thirds",
                f"The {name} third of the image has {amount}: distortion and the tilt of the lens array are guessed "
                "there.",
                f"Add boards that fill the {name} of the image.",
            )


def image_corners(facts: FitFacts) -> Iterator[Advice]:
    """Warn of image corners that no board reaches, where distortion is largest."""
    cells = facts.cells(5, 5)
    even = max(float(cells.sum()), 1) / cells.size
    sides = facts.cells(3, 3)
    names = {"top left": (0, 0), "top right": (0, -1), "bottom left": (-1, 0), "bottom right": (-1, -1)}
    # A corner of an empty third has been spoken of.
    empty = [
        name
        for name, (row, column) in names.items()
        if cells[row, column] < SPARSE * even
        and min(int(sides[row].sum()), int(sides[:, column].sum())) >= SPARSE / 3 * sides.sum()
    ]
    if empty:
        yield Advice(
            MAY,
            "image_corners",
            f"Hardly any board corners in the {_listed(empty)} corner{'s' if len(empty) > 1 else ''} of the image, "
            "where distortion is largest.",
            "Add frames in which the board reaches into them; near boards fill the image.",
        )


def tilts(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Warn of boards that all face the camera, or are all tilted about one axis."""
    tilted = [frame for frame in frames if frame.tilt >= LEAST_TILT]
    if len(tilted) < TILTED_FRAMES:
        largest = np.degrees(max(frame.tilt for frame in frames))
        yield Advice(
            SHOULD,
            "tilts",
            f"The boards are hardly tilted ({len(tilted)} of {len(frames)} by more than "
            f"{np.degrees(LEAST_TILT):.0f}°, at most {largest:.0f}°): boards that face the camera do not tell a long "
            "focal length far away from a short one near by.",
            "Tilt about half of the boards by 20° to 45°, to the left, right, up and down.",
        )
        return
    vectors = np.array([frame.tilt_xy for frame in tilted])
    _, _, axes = np.linalg.svd(vectors)
    across = float(np.abs(vectors @ axes[1]).max())
    if across < OTHER_AXIS:
        way = "left and right" if abs(axes[0, 0]) > abs(axes[0, 1]) else "up and down"
        other = "up and down" if way == "left and right" else "left and right"
        yield Advice(
            MAY,
            "tilts",
            f"All tilted boards are turned {way}, across it by {np.degrees(across):.0f}° at most.",
            f"Tilt some boards {other}, too.",
        )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
