"""Residuals of features and micro-image centres, with derivatives by the camera's intrinsics and the boards' poses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plenodepth.calib.bundle.chief_rays import VARIABLES, LightCentroids, apparent_pixels, light_centroids
from plenodepth.calib.features import Centers
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, Indices, PlenopticCamera
from plenodepth.camera.parameters import CLEAR_APERTURE, PUPIL_DIAMETER, PUPIL_DISTANCE, intrinsic_names
from plenodepth.camera.projection import project
from plenodepth.camera.projection_jacobian import lens_center_jacobian, predicted_center_jacobian, project_jacobian
from plenodepth.geometry import Pose


class Seen(NamedTuple):
    """The features of one board in one frame, n of them."""

    points: Array  # (n, 3) mm, board frame
    k: Indices
    l: Indices
    uv: Array  # (n, 2) px, observed
    rho: Array  # (n,) px, observed; NaN where unknown


class Residuals(NamedTuple):
    """Predicted less observed (u, v, ρ), px; the row of ρ is zero where it is unknown."""

    values: Array  # (n, 3)
    by_intrinsics: Array | None  # (n, 3, p) by the step of `camera.parameters.perturbed_camera`
    by_pose: Array | None  # (n, 3, 6) by the step of `Pose.perturbed`


def feature_residuals(
    seen: Seen, cam_from_board: Pose, camera: PlenopticCamera, *, aperture: bool, derivatives: bool
) -> Residuals:
    """Residuals of one board in one frame. With `aperture`, corners are predicted where they appear (`chief_rays`)."""
    points = cam_from_board(seen.points)
    predicted = project(points, seen.k, seen.l, camera)
    uv, by_intrinsics, by_pose = predicted.uv, None, None
    if derivatives:
        jacobian = project_jacobian(points, seen.k, seen.l, camera)
        by_intrinsics, by_pose = jacobian.by_intrinsics, jacobian.by_pose(cam_from_board, seen.points)
    if aperture:
        # 1/v − 1/v0, from the blur line.
        gap = 2 * predicted.rho * camera.sensor.pixel_size / camera.micro_lenses.lens_diameter
        uv = apparent_pixels(predicted.uv, seen.k, seen.l, gap, camera)
        if by_intrinsics is not None and by_pose is not None:
            shown = light_centroids(uv, seen.k, seen.l, camera)
            by_intrinsics, by_pose = _appearing_derivatives(camera, seen, shown, gap, by_intrinsics, by_pose)
    values = np.concatenate([uv - seen.uv, (predicted.rho - seen.rho)[:, None]], axis=1)
    unknown = ~np.isfinite(seen.rho)
    values[unknown, 2] = 0
    if by_intrinsics is not None and by_pose is not None:
        by_intrinsics[unknown, 2] = by_pose[unknown, 2] = 0
    return Residuals(values, by_intrinsics, by_pose)


def center_residuals(centers: Centers, camera: PlenopticCamera, *, derivatives: bool) -> tuple[Array, Array | None]:
    """Predicted less observed centres (n, 2) px, and their derivatives (n, 2, p) by the intrinsics."""
    values = predicted_center(centers.k, centers.l, camera) - centers.uv
    return values, predicted_center_jacobian(centers.k, centers.l, camera) if derivatives else None


def _appearing_derivatives(
    camera: PlenopticCamera, seen: Seen, shown: LightCentroids, gap: Array, by_intrinsics: Array, by_pose: Array
) -> tuple[Array, Array]:
    """Derivatives of (u, v, ρ), where (u, v) is the apparent position, from those of the thin-lens position and of ρ.

    x + gap · ȳ(x)/s = x_thin, differentiated: each x moves as x_thin less gap · ȳ/s at a fixed x would, over the pace
    at which chief rays advance with the pixels.
    """
    pixel, diameter = camera.sensor.pixel_size, camera.micro_lenses.lens_diameter
    names = {name: index for index, name in enumerate(intrinsic_names(camera))}
    shift = shown.shift[:, :, None] / pixel
    scale = 2 * pixel / diameter
    gap_by_intrinsics = scale * by_intrinsics[:, 2]
    pitches = [names["micro_lenses.pitch.x"], names["micro_lenses.pitch.y"]]
    # gap = 2 s ρ/B, where ρ goes with B: what B is made of does not change it.
    gap_by_intrinsics[:, pitches] -= (gap / (2 * camera.micro_lenses.pitch.mean()))[:, None]
    if CLEAR_APERTURE in names:
        gap_by_intrinsics[:, names[CLEAR_APERTURE]] = 0
    gap_by_intrinsics[:, names["sensor.pixel_size"]] += gap / pixel
    by_pose = by_pose.copy()
    by_pose[:, :2] -= shift * (scale * by_pose[:, 2])[:, None, :]
    by_intrinsics = by_intrinsics.copy()
    by_intrinsics[:, :2] -= shift * gap_by_intrinsics[:, None, :]
    # ȳ itself: by what the optics' distances are, and by the place of the micro-image's centre.
    strength = gap[:, None] / pixel
    by = dict(zip(VARIABLES, np.moveaxis(shown.by_variable, 1, 0), strict=True))
    first = names["micro_lenses.rotation.x"]
    if PUPIL_DIAMETER in names:
        by_intrinsics[:, :2, names[PUPIL_DIAMETER]] -= strength * by["aperture"]
    else:  # (F − e)/N
        f_number = camera.main_lens.f_number
        assert f_number is not None
        by_intrinsics[:, :2, names["main_lens.focal_length"]] -= strength * by["aperture"] / f_number
    if PUPIL_DISTANCE in names:  # a pupil nearer to the sensor has P less
        by_intrinsics[:, :2, names[PUPIL_DISTANCE]] += strength * by["pupil"]
        if PUPIL_DIAMETER not in names:
            by_intrinsics[:, :2, names[PUPIL_DISTANCE]] += strength * by["aperture"] / f_number
    by_mla, by_pitch = lens_center_jacobian(seen.k, seen.l, camera)
    of_depth = strength * (by["sensor"] - by["pupil"])  # a lens nearer to the pupil by 1 mm has P less and d more
    by_intrinsics[:, :2, first : first + 6] -= of_depth[:, :, None] * by_mla[:, None, 2]
    by_intrinsics[:, :2, first + 6 : first + 8] -= of_depth[:, :, None] * by_pitch[:, None, 2]
    by_intrinsics[:, :2, names["sensor.position.z"]] += strength * by["sensor"]
    clear = camera.micro_lenses.clear_aperture or 1.0
    by_intrinsics[:, :2, pitches] -= (strength * by["diameter"] * (clear / 2))[:, :, None]
    if CLEAR_APERTURE in names:
        by_intrinsics[:, :2, names[CLEAR_APERTURE]] -= strength * by["diameter"] * camera.micro_lenses.pitch.mean()
    types = camera.micro_images.lens_type(seen.k, seen.l)
    for lens_type in range(camera.type_count):
        mine = types == lens_type
        column = names[f"micro_lenses.focal_lengths.{lens_type}"]
        by_intrinsics[mine, :2, column] -= strength[mine] * by["focal"][mine]
    scaled = (shown.shift - (shown.by_offset @ shown.offset[..., None])[..., 0]) / pixel
    by_intrinsics[:, :2, names["sensor.pixel_size"]] += strength * scaled
    center = predicted_center_jacobian(seen.k, seen.l, camera)
    by_intrinsics[:, :2] += gap[:, None, None] * (shown.by_offset @ center)
    pace = np.eye(2) + gap[:, None, None] * shown.by_offset
    by_intrinsics[:, :2] = np.linalg.solve(pace, by_intrinsics[:, :2])
    by_pose[:, :2] = np.linalg.solve(pace, by_pose[:, :2])
    return by_intrinsics, by_pose
