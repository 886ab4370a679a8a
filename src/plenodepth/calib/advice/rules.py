"""What is weak about a calibration, and what to do about it.

Each rule (`coverage_rules`, `fit_rules`) looks at one thing and gives nothing, or a finding in words with a remedy.
"""

from __future__ import annotations

from plenodepth.calib.advice.advice import Advice
from plenodepth.calib.advice.coverage_rules import (
    distances,
    frame_count,
    image_corners,
    impossible_boards,
    thirds,
    tilts,
    unseen_distances,
)
from plenodepth.calib.advice.facts import FitFacts, radial_profiles
from plenodepth.calib.advice.fit_rules import (
    bad_frames,
    blur_radii,
    board_size,
    centers,
    convergence,
    correlations,
    depth_precision,
    exit_pupil,
    focal_length,
    lens_types,
    outliers,
    scatter,
)
from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.model import PlenopticCamera

__all__ = ["Advice", "advise"]


def advise(
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
        *impossible_boards(facts.frames, camera),
        *distances(facts.frames),
        *unseen_distances(facts.frames, camera),
        *thirds(facts),
        *image_corners(facts),
        *tilts(facts.frames),
        *frame_count(facts.frames),
        *bad_frames(facts.frames),
        *outliers(facts),
        *lens_types(radial_profiles(facts), facts.reach, aperture=aperture),
        *blur_radii(facts),
        *centers(adjustment),
    ]
    if nominal is not None:
        found += focal_length(camera, nominal, known)
    if radii is not None:
        found += board_size(camera, radii, nominal, aperture=aperture)
    if known is not None:
        found += exit_pupil(adjustment, known)
        found += correlations(known)
        found += scatter(known)
        found += depth_precision(camera, known, facts)
    return sorted(found, key=lambda item: -item.importance)
