"""Which optics of the main lens the images ask for: a thin lens, a pupil elsewhere, a pupil of its own diameter.

Models are compared by −2 log of their likelihoods: weighted squares of all residuals and priors, with one set of
weights, that of the simplest model, and over φ, by which frames scatter more than their residuals do. A parameter more
that means nothing lowers it by 1 in the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.calib.bundle.held_parameters import (
    LIKELY_GAIN,
    OTHER_PUPIL,
    SURE_GAIN,
    SURE_SIGMAS,
    HeldParameter,
    held_parameters,
    is_another_pupil,
    with_more_parameters,
)
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty
from plenodepth.calib.bundle.problem import objective
from plenodepth.camera.parameters import PUPIL_DIAMETER, PUPIL_DISTANCE, intrinsic_names

HELD = "pupil held"
DISTANCE = "exit pupil's distance e"
DIAMETER = "exit pupil's distance and diameter"


@dataclass(frozen=True)
class OpticsModel:
    """A model of the main lens beside the simplest one."""

    name: str
    parameters: int  # more than the simplest has
    change: float  # of −2 log likelihood from the simplest; negative where it fits better
    adjusted: bool  # by an adjustment of its own; False: by one step from the solution of the model before
    found: str  # what its parameters are, in words
    chosen: bool = False


@dataclass(frozen=True)
class OpticsChoice:
    """Models of the main lens, the simplest first, and why one was chosen."""

    models: tuple[OpticsModel, ...]
    reason: str

    @property
    def freed(self) -> bool:
        """Whether a model was chosen that frees the exit pupil."""
        return not self.models[0].chosen


def compare_optics(
    held: Adjustment,
    known: Uncertainty,
    asked: HeldParameter,
    freed: tuple[Adjustment, Uncertainty] | None,
    *,
    find_pupil: bool,
) -> OpticsChoice:
    """What freeing the exit pupil does to the fit of a solution that holds it.

    `asked` is what `held` says of the pupil's distance; `freed` is the solution with it, where it was adjusted. It is
    chosen if it converged and confirms what was asked.
    """
    lens, phi = held.camera.main_lens, known.scatter_factor
    moved, sigma = (asked.step, asked.sigma) if freed is None else _moved(lens.pupil_distance, *freed)
    chosen = freed is not None and freed[0].converged and is_another_pupil(moved, sigma)
    simplest = f"e = {lens.pupil_distance:g} mm" if lens.exit_pupil else "e = 0: a thin lens"
    models = [OpticsModel(HELD, 0, 0.0, True, simplest, not chosen)]
    if freed is None:
        found = f"e ≈ {lens.pupil_distance + asked.step:.1f} ± {asked.sigma:.1f} mm"
        models.append(OpticsModel(DISTANCE, 1, -asked.gain, False, found))
    else:
        found = f"e = {freed[0].camera.main_lens.pupil_distance:.1f} ± {sigma:.1f} mm"
        models.append(OpticsModel(DISTANCE, 1, _change(held, freed[0]) / phi, True, found, chosen))
    more = None
    if held.problem.aperture and not (lens.exit_pupil and lens.exit_pupil.diameter is not None):
        base, its = freed or (held, known)
        names = (PUPIL_DISTANCE, PUPIL_DIAMETER) if freed is None else (PUPIL_DIAMETER,)
        both = held_parameters(base.problem, base.estimate, names, its.scatter_factor)
        more = both.gain + both.rest - (asked.gain if freed is None else 0.0)
        wide = base.camera.main_lens.aperture_diameter or 0.0
        found = f"pupil ≈ {wide + both.step[-1]:.2f} ± {both.sigma[-1]:.2f} mm wide"
        models.append(OpticsModel(DIAMETER, 2, models[1].change - more, False, found))
    converged = freed is None or freed[0].converged
    return OpticsChoice(
        tuple(models), _reason(models, asked, (moved, sigma), more, converged=converged, find_pupil=find_pupil)
    )


def _moved(before: float, freed: Adjustment, known: Uncertainty) -> tuple[float, float]:
    """By how much freeing moved the pupil's distance, and the σ of that, mm."""
    sigma = dict(zip(known.names, known.sigma, strict=True))[PUPIL_DISTANCE]
    return freed.camera.main_lens.pupil_distance - before, float(sigma)


def _change(held: Adjustment, freed: Adjustment) -> float:
    """Of the weighted squares, from a solution to one with more parameters, by the weights of the first."""
    before, names = intrinsic_names(held.camera), intrinsic_names(freed.camera)
    priors = [with_more_parameters(prior, before, names) for prior in held.problem.priors]
    return objective(replace(held.problem, priors=priors), freed.estimate) - objective(held.problem, held.estimate)


def _reason(
    models: list[OpticsModel],
    asked: HeldParameter,
    moved: tuple[float, float],
    more: float | None,
    *,
    converged: bool,
    find_pupil: bool,
) -> str:
    """Why a model was chosen, in a sentence or two. `moved`: what freeing e did, and its σ."""
    gain = f"freeing e gains {asked.gain:.1f} and moves it by {asked.step:+.1f} mm, to first order"
    if models[1].adjusted:
        gain += f", and by {moved[0]:+.1f} ± {moved[1]:.1f} mm when adjusted; {SURE_SIGMAS:g} σ are asked for"
    else:
        gain += f"; {LIKELY_GAIN:g} and {OTHER_PUPIL:g} mm are asked for"
    if models[1].chosen:
        reason = f"The exit pupil was freed: {gain}."
    elif not converged:
        reason = f"The exit pupil is held, since the adjustment did not converge with it freed: {gain}."
    elif asked.perhaps_another_pupil and not find_pupil:
        reason = f"The exit pupil is held as asked, though the images may ask for another: {gain}."
    else:
        reason = f"The simplest model does as well: {gain}."
    if more is None:
        return reason
    if more < SURE_GAIN:
        return f"{reason} A diameter of its own gains {more:.1f} beside it: (F − e)/N does as well."
    return f"{reason} A diameter of its own would gain {more:.1f} beside it: try --free e --free pupil_diameter."
