"""What can be chosen about an estimation. Where a default is not the paper's, its comment gives the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from plenodepth.camera.model import ApertureModel
from plenodepth.errors import InputError

Equalisation = Literal["mixture", "s_transform"]
FirstHypothesis = Literal["all_types", "same_type"]
Search = Literal["sweep", "golden"]
Weights = Literal["pixels", "constant", "disparity"]
Kernel = Literal["cpu", "reference"]
ApertureSetting = Literal["auto", "off", "slope", "per_pixel"]  # an `ApertureModel`, or left to choose

CHOICES = {
    "equalisation": Equalisation,
    "first_hypothesis": FirstHypothesis,
    "search": Search,
    "weights": Weights,
    "kernel": Kernel,
    "aperture_model": ApertureSetting,
}

# A uniform disc of radius ρ has the standard deviation ρ/2 along each axis.
DISC_BLUR_COEFFICIENT = 0.5


@dataclass(frozen=True)
class DepthSettings:
    """How virtual depth is searched. Lengths in px unless said otherwise; `gray` runs from 0 to 1 (white)."""

    refined: bool = False  # one depth per pixel instead of one per micro-image
    blur: bool = True  # compare equally blurred views (the paper's B); False: disparity only (D)
    search: Search = "sweep"  # or golden: golden section, as published; quick to take a wrong minimum
    first_hypothesis: FirstHypothesis = "all_types"  # the lenses that a first search compares; the paper: same_type
    weights: Weights = "pixels"  # of views: by the pixels in common; the paper: constant; or by the baseline²
    hypotheses: int | None = None  # of a sweep, evenly spaced in 1/v; None: 26, or 42 when refined
    virtual_range: tuple[float, float] = (2.0, 20.0)  # of |v|
    reach: float = 1.8  # a coarse first search compares views up to so many lens pitches away
    far_reach: float = 3.0  # the search about its result, and a refined one, up to so many: far views tell finely
    margin: float | None = None  # off the micro-image's radius, the paper: 1.5; None: see `margin_for`
    window: int = 5  # side of a pixel's window, refined only
    least_contrast: float = 0.01  # standard deviation of gray under which there is nothing to match
    least_overlap: int = 15  # pixels that a view must share with the reference
    least_views: int = 2
    smoothing: float = 0.3  # px² of variance that all views are smoothed by, so that interpolation biases little
    equalisation: Equalisation = "mixture"
    blur_coefficient: float | None = None  # κ; None: the camera's, or a uniform disc's: depth.relative_blur
    # How the aperture's effect on depth is undone: see depth.aperture.resampling. auto: depth.aperture.model_choice
    # chooses. The paper: off.
    aperture_model: ApertureSetting = "auto"
    kernel: Kernel = "cpu"  # or reference: plain NumPy, hundreds of times slower, for checks

    def margin_for(self, model: ApertureModel) -> float:
        """The margin. At the rim a small aperture shifts what is seen most, but a refined map without it is sparse."""
        if self.margin is not None:
            return self.margin
        return (2.0 if self.refined else 2.5) + (1.0 if model == "per_pixel" else 0.0)

    @property
    def sweep_size(self) -> int:
        """Hypotheses of a sweep. A coarse search goes on between them, a refined one does not."""
        return self.hypotheses or (42 if self.refined else 26)

    def __post_init__(self) -> None:
        low, high = self.virtual_range
        checks = {
            "hypotheses": self.hypotheses is None or self.hypotheses >= 6,
            "virtual_range": 0 < low < high,
            "reach": 1 <= self.reach <= self.far_reach,
            "far_reach": self.far_reach <= 8,
            "margin": self.margin is None or self.margin >= 0,
            "window": self.window >= 3 and self.window % 2 == 1,
            "least_contrast": self.least_contrast >= 0,
            "least_overlap": self.least_overlap >= 1,
            "least_views": self.least_views >= 1,
            "smoothing": 0 <= self.smoothing <= 4,
            "blur_coefficient": self.blur_coefficient is None or self.blur_coefficient > 0,
            **{name: getattr(self, name) in get_args(choices) for name, choices in CHOICES.items()},
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(f"cannot be {getattr(self, name)}", field=f"settings.{name}")
