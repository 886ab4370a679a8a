"""The camera that stands behind real lenses: where its exit pupil is, and with it its micro-images."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.model import ExitPupil, MicroImageArray
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.samples import CELLS, LensShape


@dataclass(frozen=True)
class Pupil:
    """The exit pupil at an f-number, mm: distance e from the thin lens towards the sensor, middle, radius."""

    distance: float
    offset: tuple[float, float]
    radius: float


def pupil_of(camera: PlenopticCamera, optics: RealOptics | None, f_number: float | None = None) -> Pupil:
    """The pupil of the optics where they have one, else the camera's own: the thin lens itself by default."""
    lens = camera.main_lens
    number = lens.f_number if f_number is None else f_number
    if number is None:
        raise InputError(f"camera '{camera.name}' has none", field="main_lens.f_number", fix="give the aperture")
    if not number > 0:
        raise InputError(f"is {number:g}, needs a number > 0", field="f_number")
    chosen = (optics and optics.exit_pupil) or lens.exit_pupil or Stop()
    diameter = chosen.diameter
    if diameter is None:
        diameter = (lens.focal_length - chosen.distance) / number
    elif lens.f_number is None:
        raise InputError("is given for an unknown f-number", field="exit_pupil.diameter", fix="add main_lens.f_number")
    else:
        diameter *= lens.f_number / number
    return Pupil(chosen.distance, chosen.offset, diameter / 2)


def camera_with_optics(camera: PlenopticCamera, optics: RealOptics | None) -> PlenopticCamera:
    """The camera as these optics make it: their exit pupil and clear aperture in the place of its own, and their grid.

    All other options stay in the optics: the camera is that of thin lenses, which depth is compared with.
    """
    if optics is None:
        return camera
    if optics.clear_aperture < 1:
        camera = replace(camera, micro_lenses=replace(camera.micro_lenses, clear_aperture=optics.clear_aperture))
    if optics.exit_pupil is None:
        return camera
    stop = optics.exit_pupil
    lens = replace(camera.main_lens, exit_pupil=ExitPupil(stop.distance, stop.diameter, stop.offset))
    return replace(camera, main_lens=lens, micro_images=micro_images_of_pupil(camera, (*stop.offset, -stop.distance)))


def micro_images_of_pupil(camera: PlenopticCamera, middle: tuple[float, float, float]) -> MicroImageArray:
    """The grid nearest to where the lenses show the middle of a pupil, a point (3,) mm in the camera frame."""
    # Seen from the pupil's middle as the origin, these are the projections of the lens centres.
    pose, sensor = camera.micro_lenses.cam_from_mla, camera.sensor
    moved = replace(
        camera,
        main_lens=replace(camera.main_lens, exit_pupil=None),
        sensor=replace(sensor, position=sensor.position - np.array(middle)),
        micro_lenses=replace(
            camera.micro_lenses, cam_from_mla=Pose(pose.rotation, pose.translation - np.array(middle))
        ),
    )
    return fitted_to_lenses(moved).micro_images


def lens_shape(camera: PlenopticCamera, optics: RealOptics | None) -> LensShape:
    """The opening of the micro-lenses: that of the optics where they have one, else the camera's; 0 for pinholes."""
    if not camera.type_count:
        return LensShape(0.0)
    radius = camera.micro_lenses.lens_diameter / 2
    if optics is None:
        return LensShape(radius)
    if optics.clear_aperture < 1:
        radius = half_pitch(camera) * optics.clear_aperture
    sides = CELLS[camera.micro_images.lattice.arrangement] if optics.corner_reach > 1 else ()
    return LensShape(radius, optics.corner_reach, sides)


def half_pitch(camera: PlenopticCamera) -> float:
    """Half the mean pitch of the micro-lenses, mm."""
    return float(camera.micro_lenses.pitch.mean()) / 2
