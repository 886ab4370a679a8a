"""Analytic derivatives of the projection and of the predicted micro-image centres, for bundle adjustment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plenodepth.camera import thin_lens
from plenodepth.camera.blur import blur_radius, blur_radius_jacobian
from plenodepth.camera.distortion import distort, distort_jacobian
from plenodepth.camera.micro_lenses import lens_center, lens_position, unit_lens_position
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import CLEAR_APERTURE, PUPIL_DISTANCE, PUPIL_OFFSET, intrinsic_names, optional_names
from plenodepth.geometry import Pose


class ProjectionJacobian(NamedTuple):
    """Derivatives of (u, v, ρ), px, over the broadcast shape (...); the row of ρ is NaN for pinholes."""

    by_point: Array  # (..., 3, 3) by the point in the camera frame, mm
    by_intrinsics: (
        Array  # (..., 3, n) by the parameters of intrinsic_names, for the step of parameters.perturbed_camera
    )

    def by_pose(self, cam_from_board: Pose, board_points: ArrayLike) -> Array:
        """(..., 3, 6) by the step of `cam_from_board.perturbed`, for points (..., 3) given in the board's frame."""
        return self.by_point @ cam_from_board.jacobian(board_points)


def project_jacobian(points: ArrayLike, k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> ProjectionJacobian:
    """Derivatives of `project` (physical model, Γ left out)."""
    p = np.asarray(points, dtype=np.float64)
    shape = np.broadcast_shapes(p.shape[:-1], np.shape(k), np.shape(l))
    p, k, l = np.broadcast_to(p, (*shape, 3)), np.broadcast_to(k, shape), np.broadcast_to(l, shape)
    pixel = camera.sensor.pixel_size

    image = thin_lens.image_point(p, camera.main_lens.focal_length)
    image_by_point, image_by_focal = thin_lens.image_point_jacobian(p, camera.main_lens.focal_length)
    virtual = distort(image, camera.distortion)
    bend, virtual_by_distortion = distort_jacobian(image, camera.distortion)
    virtual_by_image = np.zeros((*shape, 3, 3))
    virtual_by_image[..., :2, :2], virtual_by_image[..., 2, 2] = bend, 1

    center = lens_center(k, l, camera)
    distance = virtual[..., 2] - center[..., 2]  # a
    to_sensor = center[..., 2] - camera.sensor.position[2]  # d
    lateral = (virtual - center)[..., :2]
    ratio = to_sensor / distance

    # X = C − (d/a) (p − C) on the sensor; (u, v) = corner − (X − t)/s
    by_virtual = np.zeros((*shape, 3, 3))
    by_virtual[..., 0, 0] = by_virtual[..., 1, 1] = ratio / pixel
    by_virtual[..., :2, 2] = -lateral * (ratio / distance)[..., None] / pixel
    by_center = np.zeros((*shape, 3, 3))
    by_center[..., 0, 0] = by_center[..., 1, 1] = -(1 + ratio) / pixel
    by_center[..., :2, 2] = lateral * ((1 + ratio) / distance)[..., None] / pixel
    by_sensor = np.zeros((*shape, 3, 4))  # position x, y, z and pixel size
    by_sensor[..., 0, 0] = by_sensor[..., 1, 1] = 1 / pixel
    by_sensor[..., :2, 2] = -lateral / distance[..., None] / pixel
    on_sensor = center[..., :2] - ratio[..., None] * lateral
    by_sensor[..., :2, 3] = (on_sensor - camera.sensor.position[:2]) / pixel**2

    by_pitch, by_focals = np.zeros((*shape, 3, 2)), np.zeros((*shape, 3, camera.type_count))
    others = optional_names(camera)  # the exit pupil does not move what a lens shows
    by_others = np.zeros((*shape, 3, len(others)))
    if camera.type_count:
        lens_type = camera.micro_images.lens_type(k, l)
        focal = camera.micro_lenses.focal_lengths[lens_type]
        diameter = camera.micro_lenses.lens_diameter
        blur = blur_radius_jacobian(diameter, to_sensor, focal, distance)
        by_virtual[..., 2, 2] = blur.by_distance / pixel
        by_center[..., 2, 2] = (blur.by_to_sensor - blur.by_distance) / pixel
        by_sensor[..., 2, 2] = -blur.by_to_sensor / pixel
        by_sensor[..., 2, 3] = -blur_radius(diameter, to_sensor, focal, distance) / pixel**2
        by_pitch[..., 2, :] = (blur.by_diameter / 2 / pixel)[..., None]  # B is the mean of the two pitches,
        if camera.micro_lenses.clear_aperture is not None:  # or as much of it as is clear
            by_pitch[..., 2, :] *= camera.micro_lenses.clear_aperture
            by_others[..., 2, others.index(CLEAR_APERTURE)] = (
                blur.by_diameter * camera.micro_lenses.pitch.mean() / pixel
            )
        by_focals[..., 2, :] = (blur.by_focal / pixel)[..., None] * (lens_type[..., None] == range(camera.type_count))

    by_image = by_virtual @ virtual_by_image
    by_mla, center_by_pitch = lens_center_jacobian(k, l, camera)
    by_intrinsics = np.concatenate(
        [
            (by_image @ image_by_focal[..., None]),
            by_virtual[..., :2] @ virtual_by_distortion,
            by_center @ by_mla,
            by_pitch + by_center @ center_by_pitch,
            by_focals,
            by_sensor,
            by_others,
        ],
        axis=-1,
    )
    by_point = by_image @ image_by_point
    if not camera.type_count:
        by_point[..., 2, :] = by_intrinsics[..., 2, :] = np.nan
    return ProjectionJacobian(by_point, by_intrinsics)


def predicted_center_jacobian(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> Array:
    """Derivatives (..., 2, n) of `predicted_center` by the intrinsics."""
    pixel, pupil = camera.sensor.pixel_size, camera.main_lens.pupil_center
    center = lens_center(k, l, camera) - pupil  # as seen from the pupil
    shape = center.shape[:-1]
    stretch = (camera.sensor.position[2] - pupil[2]) / center[..., 2]
    by_center = np.zeros((*shape, 2, 3))
    by_center[..., 0, 0] = by_center[..., 1, 1] = -stretch / pixel
    by_center[..., :, 2] = center[..., :2] * (stretch / center[..., 2])[..., None] / pixel
    by_mla, center_by_pitch = lens_center_jacobian(k, l, camera)
    by_sensor = np.zeros((*shape, 2, 4))
    by_sensor[..., 0, 0] = by_sensor[..., 1, 1] = 1 / pixel
    by_sensor[..., :, 2] = -center[..., :2] / center[..., 2:] / pixel
    on_sensor = pupil[:2] + center[..., :2] * stretch[..., None]
    by_sensor[..., :, 3] = (on_sensor - camera.sensor.position[:2]) / pixel**2
    names = intrinsic_names(camera)
    sensor = names.index("sensor.position.x")
    result = np.zeros((*shape, 2, len(names)))
    result[..., 6:12] = by_center @ by_mla
    result[..., 12:14] = by_center @ center_by_pitch
    result[..., sensor : sensor + 4] = by_sensor
    if camera.main_lens.exit_pupil is not None:
        result[..., names.index(PUPIL_DISTANCE)] = center[..., :2] * ((stretch - 1) / center[..., 2])[..., None] / pixel
        for axis, name in enumerate(PUPIL_OFFSET):
            result[..., axis, names.index(name)] = (stretch - 1) / pixel
    return result


def lens_center_jacobian(k: ArrayLike, l: ArrayLike, camera: PlenopticCamera) -> tuple[Array, Array]:
    """Derivatives of the lens centre C_kl by the array's pose (..., 3, 6) and by its pitch (..., 3, 2)."""
    pose = camera.micro_lenses.cam_from_mla
    by_pitch = pose.rotation[:, :2] * unit_lens_position(k, l, camera)[..., None, :]
    return pose.jacobian(lens_position(k, l, camera)), by_pitch
