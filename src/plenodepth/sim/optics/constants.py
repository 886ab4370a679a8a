"""The options of real lenses as the numbers that kernels read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.sim.kernels import real_rays
from plenodepth.sim.optics.camera import Pupil, half_pitch, lens_shape, micro_images_of_pupil
from plenodepth.sim.optics.options import RealOptics

# Of the others the exit pupil and the colours are in the columns of the lenses, the micro-lenses' opening in the sample
# points, and the sensor has the cross-talk.
IN_KERNELS = {"rim", "field_radius", "spherical_aberration", "wavelength", "mask", "half_angle"}
MM_PER_NM = 1e-6


def real_constants(camera: PlenopticCamera, optics: RealOptics | None, pupil: Pupil) -> NDArray[np.float32] | None:
    """Constants of real lenses, named in `kernels/real_rays.py`; None where thin lenses do."""
    if optics is None or not IN_KERNELS & set(optics.used):
        return None
    real = np.zeros(real_rays.CONSTANTS)
    real[real_rays.RIM_LIMIT] = real[real_rays.WALL_LIMIT] = np.inf
    real[[real_rays.PUPIL_X, real_rays.PUPIL_Y]] = pupil.offset
    if optics.rim is not None and optics.rim.diameter is not None:
        real[real_rays.RIM_STEP] = pupil.distance - optics.rim.distance
        real[[real_rays.RIM_X, real_rays.RIM_Y]] = np.subtract(optics.rim.offset, pupil.offset)
        real[real_rays.RIM_LIMIT] = (optics.rim.diameter / 2) ** 2
    real[real_rays.CUBIC] = optics.spherical_aberration / half_pitch(camera) ** 2
    real[real_rays.WAVELENGTH] = (optics.wavelength or 0.0) * MM_PER_NM
    # A pinhole has no width to draw rays from, but one that diffracts.
    real[real_rays.LENS_RADIUS] = lens_shape(camera, optics).radius or half_pitch(camera)
    if optics.mask:
        grid = micro_images_of_pupil(camera, (*pupil.offset, -pupil.distance))
        real[real_rays.WALL_LIMIT] = (grid.radius * camera.sensor.pixel_size) ** 2
    if optics.half_angle is not None:
        # cosⁿ of the half angle is 1/2.
        real[real_rays.HALF_EXPONENT] = math.log(2) / -math.log(math.cos(math.radians(optics.half_angle))) / 2
    if optics.field_radius is not None:
        real[real_rays.CURVATURE] = 1 / optics.field_radius
    return real.astype(np.float32)
