"""Where the micro-lenses are: the half-turn between image and array, lens centres, D and d per lens, centres in px.

Micro-images and micro-lenses share one index (k, l) in image order; only `lens_index` knows of the half-turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.model import Array, Configuration, GridCamera, Indices, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Lattice

# A micro-lens counts as focused at infinity when its focal length and its distance to the sensor agree this well.
UNFOCUSED_TOLERANCE = 5e-3


def lens_index(lattice: Lattice, k: ArrayLike, l: ArrayLike) -> tuple[Indices, Indices]:
    """Node of the lens array behind micro-image (k, l), and back: the image is the array turned by 180°."""
    return lattice.columns - 1 - np.asarray(k), lattice.rows - 1 - np.asarray(l)


def unit_lens_position(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """Lens centre in the array's plane for unit pitches, (..., 2): times the pitch it is the position in mm."""
    lattice = camera.micro_images.lattice
    return lattice.half_turned().unit_node(*lens_index(lattice, k, l))


def lens_position(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """Lens centre in the array's own frame, (..., 3) mm, z = 0."""
    xy = unit_lens_position(k, l, camera) * camera.micro_lenses.pitch
    return np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], axis=-1)


def lens_center(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """C_kl, the centre of the micro-lens behind micro-image (k, l), (..., 3) mm in the camera frame."""
    return camera.micro_lenses.cam_from_mla(lens_position(k, l, camera))


class LensDistances(NamedTuple):
    """D, main lens to micro-lens, and d, micro-lens to sensor, mm; arrays or scalars."""

    to_main_lens: Array
    to_sensor: Array


def lens_distances(camera: PlenopticCamera, k: ArrayLike | None = None, l: ArrayLike | None = None) -> LensDistances:
    """D(k, l) and d(k, l) measured along z (tilt included); without indices, at the centre of the array."""
    lattice = camera.micro_images.lattice
    if k is None or l is None:
        columns, rows = lattice.columns - 1, lattice.rows - 1
        corners = lens_center([0, columns, 0, columns], [0, 0, rows, rows], camera)
        z = corners[:, 2].mean()
    else:
        z = lens_center(k, l, camera)[..., 2]
    return LensDistances(-z, z - camera.sensor.position[2])


def to_pupil(camera: PlenopticCamera, distances: LensDistances | None = None) -> Array:
    """P = D − e, mm from lenses to the exit pupil; by default from the centre of the array."""
    return np.asarray((distances or lens_distances(camera)).to_main_lens - camera.main_lens.pupil_distance)


def pitch_ratio(camera: PlenopticCamera, distances: LensDistances | None = None) -> Array:
    """λ = P/(P + d), lens pitch over micro-image pitch, of lenses at some distances; by default amid the array.

    The one place of this formula: baselines and lens positions that come from micro-image centres are λ times as long
    as between the centres, because micro-images spread as seen from the exit pupil (`predicted_center`).
    """
    known = distances or lens_distances(camera)
    return shrinking_from_pupil(to_pupil(camera, known), known.to_sensor)


def shrinking_from_pupil(distance: ArrayLike, to_sensor: ArrayLike) -> Array:
    """λ = P/(P + d) for a pupil at P = distance, mm, where there is no camera yet; see `pitch_ratio`."""
    to_lens = np.asarray(distance, dtype=np.float64)
    return np.asarray(to_lens / (to_lens + np.asarray(to_sensor, dtype=np.float64)))


def focal_length(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """f of the micro-lens behind (k, l), (...) mm."""
    require_blur(camera)
    return camera.micro_lenses.focal_lengths[camera.micro_images.lens_type(k, l)]


def require_blur(camera: PlenopticCamera) -> None:
    """Refuse to compute blur for an array of pinholes."""
    if camera.type_count == 0:
        raise InputError(
            f"camera '{camera.name}' has pinholes for micro-lenses, so there is no blur",
            field="micro_lenses.focal_lengths",
            fix="list one focal length per lens type, or use disparity only",
        )


def predicted_center(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """Where the optics put the centre of micro-image (k, l), (..., 2) px: the lens shows the pupil's middle there.

    It is where the ray from the middle of the exit pupil (by default the main lens itself) through the lens' centre
    meets the sensor, and the middle of the light in a white image.
    """
    return camera.sensor.image_from_metric(seen_from_pupil(lens_center(k, l, camera), camera))


def seen_from_pupil(points: ArrayLike, camera: PlenopticCamera) -> Array:
    """Where rays from the middle of the exit pupil through points (..., 3) meet the sensor: x, y (..., 2) mm."""
    p, pupil = np.asarray(points, dtype=np.float64), camera.main_lens.pupil_center
    stretch = (camera.sensor.position[2] - pupil[2]) / (p[..., 2:] - pupil[2])
    return np.asarray(pupil[:2] + (p[..., :2] - pupil[:2]) * stretch)


def configuration(camera: PlenopticCamera) -> Configuration:
    """Galilean (lenses focus behind themselves, d < f), Keplerian (d > f) or unfocused (d = f).

    Pinholes have no focus; there the main lens' image of the focus distance decides.
    """
    main, sensor = lens_distances(camera)
    if camera.type_count:
        ratio = sensor * np.mean(1 / camera.micro_lenses.focal_lengths)
    else:
        ratio = 1 + (main - main_lens_image_distance(camera)) / main
    if abs(ratio - 1) <= UNFOCUSED_TOLERANCE:
        return Configuration.UNFOCUSED
    return Configuration.GALILEAN if ratio < 1 else Configuration.KEPLERIAN


def depth_sign(camera: PlenopticCamera | GridCamera) -> float:
    """The sign of the camera's virtual depths: −1 where it is Keplerian, else +1, also where nobody knows."""
    known = camera.configuration if isinstance(camera, GridCamera) else configuration(camera)
    return -1.0 if known is Configuration.KEPLERIAN else 1.0


def main_lens_image_distance(camera: PlenopticCamera) -> float:
    """H, mm: where the main lens images the focus distance h (measured object to image), 1/F = 1/H + 1/(h − H)."""
    focal, focus = camera.main_lens.focal_length, camera.focus_distance
    if focus is None or np.isinf(focus):
        return focal
    if focus < 4 * focal:
        raise InputError(f"is {focus:g} mm, no lens of {focal:g} mm focuses nearer than 4 F", field="focus_distance")
    return float(focus / 2 * (1 - np.sqrt(1 - 4 * focal / focus)))
