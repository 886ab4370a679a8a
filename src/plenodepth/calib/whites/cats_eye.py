"""Mechanical vignetting in white images: a second opening, as a lens' front rim, cuts the pupil into a cat's eye.

Seen from a micro-lens C mm off the axis, the rim stands s · C beside the pupil, in the pupil's plane: two displaced
discs, of which light passes what they have in common. A micro-image then ends earlier on one side, the more the farther
out it lies. That is its shape: how bright each micro-image is, with all that else darkens the border, is left free. So
the fit needs no flat field, and tells nothing of what cuts all pixels of a micro-image alike.

Distances and diameters of a rim are hardly told apart; s and the width of the rim in the pupil's plane are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from plenodepth.calib.whites.exit_pupil import WhiteSample, sample_whites
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.aperture.clipping import aperture_diameter, disc_on_lens
from plenodepth.camera.micro_lenses import lens_center, lens_distances
from plenodepth.camera.model import Array

LENSES_SAMPLED = 60
PIXELS = 70  # of a micro-image, at most
ACROSS = 15  # points across a micro-lens at which it is open or not
STARTS = tuple((s, wide) for s in (-0.6, -0.3, -0.1, 0.1, 0.3, 0.6) for wide in (1.0, 1.15))
EVALUATIONS = 40
WIDEST = 3.0  # of the pupil's width: a rim beyond cuts nothing
BORDER = 0.8  # of the largest distance from the axis: lenses beyond are at the border
LEAST_CUT = 0.01  # of a border micro-image's light
LEAST_EXPLAINED = 0.005  # of the squares that the pupil alone leaves


@dataclass(frozen=True)
class CatsEye:
    """A rim beside the pupil, fitted to white images, at the camera's f-number."""

    offset: float  # s: mm in the pupil's plane for each mm of a micro-lens from the axis
    offset_error: float  # its standard error
    width: float  # of the rim in the pupil's plane, over that of the pupil
    cut: float  # part of the light that it takes from micro-images at the border of the field
    explained: float  # part of the squares that the pupil alone leaves
    field: float  # mm, of the border from the axis

    @property
    def shows(self) -> bool:
        """Whether the images clearly show it."""
        return self.cut >= LEAST_CUT and self.explained >= LEAST_EXPLAINED

    def __str__(self) -> str:
        """What it is, in words."""
        return (
            f"mechanical vignetting: cat's eyes take {100 * self.cut:.1f} % of the light of micro-images at the border "
            f"({self.field:.1f} mm from the axis), as by a rim {self.width:.2f} times as wide as the pupil that moves "
            f"{self.offset:+.2f} ± {self.offset_error:.2f} mm beside it for each mm of field"
        )


def fit_cats_eye(whites: Mapping[float, NDArray[Any]], camera: PlenopticCamera) -> CatsEye:
    """Fit a rim to white images, linear light without black level by f-number.

    The pupil's place and width are fitted along with it. Pupils go as 1/N, the rim does not: where the lens is stopped
    down, it cuts nothing.
    """
    samples = [_Rays(sample, camera) for sample in sample_whites(whites, camera, LENSES_SAMPLED, PIXELS)]
    number = camera.main_lens.f_number or min(whites)

    def residuals(parameters: Array) -> Array:
        return np.concatenate([rays.residuals(parameters, number) for rays in samples])

    def without_rim(pupil: Array) -> Array:
        return residuals(np.array([*pupil, 0.0, WIDEST]))

    alone = least_squares(without_rim, [0.0, 1.0], x_scale=0.1)
    limits = ([-1.0, 0.3, -0.95, 0.3], [1.0, 3.0, 0.95, WIDEST])
    begun = min(
        (np.array([*alone.x, s, wide * alone.x[1]]) for s, wide in STARTS),
        key=lambda start: float((residuals(start) ** 2).sum()),
    )
    found = least_squares(residuals, begun, bounds=limits, x_scale=0.1, max_nfev=EVALUATIONS)
    slopes = np.asarray(found.jac, dtype=np.float64)
    variance = 2 * found.cost / max(len(found.fun) - len(found.x), 1)
    errors = np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)) * variance)
    widest = min(samples, key=lambda rays: rays.f_number)
    return CatsEye(
        offset=float(found.x[2]),
        offset_error=float(errors[2]),
        width=float(found.x[3] / found.x[1]),
        cut=widest.cut(np.asarray(found.x), number),
        explained=1 - float(found.cost / max(alone.cost, 1e-300)),
        field=float(widest.field.max()),
    )


class _Rays:
    """Light (n, p) of n micro-images of one white image, and what their lenses' open parts make of it.

    Parameters: how much farther out than the camera has it the pupil's middle appears, as a part of d/D; the widths of
    pupil and rim, in nominal apertures at the camera's f-number; and s.
    """

    def __init__(self, sample: WhiteSample, camera: PlenopticCamera) -> None:
        self.f_number, self.light = sample.f_number, sample.light
        self.lens = lens_center(sample.k, sample.l, camera)[:, :2] - camera.main_lens.pupil_center[:2]  # (n, 2) mm
        self.field = np.hypot(*self.lens.T)
        distances = lens_distances(camera, sample.k, sample.l)
        self.main, self.sensor = (np.asarray(value, dtype=np.float64) for value in distances)
        self.to_pixel = sample.place - sample.middle[:, None]  # (n, p, 2) mm from the pupil's middle
        types = sample.lens_type
        focal = camera.micro_lenses.focal_lengths
        self.inverse_focal = 1 / focal[types] if camera.type_count else np.zeros(len(types))
        self.nominal = float(aperture_diameter(camera))
        half = camera.micro_lenses.lens_diameter / 2
        side = (np.arange(ACROSS) - (ACROSS - 1) / 2) * (2 * half / ACROSS)
        points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        self.points, self.step = points[np.hypot(*points.T) <= half], 2 * half / ACROSS

    def opened(self, parameters: Array, number: float) -> Array:
        """Open part (n, p) of each pixel's lens."""
        shift, wide, offset, rim_wide = parameters
        pupil_from = self.to_pixel - (shift * self.sensor / self.main)[:, None, None] * self.lens[:, None]
        stopped = wide * self.nominal * number / self.f_number
        open_part = self._within(self.main, stopped, pupil_from)
        if rim_wide < WIDEST:
            # A disc s · C beside the pupil in its plane is one at R = P/(1 + s), 1/(1 + s) as wide.
            distance = self.main / (1 + offset)
            moved = pupil_from - (self.sensor * (1 / distance - 1 / self.main))[:, None, None] * self.lens[:, None]
            open_part = open_part * self._within(distance, rim_wide * self.nominal / (1 + offset), moved)
        return np.asarray(open_part.mean(axis=-1))

    def _within(self, distance: Array, diameter: float, to_pixel: Array) -> Array:
        """How far the points (q, 2) of a lens see through a disc (n, p, q): 1 or 0, and in between at its edge."""
        disc = disc_on_lens(distance, self.sensor, self.inverse_focal, diameter)
        middle = disc.ratio[:, None, None] * to_pixel
        away = np.hypot(self.points[:, 0] - middle[..., :1], self.points[:, 1] - middle[..., 1:])
        return np.asarray(np.clip((disc.radius[:, None, None] - away) / self.step + 0.5, 0, 1))

    def residuals(self, parameters: Array, number: float) -> Array:
        """Measured minus fitted light, with the best brightness for each micro-image."""
        area = self.opened(parameters, number)
        gain = (self.light * area).sum(axis=1) / np.maximum((area**2).sum(axis=1), 1e-300)
        return np.asarray((self.light - gain[:, None] * area).ravel())

    def cut(self, parameters: Array, number: float) -> float:
        """Part of the light of micro-images at the border that the rim takes away."""
        border = self.field >= BORDER * self.field.max()
        whole = self.opened(np.array([*parameters[:3], WIDEST]), number)[border]
        return 1 - float(self.opened(parameters, number)[border].sum() / whole.sum())
