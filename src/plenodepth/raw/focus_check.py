"""Is the main lens focused as when the camera was calibrated? The spread of the micro-images tells.

Micro-images lie a little farther apart than their lenses, by the factor 1 + d/D. The farther away the main lens
focuses, the smaller is D, and the larger their pitch. The lines of the spectrum know the pitch of a full frame to a few
millionths: a change of focus shows there long before micro-images can be seen to lie beside the grid.

A white image taken at the same focus tells more than an image of a scene, which pulls the lattice to and fro. Without
vignetting both show it by the borders of the micro-images alone. These look shifted where the scene or the light at
them is uneven, all over a part of the frame alike, so that its pieces do not disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.crop import cropped_camera
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, PlenopticCamera, image_size
from plenodepth.raw.align import NO_SCENE, WHITE_BLOCKS
from plenodepth.raw.grid_check import LatticeOffset, even_light, lattice_offset, lowest_frequencies
from plenodepth.raw.image import CLEAR_SPREAD, PitchCheck, Source
from plenodepth.raw.lattice_lines import Lines, lines_of, moved
from plenodepth.raw.line_errors import best_nearby, errors_of

BINNED_PITCH = 10.0  # px: pixels are taken together until the pitch is little more than that
LEAST_LENSES = 40  # across and down: smaller images know no pitch that well, nor how well they know it
LEAST_ERROR = 3e-6  # relative: white images of right cameras are up to 2e-6 off
# Standard errors, px at the corners. With the right cameras white images are up to 0.024 px off, in quarters of R12
# frames at f/2; scenes whose lattice only borders show up to 0.17 px there, and 0.035 px in whole frames; boards across
# the whole frame, which make the lattice look sheared, up to 0.15 px in whole frames at f/4.
LEAST_OF_WHITE, LEAST_BY_A_SCENE = 0.008, 0.06
EDGE = 2.0  # pitches: lenses at the edge of the array lack neighbours, whose light would overlap theirs


def measured_spread(
    image: NDArray[Any], camera: PlenopticCamera, offset: LatticeOffset | None, source: Source = "image"
) -> PitchCheck:
    """How far apart the micro-images of a raw image (h, w) or (h, w, 3) lie; with an infinite error if it cannot tell.

    `offset` is where the image shows them, as of `check_grid`.
    """
    reach = float(np.hypot(*image_size(camera))) / 2
    lattice = camera.micro_images.lattice
    if offset is None or min(lattice.columns, lattice.rows) < LEAST_LENSES:
        return PitchCheck(0.0, np.inf, reach, source)
    edge = int(EDGE * lattice.diameter) // 2 * 2  # the colour pattern stays
    image = image[edge:-edge, edge:-edge]
    lines, at = _nearby(image, cropped_camera(camera, (edge, edge), (image.shape[1], image.shape[0])), offset)
    at = best_nearby(lines, at)
    pulled = offset.misled or not lines.shown_by_light(at)
    least = LEAST_OF_WHITE if source == "white image" else LEAST_BY_A_SCENE if pulled else 0.0
    error = max(float(errors_of(lines, at)[0]), LEAST_ERROR, least / reach)
    return PitchCheck(float(at[0]), error, reach, source)


def _nearby(image: NDArray[Any], camera: PlenopticCamera, offset: LatticeOffset) -> tuple[Lines, Array]:
    """The lines of an image, and the lattice (4,) near which the best one is."""
    grid = camera.micro_images
    bins = max(1, int(grid.lattice.diameter / BINNED_PITCH))
    lines = lines_of([_binned(image, bins)], lowest_frequencies(grid)[:2] * bins)
    middle = (np.array(lines.size) * bins - 1) / 2
    lines = moved(_as_a_lattice(lines, camera, middle, bins), 0.0, 0.0)
    nearest = grid.lattice.nearest(grid.image_from_lattice.inverse()(middle))
    own = (grid.center(*nearest) - middle) / bins
    if offset.misled:
        return lines, np.array([0.0, 0.0, *own])
    return lines, np.array([offset.scale, offset.rotation, *(own + offset.shift / bins)])


@dataclass
class WhiteSpread:
    """The spread of the micro-images of white images, found when it is first asked for: for a sequence, once."""

    found: PitchCheck | None = None

    def of(self, white: NDArray[Any], camera: PlenopticCamera) -> PitchCheck:
        """That of a white image (h, w) or (h, w, 3), as it was taken."""
        if self.found is None:
            offset = lattice_offset(white, camera.micro_images, WHITE_BLOCKS, scene=NO_SCENE)
            self.found = measured_spread(white, camera, offset, "white image")
        return self.found


def better_known(image: PitchCheck, white: PitchCheck) -> PitchCheck:
    """Of an image and its white image, the one that tells the focus of both better; the image if theirs differ."""
    differ = abs(image.scale - white.scale) > CLEAR_SPREAD * np.hypot(image.error, white.error)
    return white if white.error < image.error and not differ else image


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
