"""The intrinsic parameters as one vector: their names, and a camera after a small step along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.model import Array, Distortion, ExitPupil, PlenopticCamera
from plenodepth.errors import InputError

PUPIL = "main_lens.exit_pupil"
PUPIL_DISTANCE, PUPIL_DIAMETER = f"{PUPIL}.distance", f"{PUPIL}.diameter"
PUPIL_OFFSET = (f"{PUPIL}.offset.x", f"{PUPIL}.offset.y")
CLEAR_APERTURE = "micro_lenses.clear_aperture"


def intrinsic_names(camera: PlenopticCamera) -> tuple[str, ...]:
    """Names of the intrinsic parameters, in the order of every Jacobian's last axis and of covariances.

    Those of the exit pupil, of its diameter and of the micro-lenses' clear aperture are there if the camera has them.
    """
    return (
        "main_lens.focal_length",
        *(f"distortion.{name}" for name in ("Q1", "Q2", "Q3", "P1", "P2")),
        *(f"micro_lenses.rotation.{axis}" for axis in "xyz"),
        *(f"micro_lenses.translation.{axis}" for axis in "xyz"),
        *(f"micro_lenses.pitch.{axis}" for axis in "xy"),
        *(f"micro_lenses.focal_lengths.{index}" for index in range(camera.type_count)),
        *(f"sensor.position.{axis}" for axis in "xyz"),
        "sensor.pixel_size",
        *optional_names(camera),
    )


def optional_names(camera: PlenopticCamera) -> tuple[str, ...]:
    """The last of `intrinsic_names`: parameters that not every camera has."""
    names, pupil = list[str](), camera.main_lens.exit_pupil
    if pupil is not None:
        names += [PUPIL_DISTANCE, *PUPIL_OFFSET]
        if pupil.diameter is not None:
            names.append(PUPIL_DIAMETER)
    if camera.micro_lenses.clear_aperture is not None:
        names.append(CLEAR_APERTURE)
    return tuple(names)


def perturbed_camera(camera: PlenopticCamera, step: ArrayLike) -> PlenopticCamera:
    """The camera after adding `step` (n,), in the order of `intrinsic_names`, to its parameters.

    The rotation of the lens array is turned by the rotation vector in its own frame (`Pose.perturbed`).
    """
    delta = np.asarray(step, dtype=np.float64)
    if delta.shape != (len(intrinsic_names(camera)),):
        raise InputError(f"has shape {delta.shape}, needs ({len(intrinsic_names(camera))},)", field="step")
    focal, distortion, pose, pitch, focals, position, pixel, rest = np.split(
        delta, np.cumsum([1, 5, 6, 2, camera.type_count, 3, 1])
    )
    lenses, sensor, lens = camera.micro_lenses, camera.sensor, camera.main_lens
    others = dict(zip(optional_names(camera), rest.tolist(), strict=True))
    clear = lenses.clear_aperture
    return replace(
        camera,
        main_lens=replace(
            lens, focal_length=lens.focal_length + float(focal[0]), exit_pupil=_moved(lens.exit_pupil, others)
        ),
        distortion=Distortion.from_coefficients(camera.distortion.coefficients + distortion),
        micro_lenses=replace(
            lenses,
            cam_from_mla=lenses.cam_from_mla.perturbed(pose),
            pitch=lenses.pitch + pitch,
            focal_lengths=lenses.focal_lengths + focals,
            clear_aperture=None if clear is None else clear + others[CLEAR_APERTURE],
        ),
        sensor=replace(sensor, position=sensor.position + position, pixel_size=sensor.pixel_size + float(pixel[0])),
    )


def _moved(pupil: ExitPupil | None, step: Mapping[str, float]) -> ExitPupil | None:
    """The pupil after a step of its parameters."""
    if pupil is None:
        return None
    x, y = (value + step[name] for value, name in zip(pupil.offset, PUPIL_OFFSET, strict=True))
    diameter = None if pupil.diameter is None else pupil.diameter + step[PUPIL_DIAMETER]
    return ExitPupil(pupil.distance + step[PUPIL_DISTANCE], diameter, (x, y))


def intrinsic_values(camera: PlenopticCamera) -> Array:
    """The parameters of `intrinsic_names`; the lens array's rotation as Euler angles, rad."""
    lenses, pupil, clear = camera.micro_lenses, camera.main_lens.exit_pupil, camera.micro_lenses.clear_aperture
    others = () if pupil is None else (pupil.distance, *pupil.offset)
    return np.array(
        [
            camera.main_lens.focal_length,
            *camera.distortion.coefficients,
            *lenses.cam_from_mla.euler_xyz(),
            *lenses.cam_from_mla.translation,
            *lenses.pitch,
            *lenses.focal_lengths,
            *camera.sensor.position,
            camera.sensor.pixel_size,
            *others,
            *(() if pupil is None or pupil.diameter is None else (pupil.diameter,)),
            *(() if clear is None else (clear,)),
        ]
    )
