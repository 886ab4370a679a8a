"""The clean image that depth estimation works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.timing import StageClock

Float32 = NDArray[np.float32]


class Devignetting(StrEnum):
    """What the vignetting was divided out by."""

    WHITE = "white image"
    MODEL = "camera model"
    SELF = "estimate from the image itself"
    NONE = "nothing"


class RimCheck(NamedTuple):
    """How bright the rims of micro-images are before devignetting, over what the optics predict: is it one aperture?"""

    f_number: float  # the camera's, at which the optics predict
    ratio: float  # about 1 where the image was taken at that f-number; more: at a wider aperture
    error: float  # standard error of the ratio
    agrees: bool  # False only where it is clear that they do not
    shown: float = 0.5  # light at the rims over that at the centres


# Simulated R12 frames with their own camera: up to 1.1e-5 at f/4 (2.0e-5 gamma-encoded), and never more than 3.2
# standard errors, also of quarters of frames and of their white images, at f/4 and f/2. With the camera of the next
# focus, R12-C for R12-E: 3.4e-5 … 5.1e-5 at f/4, 5.8 … 15 standard errors. Smaller arrays, 40 to 200 lenses wide, with
# their own camera: up to 3.2 standard errors.
CLEAR_SPREAD = 5.0  # standard errors
ODD_SPREAD = 3.5  # standard errors: worth a word
OTHER_FOCUS = 2.5e-5  # relative

Source = Literal["image", "white image"]


class PitchCheck(NamedTuple):
    """How much farther apart micro-images lie than the camera says: is it one focus of the main lens?"""

    scale: float  # relative
    error: float  # its standard error; infinite: it cannot be told
    reach: float  # px: from the middle of the image to a corner
    source: Source = "image"  # whose micro-images these are

    @property
    def least_told(self) -> float:
        """The least difference of the pitch, relative, that would count as another focus."""
        return max(CLEAR_SPREAD * self.error, OTHER_FOCUS)

    @property
    def clear(self) -> bool:
        """Whether the camera's micro-images clearly lie otherwise."""
        return abs(self.scale) > CLEAR_SPREAD * self.error

    @property
    def odd(self) -> bool:
        """Whether they may lie otherwise, though not so that it must be another focus."""
        return abs(self.scale) > ODD_SPREAD * self.error and not self.other_focus

    @property
    def other_focus(self) -> bool:
        """Whether a camera of that focus would not have it."""
        return self.clear and abs(self.scale) > OTHER_FOCUS

    def __str__(self) -> str:
        how = "wider apart" if self.scale > 0 else "closer together"
        size, whose = abs(self.scale), "" if self.source == "image" else f" of the {self.source}"
        return (
            f"the micro-images{whose} lie {100 * size:.4f} % {how} than the camera says "
            f"({size * self.reach:.2f} px at the corners, {size / self.error:.0f} standard errors)"
        )


@dataclass(frozen=True, eq=False)
class RawImage:
    """A raw image after devignetting: linear light, float32; nothing is clipped.

    0 is the sensor's black level, about which noise may be negative. 1 is what the white image shows; without a white
    image it is the sensor's full scale.
    """

    gray: Float32  # (h, w) for matching; NaN where a pixel is unusable (saturated, no light at all, NaN in the file)
    color: Float32 | None  # (h, w, 3) RGB for the cloud, kept where saturated; None for a gray camera
    noise: float  # standard deviation of `gray` at middle brightness near a micro-image's centre; NaN if `gray` is
    devignetting: Devignetting
    name: str = "image"
    rims: RimCheck | None = None  # of the white image if there is one, else of the image; None: cannot be told
    spread: PitchCheck | None = (
        None  # of its micro-images against the camera's, or of the white image's; None: not asked
    )
    mosaic: str | None = None  # the colour filters, if `color` is made of a mosaic: a pixel has a sample of one colour
    encoded: bool = False  # its numbers have a gamma, about sRGB's: they are not proportional to the light
    flat: bool = False  # it shows no vignetting, though the camera's f-number predicts some; it was divided by nothing
    notes: tuple[str, ...] = ()  # what the user should know about the image, in words
    clock: StageClock = field(default_factory=StageClock)  # what reading and cleaning took
