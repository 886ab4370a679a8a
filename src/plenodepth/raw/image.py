"""The clean image that depth estimation works on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

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
    flat: bool = False  # it shows no vignetting, though the camera's f-number predicts some; it was divided by nothing
    notes: tuple[str, ...] = ()  # what the user should know about the image, in words
    clock: StageClock = field(default_factory=StageClock)  # what reading and cleaning took
