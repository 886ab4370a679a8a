"""Which aperture model an estimation takes: the one of its settings or, left to choose, per_pixel where that helps.

Left to choose, none is taken where the camera does not tell what it would need, where the image says that the camera's
f-number is not its own, and where the aperture shifts next to nothing: then per_pixel would cost time and precision.

Nor is it for a camera that was calibrated without regard to the aperture. Its F, D and d hold part of the effect, which
per_pixel would undo a second time. Such a camera gets the model that its Γ was fitted with; without Γ, none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plenodepth.camera import Camera, PlenopticCamera
from plenodepth.camera.aperture.clipping import aperture_table
from plenodepth.camera.micro_lenses import depth_sign
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.aperture.chief_rays import spots_of
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.raw.image import RawImage

# px, of the pixel that is shifted most. It grows quickly with the f-number: walls at 500, 900 and 1500 mm through
# R12-ES are 0.15, 0.05 and 0.02 % too far at 0.04 px (f/2.2), and 0.59, 0.22 and 0.09 % at 0.19 px (f/2.3).
NEGLIGIBLE_SHIFT = 0.05

DEVIGNETTED = "the image shows no vignetting: it is devignetted already, and was left as it is"
NOT_UNDONE = "the aperture's effect on depth is not undone"
UNAWARE = "the camera was calibrated without regard to the aperture, and holds part of its effect"


class ApertureChoice(NamedTuple):
    """The model that an estimation takes."""

    model: ApertureModel
    note: str = ""  # what the user should know about it


class Hindrance(NamedTuple):
    """Why a model cannot be applied to a camera."""

    error: InputError  # for whoever asks for the model
    note: str = ""  # for whoever leaves the choice; empty where it goes without saying


def choose_model(
    image: RawImage, camera: Camera, settings: DepthSettings, trial: Callable[[], ApertureModel] = lambda: "per_pixel"
) -> ApertureChoice:
    """The model of the settings, an `InputError` where it cannot be applied; for auto the best that can.

    An image without vignetting may have been devignetted, or taken with a wide aperture. Its light does not tell which,
    but its views match better by the right model: `trial` finds out.
    """
    wanted, doubt = settings.aperture_model, doubt_of_image(image, camera)
    if wanted == "off":
        return ApertureChoice("off")
    hindrance = hindrance_of(camera, settings)
    if wanted != "auto":
        if hindrance is not None:
            raise hindrance.error
        return ApertureChoice(wanted, doubt)
    if hindrance is not None:
        return ApertureChoice("off", hindrance.note)
    assert isinstance(camera, PlenopticCamera)
    if camera.provenance.aperture_aware is False and own_model(camera) != "per_pixel":
        return ApertureChoice(own_model(camera), f"{UNAWARE}: {_what_is_taken(camera)}")
    if image.flat and trial() == "per_pixel":
        return ApertureChoice("per_pixel", DEVIGNETTED)
    if doubt:
        return ApertureChoice("off", f"{doubt}; {NOT_UNDONE}")
    return ApertureChoice("off" if largest_shift(camera, settings) < NEGLIGIBLE_SHIFT else "per_pixel")


def own_model(camera: PlenopticCamera) -> ApertureModel:
    """The model that the camera's Γ repairs the rest of; off without Γ."""
    return "off" if camera.depth_scale is None else camera.depth_scale_model


def _what_is_taken(camera: PlenopticCamera) -> str:
    if camera.depth_scale is None:
        return f"{NOT_UNDONE}, and it has no depth scale Γ for the rest"
    return f"aperture model {own_model(camera)} is taken, which its depth scale Γ was found with"


def hindrance_of(camera: Camera, settings: DepthSettings) -> Hindrance | None:
    """What keeps the model of the settings, or per_pixel where they leave the choice, from this camera."""
    field = "settings.aperture_model"
    if not isinstance(camera, PlenopticCamera) or not camera.type_count or camera.main_lens.f_number is None:
        known_lenses = isinstance(camera, PlenopticCamera) and camera.type_count > 0
        return Hindrance(
            InputError(
                f"camera '{camera.name}' has no optics with an f-number",
                field=field,
                fix="add main_lens.f_number to the camera file, or give off",
            ),
            f"the camera file has no f-number: {NOT_UNDONE}" if known_lenses else "",
        )
    if settings.search == "golden" and settings.aperture_model != "slope":
        return Hindrance(InputError("per_pixel is for the sweep only", field=field, fix="give off or slope"))
    return None


def doubt_of_image(image: RawImage, camera: Camera) -> str:
    """What speaks against the camera's f-number being that of the image; empty where nothing does."""
    rims = image.rims
    if rims is None or rims.agrees or not isinstance(camera, PlenopticCamera):
        return ""
    if rims.f_number != camera.main_lens.f_number:  # the image was cleaned with another camera file
        return ""
    other = "wider" if rims.ratio > 1 else "narrower"
    return (
        f"the rims of the micro-images are {rims.ratio:.2g} times as bright as f/{rims.f_number:g} of the camera file "
        f"predicts, as of a {other} aperture (or a wrong black level)"
    )


def largest_shift(camera: PlenopticCamera, settings: DepthSettings) -> float:
    """By how much, px, the aperture shifts what a compared pixel sees at most, over lens types and hypotheses.

    D and d are those at the array's centre.
    """
    table = aperture_table(camera)
    inside = table.radius <= camera.micro_images.radius - settings.margin_for("off")
    sign = depth_sign(camera)
    ends = [sign / depth for depth in settings.virtual_range]  # the shift grows with the distance from the focus
    shifts = [
        np.abs(spots_of(table, lens_type, end, 0.0).matched_position - table.radius)[inside]
        for lens_type in range(camera.type_count)
        for end in ends
    ]
    return float(np.max(shifts, initial=0))
