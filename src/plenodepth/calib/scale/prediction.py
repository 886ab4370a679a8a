"""The depth scale that a camera's optics predict, over its range of distances, and the Γ that would undo it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.calib.scale.fit import DepthScaleFit, fit_depth_scale
from plenodepth.calib.scale.matching_bias import Matching, Method, predicted_virtual_depth
from plenodepth.camera import (
    Camera,
    GridCamera,
    PlenopticCamera,
    metric_from_virtual,
    usable_depth_range,
    virtual_from_metric,
)
from plenodepth.camera.aperture.clipping import aperture_diameter
from plenodepth.camera.model import Array
from plenodepth.errors import InputError

VIRTUAL_RANGE = (2.5, 15.0)  # of |v|: what is matched well; 500 to 1900 mm for an R12-E
FARTHEST = 40  # focal lengths, for cameras that see to infinity,
LEAST_SPAN = 2  # or so many times the near end, if that is farther
ROWS = 16  # at most
LEADS = (1, 2, 2.5, 5, 10)  # of round steps
F_NUMBERS = (1.4, 2.8, 4.0, 5.6, 8.0)  # common ones


@dataclass(frozen=True, eq=False)
class ScalePrediction:
    """True depths and those that an estimation without correction finds, (n,) each, mm."""

    f_number: float
    depth: Array
    uncorrected: Array  # NaN where the depth found would lie beyond infinity
    gamma: DepthScaleFit | None  # the quadratic Γ with Γ(uncorrected) ≈ depth; None where none grows all along

    @property
    def relative_error(self) -> Array:
        """(n,): uncorrected/true − 1."""
        return np.asarray(self.uncorrected / self.depth - 1)

    def content(self) -> dict[str, Any]:
        """The prediction as `--json` prints it."""
        return {
            "f_number": self.f_number,
            "depth": self.depth.tolist(),
            "uncorrected": self.uncorrected.tolist(),
            "depth_scale": None if self.gamma is None else self.gamma.coefficients.tolist(),
            "depth_scale_rmse": None if self.gamma is None else self.gamma.rmse,
        }


def predict_scale(
    camera: PlenopticCamera,
    f_number: float | None = None,
    depths: ArrayLike | None = None,
    *,
    matching: Matching | None = None,
    method: Method = "matching",
) -> ScalePrediction:
    """The depths that are found at `depths` (n,) mm, by default round ones over the camera's range, at an f-number.

    A Γ of the camera plays no part. A few tenths of a second per depth, or none with `method="slope"`.
    """
    plain = replace(camera, depth_scale=None)
    number = camera.main_lens.f_number if f_number is None else f_number
    aperture_diameter(plain, number)  # an InputError where it is unknown or impossible
    assert number is not None
    true = round_depths(plain) if depths is None else np.atleast_1d(np.asarray(depths, dtype=np.float64))
    v = predicted_virtual_depth(virtual_from_metric(true, plain), plain, number, matching=matching, method=method)
    found = metric_from_virtual(v, plain, invalid="nan")
    return ScalePrediction(float(number), true, found, _gamma(found, true))


def predict_scale_at_apertures(
    camera: Camera, f_number: float | None = None, *, margin: float | None = None
) -> tuple[float, list[ScalePrediction]]:
    """The f-number (by default the camera's), and predictions at that and at the common ones, in growing order.

    `margin`: px off the micro-images' radius that the matcher leaves out.
    """
    if isinstance(camera, GridCamera):
        raise InputError("a grid without optics has no aperture to predict from")
    number = camera.main_lens.f_number if f_number is None else f_number
    aperture_diameter(camera, number)  # an InputError where it is unknown or impossible
    assert number is not None
    depths, matching = round_depths(camera), Matching() if margin is None else Matching(margin=margin)
    return number, [predict_scale(camera, n, depths, matching=matching) for n in sorted({number, *F_NUMBERS})]


def round_depths(camera: PlenopticCamera, most: int = ROWS) -> Array:
    """Round depths, mm, at most `most`, evenly over what the camera sees well; a Γ plays no part."""
    plain = replace(camera, depth_scale=None)
    near, far = (float(depth) for depth in usable_depth_range(plain, VIRTUAL_RANGE))
    far = min(far, max(FARTHEST * camera.main_lens.focal_length, LEAST_SPAN * near))
    rough = (far - near) / (most - 1)
    unit = 10.0 ** np.floor(np.log10(rough))
    step = next(lead * unit for lead in LEADS if lead * unit >= rough * (1 - 0.02))
    first = np.ceil(near / step - 0.02)  # a round number just below the range still belongs to it
    return np.asarray(step * np.arange(first, np.floor(far / step + 0.02) + 1))


def _gamma(found: Array, true: Array) -> DepthScaleFit | None:
    there = np.isfinite(found)
    try:
        return fit_depth_scale(found[there], true[there])
    except InputError:
        return None
