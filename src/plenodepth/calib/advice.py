"""What is weak about a calibration, and what to do about it.

Each rule looks at one thing and gives nothing, or a finding in words with a remedy; `advice` sorts them by importance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from plenodepth.calib.adjustment import Adjustment
from plenodepth.calib.fit_facts import FitFacts, FrameFacts, Profile, radial_profiles
from plenodepth.calib.uncertainty import Uncertainty, depth_uncertainty
from plenodepth.calib.white_radii import WhiteRadii
from plenodepth.camera.depth import VIRTUAL_RANGE, metric_from_virtual, usable_virtual_range
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, PlenopticCamera

MUST, SHOULD, MAY = 3, 2, 1

FEW_FRAMES = 6
ONE_DISTANCE = 1.25  # farthest over nearest board: below it F, D and the distances trade against each other
UNSEEN = 0.25  # of the usable range in 1/v, the scale of disparities
SPARSE = 0.1  # of an even share of the features
LEAST_TILT = np.radians(10)
TILTED_FRAMES = 3
OTHER_AXIS = np.radians(5)  # least tilt across the direction in which the boards are tilted most
WORSE = 2.5  # times the other frames' RMSE
MANY_OUTLIERS = 0.05
FRAME_OUTLIERS = 0.2
DISAGREEING = 0.1  # px at the rim of the micro-image
SURE = 4.0  # standard errors
STRONG = 0.999  # correlation
SCATTERING = 4.0  # φ: twice the standard deviation
COARSE = 0.01  # σ_z/z
OFF_NOMINAL = 0.03  # of F
OTHER_SIZE = 0.08  # of d/D, between boards and white images
BIASED_BLUR = 0.3  # px
BAD_CENTERS = 0.5  # px


@dataclass(frozen=True)
class Advice:
    """A weak spot. `importance`: 3 the result may be wrong, 2 it could be much better, 1 good to know."""

    importance: int
    rule: str
    finding: str
    remedy: str


def advice(
    facts: FitFacts,
    adjustment: Adjustment,
    *,
    aperture: bool,
    known: Uncertainty | None = None,
    nominal: PlenopticCamera | None = None,
    radii: WhiteRadii | None = None,
) -> list[Advice]:
    """All that the rules find, the most important first. `nominal` is the camera that the calibration began with."""
    camera = adjustment.camera
    found = [
        *convergence(adjustment.converged),
        *distances(facts.frames),
        *unseen_distances(facts, camera),
        *thirds(facts),
        *image_corners(facts),
        *tilts(facts.frames),
        *frame_count(facts.frames),
        *bad_frames(facts.frames),
        *outliers(facts),
        *lens_types(radial_profiles(facts), facts.micro_radius, aperture=aperture),
        *blur_radii(facts),
        *centers(adjustment),
    ]
    if nominal is not None:
        found += focal_length(camera, nominal, known)
    if radii is not None:
        found += board_size(camera, radii, aperture=aperture)
    if known is not None:
        found += correlations(known)
        found += scatter(known)
        found += depth_precision(camera, known, facts)
    return sorted(found, key=lambda item: -item.importance)


def convergence(converged: bool) -> Iterator[Advice]:
    """The solver stopped before it was done."""
    if not converged:
        yield Advice(
            MUST,
            "convergence",
            "The adjustment did not converge: its last step still changed the result.",
            "Start from a better camera (white images at several f-numbers), hold main_lens.focal_length at its "
            "nominal value, or leave out the frames that fit worst.",
        )


def frame_count(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Few images."""
    if len(frames) < FEW_FRAMES:
        yield Advice(
            SHOULD,
            "frame_count",
            f"Only {len(frames)} view{'s' if len(frames) != 1 else ''} of a board: errors of single frames do not "
            "average out, and whether frames agree can hardly be told.",
            "Take 10 to 20 frames, near and far, tilted both ways, all over the image.",
        )


def distances(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Boards that all stand at one distance."""
    near, far = min(frame.near for frame in frames), max(frame.far for frame in frames)
    if far / near < ONE_DISTANCE:
        yield Advice(
            MUST,
            "distances",
            f"All boards stand between {near:.0f} and {far:.0f} mm: from one distance F, D and d are not observable "
            "one by one, and depths elsewhere are extrapolated.",
            "Add boards at half and at twice this distance, as far as the camera's range goes; or hold "
            "main_lens.focal_length.",
        )


def unseen_distances(facts: FitFacts, camera: PlenopticCamera) -> Iterator[Advice]:
    """Parts of the usable range without any board, judged in 1/v, which disparities are proportional to."""
    far_end, near_end = usable_virtual_range(camera, VIRTUAL_RANGE)
    ends = np.sort([1 / far_end, 1 / near_end])
    spans = virtual_spans(facts)
    if not len(spans):
        return
    covered = [(ends[0], ends[0]), *spans.tolist(), (ends[1], ends[1])]
    reached = -np.inf
    for (_, before), (after, _) in pairwise(covered):
        reached = max(reached, before)
        gap = np.clip([reached, after], *ends)
        if gap[1] - gap[0] > UNSEEN * (ends[1] - ends[0]):
            low, high = np.sort(metric_from_virtual(camera, 1 / gap, invalid="nan")).tolist()
            yield _unseen(facts, low, high)


def virtual_spans(facts: FitFacts) -> Array:
    """(m, 2): 1/v that each frame's board spans, ascending by their beginnings."""
    ends = [0, *np.cumsum([frame.features for frame in facts.frames])]
    parts = [1 / facts.virtual_depth[first:last] for first, last in pairwise(ends)]
    parts = [part[np.isfinite(part)] for part in parts]
    spans = np.array([(part.min(), part.max()) for part in parts if len(part)]).reshape(-1, 2)
    return np.asarray(spans[np.argsort(spans[:, 0])])


def _unseen(facts: FitFacts, low: float, high: float) -> Advice:
    nearest, farthest = float(facts.depth.min()), float(facts.depth.max())
    if low >= farthest - 1:
        where, why = f"beyond {low:.0f} mm", "where depth is hardest"
    elif high <= nearest + 1:
        where, why = f"nearer than {high:.0f} mm", "where the micro-images are blurred most"
    else:
        where, why = f"between {low:.0f} and {high:.0f} mm", "in the midst of the range"
    return Advice(
        SHOULD,
        "unseen_distances",
        f"No board {where}, {why}; the camera could be used there (virtual depths {VIRTUAL_RANGE[0]:g} to "
        f"{VIRTUAL_RANGE[1]:g}), but depths are extrapolated.",
        f"Add some boards {where}, or do not rely on depths there.",
    )


def thirds(facts: FitFacts) -> Iterator[Advice]:
    """A side of the image without features."""
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
    """Corners of the image that no board reached, where distortion is largest."""
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
    """Boards that face the camera, or are all tilted about one axis."""
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


def bad_frames(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Frames that fit far worse than the others, or of which much was thrown away."""
    if len(frames) < 3:
        return
    for frame in frames:
        typical = float(np.median([other.rmse_uv for other in frames if other is not frame]))
        ratio = frame.rmse_uv / max(typical, 1e-9)
        share = frame.outliers / max(frame.features, 1)
        if ratio > WORSE or share > FRAME_OUTLIERS:
            worse = f"fits {ratio:.1f} times worse than the others ({frame.rmse_uv:.2f} against {typical:.2f} px)"
            lost = f"has {share:.0%} outliers"
            yield Advice(
                SHOULD,
                "bad_frames",
                f"Frame {frame.frame} {worse if ratio > WORSE else lost}.",
                "Look at its image: motion blur, a reflection, corners numbered from another origin, a moved focus "
                "or a bent board. Leave it out if it cannot be mended.",
            )


def outliers(facts: FitFacts) -> Iterator[Advice]:
    """Many features that were thrown away."""
    share = float(np.mean(~facts.counts)) if len(facts.counts) else 0.0
    if share > MANY_OUTLIERS:
        yield Advice(
            SHOULD,
            "outliers",
            f"{share:.0%} of the features are outliers.",
            "Check the board's counts of corners and the light: wrong corners, reflections and motion make outliers.",
        )


def lens_types(profiles: Sequence[Profile], micro_radius: float, *, aperture: bool) -> Iterator[Advice]:
    """Residuals that grow away from the micro-images' centres, differently by lens type: the aperture's effect."""
    typed = [profile for profile in profiles if profile.lens_type >= 0]
    if len(typed) < 2:
        return
    low, high = min(typed, key=lambda item: item.slope), max(typed, key=lambda item: item.slope)
    difference = high.slope - low.slope
    sure = difference > SURE * float(np.hypot(high.slope_error, low.slope_error))
    at_rim = difference * micro_radius
    if not sure or at_rim < DISAGREEING:
        return
    finding = (
        f"Lens types disagree: away from the micro-image's centre residuals of type {low.lens_type} and "
        f"{high.lens_type} drift apart, by {at_rim:.2f} px at the rim."
    )
    if not aperture:
        yield Advice(
            MUST,
            "lens_types",
            f"{finding} That is what an aperture does which clips the cones of light, and F, D, d have absorbed the "
            "part of it that the types have in common: depths are off in proportion.",
            "Calibrate aperture-aware, with the f-number that the frames were taken at.",
        )
    else:
        yield Advice(
            SHOULD,
            "lens_types",
            f"{finding} The aperture has been taken into account, but not all of it is explained.",
            "Check the f-number; give white images at several f-numbers, so that the exit pupil can be placed.",
        )


def blur_radii(facts: FitFacts) -> Iterator[Advice]:
    """Blur radii of a lens type that are off on average."""
    for kind in np.unique(facts.lens_type[facts.lens_type >= 0]).tolist():
        values = facts.residual[facts.counts & (facts.lens_type == kind), 2]
        values = values[np.isfinite(values)]
        if len(values) and abs(middle := float(np.median(values))) > BIASED_BLUR:
            yield Advice(
                MAY,
                "blur_radii",
                f"Blur radii of lens type {kind} are predicted {abs(middle):.2f} px too {_size(middle)} in the median: "
                "where the corners appear and how blurred they are do not go together.",
                "Check the pattern of lens types and the white images; or leave the blur radii out of the adjustment.",
            )


def _size(value: float) -> str:
    return "large" if value > 0 else "small"


def centers(adjustment: Adjustment) -> Iterator[Advice]:
    """No centres of micro-images, or centres that do not fit."""
    if not len(adjustment.fit.center_residuals):
        yield Advice(
            SHOULD,
            "centers",
            "No micro-image centres took part: pitch and tilt of the lens array come from the board corners alone.",
            "Take white images (a diffuser before the lens) with the same focus and give them.",
        )
    elif adjustment.rmse_centers > BAD_CENTERS:
        yield Advice(
            SHOULD,
            "centers",
            f"The micro-image centres are {adjustment.rmse_centers:.2f} px off the calibrated lens array.",
            "Check that white images and frames belong to one camera and focus, and that the grid's lens counts are "
            "right.",
        )


def focal_length(camera: PlenopticCamera, nominal: PlenopticCamera, known: Uncertainty | None) -> Iterator[Advice]:
    """A focal length that is not the one printed on the lens."""
    found, printed = camera.main_lens.focal_length, nominal.main_lens.focal_length
    sigma = dict(zip(known.names, known.sigma, strict=True)).get("main_lens.focal_length", 0.0) if known else 0.0
    off = found / printed - 1
    if abs(off) < OFF_NOMINAL:
        return
    unsure = f"its σ is {sigma:.2f} mm" if sigma > abs(found - printed) / SURE else f"{off:+.0%}"
    yield Advice(
        SHOULD,
        "focal_length",
        f"F came out at {found:.2f} mm, the nominal one is {printed:.2f} mm ({unsure}). F, D and all distances grow "
        "together with little change of the residuals, so an error of the model or of the board ends up here.",
        "Check the squares' size with a ruler. If it is right, hold main_lens.focal_length at its nominal value or "
        "give it a prior.",
    )


def board_size(camera: PlenopticCamera, radii: WhiteRadii, *, aperture: bool) -> Iterator[Advice]:
    """Squares of another size than stated.

    The board is the only known length before the lens: stated s times too large, distances come out s times too
    large, and so that the thin lens still images them where the micro-images see them, d/D comes out s times too
    small; residuals hardly change. White images tell d/D without any board: their radii grow with 1/N by F d/(2 D).
    """
    if not np.isfinite(radii.slope):
        return
    slope = radii.slope * camera.sensor.pixel_size
    from_white = 2 * slope / camera.main_lens.focal_length
    main, sensor = lens_distances(camera)
    ratio = from_white / float(sensor / main)
    if abs(ratio - 1) < OTHER_SIZE:
        return
    also = "" if aperture else " An aperture that was not taken into account can do the same: calibrate aperture-aware."
    yield Advice(
        SHOULD,
        "board_size",
        f"Boards and white images disagree about d/D: {float(sensor / main):.5f} from the boards, {from_white:.5f} "
        "from the white images' radii. The board's squares may be of another size than stated, by a factor of about "
        f"{1 / ratio:.2f}; then all distances are wrong by as much.",
        f"Measure over many squares with a ruler; check the f-numbers of the white images, too.{also}",
    )


def correlations(known: Uncertainty) -> Iterator[Advice]:
    """Parameters that can hardly be told apart, but those that must go together by construction."""
    pairs = [pair for pair in known.correlated() if abs(pair[2]) >= STRONG and not _bound(pair[0], pair[1])]
    for first, second, value in pairs[:2]:
        radial = first.startswith("distortion.Q") and second.startswith("distortion.Q")
        remedy = (
            "Hold distortion.Q3 (or more) at 0, or let boards reach into the image's corners."
            if radial
            else "Hold one of them, give a prior, or add boards that are nearer, farther and tilted more."
        )
        yield Advice(
            MAY if radial else SHOULD,
            "correlations",
            f"{first} and {second} are correlated by {value:.5f}: only a combination of both is known.",
            remedy,
        )


def _bound(first: str, second: str) -> bool:
    """Whether lens array and sensor move together, or the two pitches."""
    same_axis = first[-2:] == second[-2:]
    places = {first[:-2], second[:-2]}
    return (same_axis and places == {"micro_lenses.translation", "sensor.position"}) or places == {"micro_lenses.pitch"}


def scatter(known: Uncertainty) -> Iterator[Advice]:
    """Frames that contradict each other."""
    if known.scatter_factor > SCATTERING:
        yield Advice(
            MAY,
            "scatter",
            f"The frames pull the parameters apart {np.sqrt(known.scatter_factor):.1f} times as much as their noise "
            "explains; the standard deviations stated have been widened by it.",
            "See that the board is flat and that neither focus nor aperture was touched between the frames; "
            "otherwise the model misses something (see the residual maps).",
        )


def depth_precision(camera: PlenopticCamera, known: Uncertainty, facts: FitFacts) -> Iterator[Advice]:
    """Depths that the calibration leaves uncertain."""
    if not known.names:
        return
    ends = np.array([np.nanmin(facts.virtual_depth), np.nanmax(facts.virtual_depth)])
    depth, sigma = depth_uncertainty(camera, known, ends)
    share = sigma / depth
    if np.nanmax(share) > COARSE:
        worst = int(np.nanargmax(share))
        yield Advice(
            SHOULD,
            "depth_precision",
            f"At {depth[worst]:.0f} mm the calibration leaves depth uncertain by {sigma[worst]:.1f} mm "
            f"({share[worst]:.1%}), whatever the images are like.",
            "Add frames at the ends of the range; hold what is known (F) or give a prior; fit the depth scale to "
            "known distances.",
        )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
