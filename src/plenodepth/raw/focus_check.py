"""Is the main lens focused as when the camera was calibrated? The spread of the micro-images tells.

Micro-images lie a little farther apart than their lenses, by the factor 1 + d/D. The farther away the main lens
focuses, the smaller is D, and the larger their pitch. The lines of the spectrum know the pitch of a full frame to a few
millionths: a change of focus shows there long before micro-images can be seen to lie beside the grid.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, PlenopticCamera, image_size
from plenodepth.raw.grid_check import LatticeOffset, even_light, lowest_frequencies
from plenodepth.raw.image import PitchCheck
from plenodepth.raw.lattice_lines import Lines, lines_of, moved
from plenodepth.raw.line_errors import best_nearby, errors_of

BINNED_PITCH = 10.0  # px: pixels are taken together until the pitch is little more than that
LEAST_LENSES = 40  # across and down: smaller images know no pitch that well, nor how well they know it
LEAST_ERROR = 3e-6  # relative: white images of right cameras are up to 2e-6 off


def measured_spread(image: NDArray[Any], camera: PlenopticCamera, offset: LatticeOffset) -> PitchCheck | None:
    """How far apart the micro-images of a raw image (h, w) or (h, w, 3) lie; None for a small image.

    `offset` is where the image shows them, as of `check_grid`.
    """
    grid = camera.micro_images
    bins = max(1, int(grid.lattice.diameter / BINNED_PITCH))
    if min(grid.lattice.columns, grid.lattice.rows) < LEAST_LENSES:
        return None
    light = _binned(image, bins)
    lines = lines_of([light], lowest_frequencies(grid)[:2] * bins)
    middle = (np.array(lines.size) * bins - 1) / 2
    lines = moved(_as_a_lattice(lines, camera, middle, bins), 0.0, 0.0)
    nearest = grid.lattice.nearest(grid.image_from_lattice.inverse()(middle))
    place = (grid.center(*nearest) - middle + offset.shift) / bins
    at = best_nearby(lines, np.array([offset.scale, offset.rotation, *place]))
    error = max(float(errors_of(lines, at)[0]), LEAST_ERROR)
    return PitchCheck(float(at[0]), error, float(np.hypot(*image_size(camera))) / 2)


def _binned(image: NDArray[Any], bins: int) -> NDArray[np.float32]:
    """The light of squares of pixels: a small image, without a colour pattern if the squares are even."""
    height, width = (side // bins for side in image.shape[:2])
    light = even_light(image[: height * bins, : width * bins])
    if bins > 1:
        light = np.asarray(cv2.resize(light, (width, height), interpolation=cv2.INTER_AREA), np.float32)
    return light


def _as_a_lattice(lines: Lines, camera: PlenopticCamera, middle: Array, bins: int) -> Lines:
    """The lines of an image whose micro-images lie on a lattice: where the optics put them beside it is undone."""
    place = np.stack(np.meshgrid(lines.x * bins + middle[0], lines.y * bins + middle[1]), axis=-1)  # (rows, columns, 2)
    grid = camera.micro_images
    k, l = grid.lattice.nearest(grid.image_from_lattice.inverse()(place))
    beside: Array = predicted_center(k, l, camera) - grid.center(k, l)
    phase = np.einsum("nc,rkc->nrk", lines.orders @ lines.start, beside / bins)
    return replace(lines, blocks=lines.blocks * np.exp(2j * np.pi * phase))
