"""The intrinsic parameters as one vector: their names, and a camera after a small step along them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera.model import Distortion, PlenopticCamera
from plenodepth.errors import InputError


def intrinsic_names(camera: PlenopticCamera) -> tuple[str, ...]:
    """Names of the intrinsic parameters, in the order of every Jacobian's last axis and of covariances."""
    return (
        "main_lens.focal_length",
        *(f"distortion.{name}" for name in ("Q1", "Q2", "Q3", "P1", "P2")),
        *(f"micro_lenses.rotation.{axis}" for axis in "xyz"),
        *(f"micro_lenses.translation.{axis}" for axis in "xyz"),
        *(f"micro_lenses.pitch.{axis}" for axis in "xy"),
        *(f"micro_lenses.focal_lengths.{index}" for index in range(camera.type_count)),
        *(f"sensor.position.{axis}" for axis in "xyz"),
        "sensor.pixel_size",
    )


def perturbed_camera(camera: PlenopticCamera, step: ArrayLike) -> PlenopticCamera:
    """The camera after adding `step` (n,), in the order of `intrinsic_names`, to its parameters.

    The rotation of the lens array is turned by the rotation vector in its own frame (`Pose.perturbed`).
    """
    delta = np.asarray(step, dtype=np.float64)
    if delta.shape != (len(intrinsic_names(camera)),):
        raise InputError(f"has shape {delta.shape}, needs ({len(intrinsic_names(camera))},)", field="step")
    focal, distortion, pose, pitch, focals, position, pixel = np.split(
        delta, np.cumsum([1, 5, 6, 2, camera.type_count, 3])
    )
    lenses, sensor = camera.micro_lenses, camera.sensor
    return replace(
        camera,
        main_lens=replace(camera.main_lens, focal_length=camera.main_lens.focal_length + float(focal[0])),
        distortion=Distortion.from_coefficients(camera.distortion.coefficients + distortion),
        micro_lenses=replace(
            lenses,
            cam_from_mla=lenses.cam_from_mla.perturbed(pose),
            pitch=lenses.pitch + pitch,
            focal_lengths=lenses.focal_lengths + focals,
        ),
        sensor=replace(sensor, position=sensor.position + position, pixel_size=sensor.pixel_size + float(pixel[0])),
    )
