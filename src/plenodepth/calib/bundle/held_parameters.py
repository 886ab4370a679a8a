"""What the images say of a parameter that was held: where it would go, and by how much the fit would gain.

One step of Gauss and Newton from the solution, without another adjustment (a score test): the cost's slope along the
parameter, once the free ones have given way, and its curvature. Frames scatter more than their residuals do, by φ
(`parameter_uncertainty`), so both are divided by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plenodepth.calib.bundle.parameter_uncertainty import information_of
from plenodepth.calib.bundle.problem import Estimate, Prior, Problem
from plenodepth.calib.bundle.settings import AdjustSettings, with_freed_parts
from plenodepth.camera.model import Array
from plenodepth.camera.parameters import intrinsic_names, intrinsic_values

OTHER_PUPIL = 3.0  # mm: depths change by half a percent at v = 14
SURE_GAIN = 25.0  # of χ², with one parameter more: worth a word to who holds it
# Of χ², likewise: worth an adjustment to see. A pupil is another one if it then lies so many of its σ from where it was
# held. That σ has what χ² does not: corners biased alike in all frames, lens types that disagree. A shift of all
# corners by 0.03 px can gain 34 and move e by 4 mm, where there is nothing; a true 15 mm may gain less than 25.
LIKELY_GAIN, SURE_SIGMAS = 9.0, 3.0


class HeldParameter(NamedTuple):
    """What freeing a parameter alone would do, to first order."""

    step: float  # from its present value
    sigma: float  # of the step, with the other free parameters adjusted
    gain: float  # twice the logarithm of the likelihood ratio: (step/sigma)²

    @property
    def another_pupil(self) -> bool:
        """Of the exit pupil's distance: whether the images clearly ask for another one, by their scatter alone."""
        return abs(self.step) >= OTHER_PUPIL and self.gain >= SURE_GAIN

    @property
    def perhaps_another_pupil(self) -> bool:
        """Whether it is worth an adjustment to see where another one would be."""
        return abs(self.step) >= OTHER_PUPIL and self.gain >= LIKELY_GAIN


def is_another_pupil(step: float, sigma: float) -> bool:
    """Whether a pupil that was adjusted, `step` ± `sigma` mm from where it was held, is another one."""
    return abs(step) >= max(OTHER_PUPIL, SURE_SIGMAS * sigma)


class HeldParameters(NamedTuple):
    """What freeing n parameters together would do, to first order."""

    step: Array  # (n,) from their present values
    sigma: Array  # (n,) of the steps, with the other free parameters and each other adjusted
    gain: float  # twice the logarithm of the likelihood ratio, from where the others have given way to their values
    rest: float  # and what giving way gains: 0, but where a parameter of its own unties others, as A unties F


def held_parameter(problem: Problem, estimate: Estimate, name: str, scatter_factor: float = 1.0) -> HeldParameter:
    """What the observations of a solved problem say of a parameter that it holds, of those that may be freed.

    An `InputError` where nothing observed depends on it.
    """
    found = held_parameters(problem, estimate, (name,), scatter_factor)
    return HeldParameter(float(found.step[0]), float(found.sigma[0]), found.gain)


def held_parameters(
    problem: Problem, estimate: Estimate, held: tuple[str, ...], scatter_factor: float = 1.0
) -> HeldParameters:
    """The same of several parameters that would be freed together."""
    wanted = AdjustSettings(aperture=problem.aperture, free=held)
    camera = with_freed_parts(estimate.camera, wanted, centers=problem.centers is not None)
    before, names = intrinsic_names(estimate.camera), intrinsic_names(camera)
    places = [names.index(before[place]) for place in problem.free]
    now, own = intrinsic_values(camera), [names.index(name) for name in held]
    parts = information_of(problem, Estimate(camera, estimate.poses))
    matrix = sum((part.matrix for part in parts), np.zeros((len(names),) * 2))
    pull = sum((part.pull for part in parts), np.zeros(len(names)))
    for prior in problem.priors:
        factors = with_more_parameters(prior, before, names).factors
        matrix += np.outer(factors, factors) / prior.sigma**2
        pull += factors * (factors @ now - prior.value) / prior.sigma**2
    # Parameters have units of very different size.
    scale = np.sqrt(np.maximum(np.diag(matrix)[places], 1e-300))
    free = matrix[np.ix_(places, places)] / np.outer(scale, scale)
    shared = matrix[np.ix_(places, own)] / scale[:, None]
    given_way = np.linalg.lstsq(free, shared, rcond=1e-14)[0]
    curvature = matrix[np.ix_(own, own)] - given_way.T @ shared
    slope = pull[own] - given_way.T @ (pull[places] / scale)
    inverse, own_pull = np.linalg.inv(curvature), pull[places] / scale
    return HeldParameters(
        step=-inverse @ slope,
        sigma=np.sqrt(scatter_factor * np.diag(inverse)),
        gain=float(slope @ inverse @ slope) / scatter_factor,
        rest=float(own_pull @ np.linalg.lstsq(free, own_pull, rcond=1e-14)[0]) / scatter_factor,
    )


def with_more_parameters(prior: Prior, before: tuple[str, ...], names: tuple[str, ...]) -> Prior:
    """A prior about the parameters `before` as one about `names`, which are those and some more."""
    factors = np.zeros(len(names))
    factors[[names.index(name) for name in before]] = prior.factors
    return prior._replace(factors=factors)
