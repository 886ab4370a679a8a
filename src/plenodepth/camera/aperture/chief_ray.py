"""Where things appear in the image when the main lens' aperture clips the pixels' cones of light, and how blurred.

The thin-lens model puts a point at the pixel x_thin whose lens centre looks at it. A clipped pixel x looks elsewhere,
on average along the ray through the centroid ȳ(x) of the open part of its lens (`clipping`): at virtual depth v it
shows what an unclipped pixel would show at x_eff(x) = x + ȳ(x) (1/v − 1/v0). So a point of a scene appears at the
pixel with x_eff(x) = x_thin (`apparent_position`), and `chief_ray_position` is the way back.

That is the position of what textures and edges show, once the vignetting is divided out: to first order of the texture
a pixel has the brightness of its mean direction. The centroid of the *light* of a single bright point in the dark is
another one (`light_centroid`): each pixel of the spot takes part by the light that it gets of the point, and what of
the lens is open to the point is not what is open to a pixel. Both agree where the blur is small.

Pinholes neither shift nor blur: all of this refuses them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.aperture.clipping import PupilOnLens, open_centroid, open_part, open_part_slope, pupil_on_lens
from plenodepth.camera.micro_lenses import focal_length, lens_distances, predicted_center
from plenodepth.camera.model import Array, PlenopticCamera

ITERATIONS = 60  # Newton's steps, halved where they leave the bracket; six are usual
CONVERGED = 1e-9  # px
LEAST_OVERLAP = 1e-4  # of a lens' radius: with less of it open a pixel is dark


def chief_ray_position(
    uv: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    f_number: float | None = None,
) -> Array:
    """Where an unclipped pixel would show what pixel `uv` (..., 2) of micro-image (k, l) shows at v, (..., 2) px.

    All broadcast. Default: the camera's own f-number. NaN where the pixel is dark.
    """
    lens = _clipped_lens(k, l, virtual_depth, camera, f_number)
    away, distance = _from_pupil_image(uv, lens, camera)
    dark = distance > _last_open(camera, lens.pupil)
    centroid = open_centroid(lens.pupil.ratio, lens.pupil.radius, np.where(dark, 0, distance), camera)
    return _image_of(lens, away, np.where(dark, np.nan, distance + lens.focus_gap * centroid), distance)


def apparent_position(
    uv: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    f_number: float | None = None,
) -> Array:
    """Pixel (..., 2) of micro-image (k, l) that shows what the thin-lens model puts at `uv`.

    The inverse of `chief_ray_position`.

    NaN where no pixel with light does.
    """
    lens = _clipped_lens(k, l, virtual_depth, camera, f_number)
    away, target = _from_pupil_image(uv, lens, camera)
    target, gap, ratio, radius, last = np.broadcast_arrays(
        target, lens.focus_gap, lens.pupil.ratio, lens.pupil.radius, _last_open(camera, lens.pupil)
    )
    reached = last + gap * open_centroid(ratio, radius, last, camera)
    seen = target <= reached
    low, high, place = np.zeros(target.shape), last, np.where(seen, np.minimum(target, last), 0)
    slope = np.ones(target.shape)
    for _ in range(ITERATIONS):
        excess = place + gap * open_centroid(ratio, radius, place, camera) - target
        high, low = np.where(excess > 0, place, high), np.where(excess > 0, low, place)
        slope = 1 + gap * open_part_slope(ratio, radius, place, camera)
        if not (np.abs(excess[seen]) > CONVERGED * camera.sensor.pixel_size).any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            stepped = place - excess / slope
        place = np.where((stepped >= low) & (stepped <= high), stepped, (low + high) / 2)
    found = np.where(seen & (slope > 0), place, np.nan)
    return _image_of(lens, away, found, target)


def light_centroid(
    uv: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    f_number: float | None = None,
) -> Array:
    """Centroid (..., 2) px of the light that micro-image (k, l) gets of a single point, which the model puts at `uv`.

    The point's light passes the lens where the point sees the pupil: the pixels x = x_thin − y (1/v − 1/v0) put into
    the condition of `aperture.clipping` give two discs again. NaN where no light passes.
    """
    lens = _clipped_lens(k, l, virtual_depth, camera, f_number)
    away, distance = _from_pupil_image(uv, lens, camera)
    ratio, radius = lens.pupil
    gain = 1 + ratio * lens.focus_gap
    with np.errstate(divide="ignore"):
        centroid = open_centroid(ratio / gain, radius / np.abs(gain), distance, camera)
    return _image_of(lens, away, distance - lens.focus_gap * centroid, distance)


def clipped_blur_radius(
    uv: ArrayLike,
    k: ArrayLike,
    l: ArrayLike,
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    f_number: float | None = None,
) -> Array:
    """Signed radius ρ (...), px, of the disc whose variance is that of pixel `uv`'s clipped blur, mean of both axes.

    Fully open, it is the model's ρ. NaN where the pixel is dark.
    """
    lens = _clipped_lens(k, l, virtual_depth, camera, f_number)
    _, distance = _from_pupil_image(uv, lens, camera)
    part = open_part(lens.pupil.ratio, lens.pupil.radius, distance, camera)
    # A disc of radius r has the variance r²/4 along each axis.
    radius = np.sqrt(2 * (part.variance_along + part.variance_across)) * lens.focus_gap
    return np.asarray(radius / camera.sensor.pixel_size)


class _ClippedLens(NamedTuple):
    """What the functions above need of lenses (k, l) at some virtual depths."""

    pupil: PupilOnLens
    middle: Array  # (..., 2) px: the micro-image's centre, where the lens shows the pupil's middle
    focus_gap: Array  # (...) 1/v − 1/v0


def _clipped_lens(
    k: ArrayLike, l: ArrayLike, virtual_depth: ArrayLike, camera: PlenopticCamera, f_number: float | None
) -> _ClippedLens:
    pupil = pupil_on_lens(k, l, camera, f_number)
    middle = predicted_center(k, l, camera)
    inverse_focus = 1 - lens_distances(camera, k, l).to_sensor / focal_length(k, l, camera)
    return _ClippedLens(pupil, middle, 1 / np.asarray(virtual_depth, dtype=np.float64) - inverse_focus)


def _from_pupil_image(uv: ArrayLike, lens: _ClippedLens, camera: PlenopticCamera) -> tuple[Array, Array]:
    """Vector (..., 2) px and distance (...) mm from where the lens shows the pupil's middle."""
    away = np.asarray(uv, dtype=np.float64) - lens.middle
    return away, np.asarray(np.hypot(away[..., 0], away[..., 1]) * camera.sensor.pixel_size)


def _image_of(lens: _ClippedLens, away: Array, place: Array, distance: Array) -> Array:
    """The pixel (..., 2) that lies `place` instead of `distance` mm away from the pupil's image."""
    middle = distance == 0  # which stays where it is
    stretch = np.where(middle, 1, place) / np.where(middle, 1, distance)
    return np.asarray(lens.middle + away * stretch[..., None])


def _last_open(camera: PlenopticCamera, pupil: PupilOnLens) -> Array:
    """mm from the pupil's image to the last pixel that gets light."""
    half = camera.micro_lenses.lens_diameter / 2
    return np.asarray(((1 - LEAST_OVERLAP) * half + pupil.radius) / np.abs(pupil.ratio))
