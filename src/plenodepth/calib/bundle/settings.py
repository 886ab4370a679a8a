"""What an adjustment adjusts: parameters that are free, held, or known beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.errors import InputError

ALWAYS_HELD = ("sensor.pixel_size",)  # it only scales the rest
ROUNDS = 12  # of weights and solution
# F, D and the boards' distances are hardly told apart, and what the model does not know of a real lens can move them by
# a tenth. So the nominal F is a prior, F is freed last, and stays free only if it ends near its nominal value.
FOCAL = "main_lens.focal_length"
FOCAL_SIGMA = 0.005  # of the nominal focal length: what it is known to
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
    return tuple(name for name in names if not any(_belongs(name, given) for given in held))


def _belongs(name: str, group: str) -> bool:
    """Whether a parameter is the one named, or one of the group named."""
    return name == group or name.startswith(f"{group}.")


def prior_factors(name: str, places: Mapping[str, int]) -> Array:
    """Factors (n,) of the parameters in the sum that a prior is about."""
    factors = np.zeros(len(places))
    for part, factor in DISTANCES.get(name, {name: 1.0}).items():
        factors[places[part]] = factor
    return factors
