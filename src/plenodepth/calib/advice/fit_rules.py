"""Rules about how well a calibration fits and how sure it is: residuals, lens types, correlations, scales."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from plenodepth.calib.advice.advice import MAY, MUST, SHOULD, Advice
from plenodepth.calib.advice.facts import FitFacts, FrameFacts, Profile
from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.calib.bundle.held_parameters import held_parameter
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty, depth_uncertainty
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.aperture.clipping import aperture_diameter
from plenodepth.camera.micro_lenses import lens_distances, to_pupil
from plenodepth.camera.model import PlenopticCamera
from plenodepth.camera.parameters import PUPIL_DISTANCE

WORSE = 2.5  # times the other frames' RMSE
MANY_OUTLIERS = 0.05
FRAME_OUTLIERS = 0.2
DISAGREEING = 0.1  # px, where the outermost features lie in the micro-image
SURE = 4.0  # standard errors
STRONG = 0.999  # correlation
SCATTERING = 4.0  # φ: twice the standard deviation
COARSE = 0.01  # σ_z/z
OFF_NOMINAL = 0.03  # of F
OTHER_SIZE = 0.08  # of d/D, between boards and white images
BIASED_BLUR = 0.3  # px
BAD_CENTERS = 0.5  # px


def convergence(converged: bool) -> Iterator[Advice]:
    """Warn of a solver that stopped before it converged."""
    if not converged:
        yield Advice(
            MUST,
            "convergence",
            "The adjustment did not converge: its last step still changed the result.",
            "Start from a better camera (white images at several f-numbers), hold main_lens.focal_length at its "
            "nominal value, or leave out the frames that fit worst.",
        )


def bad_frames(frames: Sequence[FrameFacts]) -> Iterator[Advice]:
    """Warn of frames that fit far worse than the others, or have many outliers."""
    if len(frames) < 3:
        return
    for frame in frames:
        others = [other for other in frames if other is not frame]
        typical = float(np.median([other.rmse_uv for other in others]))
        usual = float(np.median([other.outliers / max(other.features, 1) for other in others]))
        ratio = frame.rmse_uv / max(typical, 1e-9)
        share = frame.outliers / max(frame.features, 1)
        if ratio > WORSE or share > max(FRAME_OUTLIERS, WORSE * usual):
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
    """Warn of a large share of outliers."""
    share = float(np.mean(~facts.counts)) if len(facts.counts) else 0.0
    if share > MANY_OUTLIERS:
        yield Advice(
            SHOULD,
            "outliers",
            f"{share:.0%} of the features are outliers.",
            "Check the board's counts of corners and the light: wrong corners, reflections and motion make outliers.",
        )


def lens_types(profiles: Sequence[Profile], reach: float, *, aperture: bool) -> Iterator[Advice]:
    """Warn of residuals that grow outwards in micro-images, differently by lens type: the aperture's effect."""
    typed = [profile for profile in profiles if profile.lens_type >= 0]
    if len(typed) < 2:
        return
    low, high = min(typed, key=lambda item: item.slope), max(typed, key=lambda item: item.slope)
    difference = high.slope - low.slope
    sure = difference > SURE * float(np.hypot(high.slope_error, low.slope_error))
    apart = difference * reach
    if not sure or apart < DISAGREEING:
        return
    finding = (
        f"Lens types disagree: away from the micro-image's centre residuals of type {low.lens_type} and "
        f"{high.lens_type} drift apart, by {apart:.2f} px at {reach:.0f} px from it."
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
            "Check the f-number; free the exit pupil (`--free e --free pupil_diameter`).",
        )


def blur_radii(facts: FitFacts) -> Iterator[Advice]:
    """Warn of a lens type whose blur radii are biased."""
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
    """Warn of missing micro-image centres, or of centres that do not fit."""
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
    """Warn of a focal length that differs from the one printed on the lens."""
    found, printed = camera.main_lens.focal_length, nominal.main_lens.focal_length
    sigma = dict(zip(known.names, known.sigma, strict=True)).get("main_lens.focal_length", 0.0) if known else 0.0
    off = found / printed - 1
    if abs(off) < OFF_NOMINAL:
        return
    unsure = f"{off:+.0%}, its σ is {sigma:.2g} mm" if sigma else f"{off:+.0%}"
    yield Advice(
        SHOULD,
        "focal_length",
        f"F came out at {found:.2f} mm, the nominal one is {printed:.2f} mm ({unsure}). F, D and all distances grow "
        "together with little change of the residuals, so an error of the model or of the board ends up here.",
        "Check the squares' size with a ruler. If it is right, hold main_lens.focal_length at its nominal value or "
        "give it a prior.",
    )


def exit_pupil(adjustment: Adjustment, known: Uncertainty) -> Iterator[Advice]:
    """White centres that spread as from another exit pupil than the camera has."""
    if not len(adjustment.fit.center_residuals) or PUPIL_DISTANCE in known.names or not known.names:
        return
    found = held_parameter(adjustment.problem, adjustment.estimate, PUPIL_DISTANCE, known.scatter_factor)
    if not found.another_pupil:
        return
    place = adjustment.camera.main_lens.pupil_distance + found.step
    yield Advice(
        SHOULD,
        "exit_pupil",
        f"White centres spread as from an exit pupil about {place:.0f} mm behind the thin main lens (χ² less by "
        f"{found.gain:.0f} with one parameter more). Baselines between lenses follow from them.",
        "Free it (`--free e`, with the aperture also `--free pupil_diameter`), and compare F, d and the RMSE.",
    )


def board_size(
    camera: PlenopticCamera, radii: WhiteRadii, nominal: PlenopticCamera | None, *, aperture: bool
) -> Iterator[Advice]:
    """Squares of another size than stated.

    The board is the only known length before the lens: stated s times too large, distances come out s times too
    large, and so that the thin lens still images them where the micro-images see them, d/D comes out s times too
    small; residuals do not change. White images tell d/D without any board: their radii grow with 1/N by F d/(2 D). Of
    a main lens with an exit pupil of its own they tell d/P, by the pupil's diameter at N = 1.
    """
    if not np.isfinite(radii.slope):
        return
    # F may have gone astray together with the board; the nominal one is better known.
    focal = (nominal or camera).main_lens.focal_length
    distances, pupil = lens_distances(camera), camera.main_lens.exit_pupil
    own = pupil is not None and pupil.diameter is not None
    wide = aperture_diameter(camera, 1.0) if own else focal - camera.main_lens.pupil_distance
    from_white = 2 * radii.slope * camera.sensor.pixel_size / wide
    from_boards = float(distances.to_sensor / to_pupil(camera, distances))
    ratio = from_white / from_boards
    if abs(ratio - 1) < OTHER_SIZE:
        return
    astray = abs(camera.main_lens.focal_length / focal - 1) > OFF_NOMINAL
    remedies = [
        "Hold main_lens.focal_length at its nominal value and calibrate again." if astray else "",
        "Measure over many squares with a ruler; check the f-numbers of the white images, too.",
        "" if aperture else "An aperture that was not taken into account can do the same: calibrate aperture-aware.",
    ]
    yield Advice(
        SHOULD,
        "board_size",
        f"Boards and white images disagree about d/D: {from_boards:.5f} from the boards, {from_white:.5f} "
        "from the white images' radii. The board's squares may be of another size than stated, by a factor of about "
        f"{1 / ratio:.2f}; then all distances are wrong by as much, and the residuals do not show it.",
        " ".join(filter(None, remedies)),
    )


def correlations(known: Uncertainty) -> Iterator[Advice]:
    """Warn of strongly correlated parameters, except those that are correlated by construction."""
    told = set()
    for first, second, value in known.correlated():
        pair = frozenset((_family(first), _family(second)))
        if abs(value) < STRONG or len(pair) < 2 or pair in told:
            continue
        told.add(pair)
        radial = all(name.startswith("distortion.Q") for name in (first, second))
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


def _family(name: str) -> str:
    """One name for what must move together: the places of lens array and sensor, and the two pitches."""
    part, _, last = name.rpartition(".")
    if part in ("micro_lenses.translation", "sensor.position"):
        return f"place.{last}"
    return part if part == "micro_lenses.pitch" else name


def scatter(known: Uncertainty) -> Iterator[Advice]:
    """Warn of frames that contradict each other."""
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
    """Warn of depths that the calibration leaves uncertain."""
    if not known.names or not np.isfinite(facts.virtual_depth).any():
        return
    ends = np.array([np.nanmin(facts.virtual_depth), np.nanmax(facts.virtual_depth)])
    depth, sigma = depth_uncertainty(ends, camera, known)
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
