"""What an adjustment adjusts: parameters that are free, held, or known beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from plenodepth.camera.model import Array, ExitPupil, PlenopticCamera
from plenodepth.camera.parameters import (
    CLEAR_APERTURE,
    PUPIL,
    PUPIL_DIAMETER,
    PUPIL_DISTANCE,
    PUPIL_OFFSET,
    intrinsic_names,
)
from plenodepth.errors import InputError

ALWAYS_HELD = ("sensor.pixel_size",)  # it only scales the rest
ROUNDS = 12  # of weights and solution
# F, D and the boards' distances are hardly told apart, and what the model does not know of a real lens can move them by
# a tenth. So the nominal F is a prior, F is freed last, and stays free only if it ends near its nominal value.
FOCAL = "main_lens.focal_length"
FOCAL_SIGMA = 0.025  # of the nominal focal length: what that of a photographic lens is known to
# mm: how well the exit pupil is centred. Boards hardly tell the axis, so that an offset without a prior runs away.
OFFSET_SIGMA = 0.5
# Where white centres spread from and how wide lenses are is held unless freed: F and e explain the same residuals.
HELD_UNLESS_FREED = (PUPIL, CLEAR_APERTURE)
# Distances of the optics that priors may be about, as sums of parameters: D and d, of an array that hardly tilts.
DISTANCES = {
    "D": {"micro_lenses.translation.z": -1.0},
    "d": {"micro_lenses.translation.z": 1.0, "sensor.position.z": -1.0},
}


@dataclass(frozen=True)
class AdjustSettings:
    """Which parameters are adjusted, and by what."""

    aperture: bool = False  # corners appear where the main lens' aperture puts them (`calib.bundle.chief_rays`)
    hold: tuple[str, ...] = ()  # intrinsic parameters, or groups of them
    free: tuple[str, ...] = ()  # of those that are held unless they are freed: the exit pupil's, the clear aperture
    find_pupil: bool = True  # a calibration frees the exit pupil's distance where the white centres clearly ask for it
    priors: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # name: value, standard deviation
    use_rho: bool = True
    rounds: int = ROUNDS


def free_parameters(camera: PlenopticCamera, settings: AdjustSettings) -> tuple[str, ...]:
    """The names of the intrinsic parameters that are adjusted."""
    names = intrinsic_names(camera)
    for given in settings.hold:
        if not any(_belongs(name, given) for name in names):
            raise InputError(f"is no parameter (there are: {', '.join(names)})", field=f"hold {given}")
    for given, (value, sigma) in settings.priors.items():
        if given not in (*names, *DISTANCES):
            raise InputError(f"is no parameter (there are: D, d, {', '.join(names)})", field=f"prior {given}")
        if not (np.isfinite(value) and np.isfinite(sigma) and sigma > 0):
            raise InputError(f"is {value:g} ± {sigma:g}", field=f"prior {given}", fix="give a standard deviation > 0")
    blur_matters = settings.use_rho or settings.aperture
    held = (*settings.hold, *ALWAYS_HELD, *(() if blur_matters else ("micro_lenses.focal_lengths",)))
    return tuple(
        name
        for name in names
        if not any(_belongs(name, given) for given in held)
        and (not is_optional(name) or any(_belongs(name, given) for given in settings.free))
    )


def is_optional(name: str) -> bool:
    """Whether a parameter is held unless it is freed."""
    return any(_belongs(name, group) for group in HELD_UNLESS_FREED)


def with_freed_parts(camera: PlenopticCamera, settings: AdjustSettings, *, centers: bool) -> PlenopticCamera:
    """The camera with the parts whose parameters are freed; it begins with a thin main lens and lenses that touch.

    An `InputError` where nothing observed depends on one of them.
    """
    lens, lenses = camera.main_lens, camera.micro_lenses
    for given in settings.free:
        if not any(_belongs(given, group) for group in HELD_UNLESS_FREED):
            choices = ", ".join((PUPIL, PUPIL_DISTANCE, PUPIL_DIAMETER, f"{PUPIL}.offset", CLEAR_APERTURE))
            raise InputError(f"is not held anyhow (there are: {choices})", field=f"free {given}")
        diameter_only = _belongs(PUPIL_DIAMETER, given) and not settings.aperture
        if diameter_only or (_belongs(given, PUPIL) and not (centers or settings.aperture)):
            needed = "an adjustment that is aperture-aware" if diameter_only else "micro-image centres"
            raise InputError(f"is told by {needed} alone", field=f"free {given}", fix="do so, or leave it held")
        if given == CLEAR_APERTURE and not (settings.use_rho or settings.aperture):
            raise InputError("is told by blur radii or the aperture alone", field=f"free {given}", fix="leave it held")
    pupil, clear = lens.exit_pupil, lenses.clear_aperture
    if any(_belongs(given, PUPIL) for given in settings.free):
        pupil = pupil or ExitPupil()
        if pupil.diameter is None and any(_belongs(PUPIL_DIAMETER, given) for given in settings.free):
            pupil = replace(pupil, diameter=lens.aperture_diameter)
    if CLEAR_APERTURE in settings.free:
        clear = clear or 1.0
    return replace(
        camera, main_lens=replace(lens, exit_pupil=pupil), micro_lenses=replace(lenses, clear_aperture=clear)
    )


def _belongs(name: str, group: str) -> bool:
    """Whether a parameter is the one named, or one of the group named."""
    return name == group or name.startswith(f"{group}.")


def usual_priors(camera: PlenopticCamera) -> dict[str, tuple[float, float]]:
    """What is known of any camera before the images: value and standard deviation of F and of the pupil's offset."""
    focal, pupil = camera.main_lens.focal_length, camera.main_lens.exit_pupil or ExitPupil()
    offsets = {name: (value, OFFSET_SIGMA) for name, value in zip(PUPIL_OFFSET, pupil.offset, strict=True)}
    return {FOCAL: (focal, FOCAL_SIGMA * focal), **offsets}


def prior_factors(name: str, places: Mapping[str, int]) -> Array:
    """Factors (n,) of the parameters in the sum that a prior is about."""
    factors = np.zeros(len(places))
    for part, factor in DISTANCES.get(name, {name: 1.0}).items():
        factors[places[part]] = factor
    return factors
