"""The sums that a solver needs of many residuals, by compiled loops: products of whitened derivatives and residuals.

For derivatives J and residuals r these are the entries of [J r]ᵀ [J r]. The derivatives are by steps from the moved
camera (`perturbed_camera`) and the moved pose (`Pose.perturbed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.bundle.kernels import rows as kernel
from plenodepth.camera.aperture.clipping import aperture_diameter
from plenodepth.camera.micro_lenses import unit_lens_position
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import (
    CLEAR_APERTURE,
    PUPIL_DIAMETER,
    PUPIL_DISTANCE,
    PUPIL_OFFSET,
    intrinsic_names,
    optional_names,
)
from plenodepth.geometry import Pose

if TYPE_CHECKING:
    from plenodepth.calib.bundle.problem import Weighted, WeightedCenters

POSE = 6


def packed(camera: PlenopticCamera, aperture: bool) -> Array:
    """The optics as the kernels take them: numbers in the order of `kernels.rows`."""
    lenses, sensor, lens = camera.micro_lenses, camera.sensor, camera.main_lens
    wide = aperture_diameter(camera) if aperture else np.nan
    own_diameter = lens.exit_pupil is not None and lens.exit_pupil.diameter is not None
    f_number = np.nan if lens.f_number is None else lens.f_number
    return np.array(
        [
            lens.focal_length,
            *camera.distortion.coefficients,
            *lenses.cam_from_mla.rotation.ravel(),
            *lenses.cam_from_mla.translation,
            *lenses.pitch,
            *sensor.position,
            sensor.pixel_size,
            sensor.width - 1,
            sensor.height - 1,
            wide,
            np.inf if own_diameter else f_number,  # dF/dA and −de/dA
            *lens.pupil_center,
            1.0 if lenses.clear_aperture is None else lenses.clear_aperture,
            *lenses.focal_lengths,
        ]
    )


def optional_places(camera: PlenopticCamera) -> NDArray[np.int64]:
    """Places (5,) among the intrinsics of those that not every camera has; −1 where it has them not."""
    names = intrinsic_names(camera)
    order = (PUPIL_DISTANCE, *PUPIL_OFFSET, PUPIL_DIAMETER, CLEAR_APERTURE)
    return np.array([names.index(name) if name in names else -1 for name in order])


class FeatureRows:
    """The features of a board in a frame, with p intrinsics."""

    def __init__(self, weighted: Weighted, camera: PlenopticCamera, aperture: bool) -> None:
        seen = weighted.seen
        self.aperture, self.common, self.common_rho = aperture, weighted.common, weighted.common_rho
        types = camera.micro_images.lens_type(seen.k, seen.l)
        self.seen = tuple(
            map(
                np.ascontiguousarray,
                (seen.points, unit_lens_position(seen.k, seen.l, camera), types, seen.uv, seen.rho),
            )
        )
        self.root, self.places = np.ascontiguousarray(weighted.root), optional_places(camera)
        self.rows = np.empty((len(self.root), 3, len(intrinsic_names(camera)) + POSE + 1))

    def products(self, optics: Array, cam_from_board: Pose, derivatives: bool) -> Array | None:
        """[J r]ᵀ [J r], (p + 7, p + 7), or [[r · r]] without derivatives; None where a board forms no image."""
        rows = self.rows
        pose = cam_from_board.rotation, cam_from_board.translation
        if not kernel.feature_rows(*self.seen, self.root, *pose, optics, self.places, self.aperture, derivatives, rows):
            return None
        column = 0 if derivatives else rows.shape[2] - 1
        for common, first, end in ((self.common, 0, 2), (self.common_rho, 2, 3)):
            if common is not None:
                totals = np.empty((len(common.pull), rows.shape[2]))
                kernel.take_common(rows, first, end, common.group, common.share, common.pull, totals, column)
        return _products(rows, derivatives)


class CenterRows:
    """The centres of micro-images."""

    def __init__(self, weighted: WeightedCenters, camera: PlenopticCamera) -> None:
        centers = weighted.centers
        self.unit = np.ascontiguousarray(unit_lens_position(centers.k, centers.l, camera))
        self.uv, self.root = np.ascontiguousarray(centers.uv), np.ascontiguousarray(weighted.root)
        self.count = len(intrinsic_names(camera))
        sensor = self.count - len(optional_names(camera)) - 4
        pupil = [place for place in optional_places(camera)[:3] if place >= 0]
        columns = [*range(kernel.BY_ROTATION, kernel.BY_FOCALS), *range(sensor, sensor + 4), *pupil]
        self.places = np.array([*columns, self.count])
        self.rows = np.empty((len(self.unit), 2, len(columns) + 1))

    def products(self, optics: Array, derivatives: bool) -> Array:
        """[J r]ᵀ [J r], (p + 1, p + 1), or [[r · r]] without derivatives."""
        kernel.center_rows(self.unit, self.uv, self.root, optics, derivatives, self.rows)
        own = _products(self.rows, derivatives)
        if not derivatives:
            return own
        products = np.zeros((self.count + 1, self.count + 1))
        products[np.ix_(self.places, self.places)] = own
        return products


def _products(rows: Array, derivatives: bool) -> Array:
    flat = rows.reshape(-1, rows.shape[2])
    if not derivatives:
        flat = flat[:, -1:].copy()
    return np.asarray(flat.T @ flat)
