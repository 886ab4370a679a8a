"""Some bands of rows of micro-images over the height of an image: enough to try a question on, and quick."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera, cropped_camera
from plenodepth.camera.model import image_size
from plenodepth.raw.image import RawImage

AnyCamera = TypeVar("AnyCamera", bound=PlenopticCamera | GridCamera)

BANDS = 3  # over the height of the image,
BAND_ROWS = 8  # each of so many rows of micro-images: more than twice as far as neighbours are compared


def bands(image: RawImage, camera: AnyCamera) -> list[tuple[RawImage, AnyCamera]]:
    """Some bands of an image, each with a camera of its own; of a small camera the whole."""
    rows = camera.micro_images.lattice.rows
    if rows <= BANDS * BAND_ROWS:
        return [(image, camera)]
    starts = np.linspace(0, rows - BAND_ROWS, 2 * BANDS + 1)[1::2].astype(int)  # not at the borders
    return [_band(image, camera, int(start)) for start in starts]


def _band(image: RawImage, camera: AnyCamera, first: int) -> tuple[RawImage, AnyCamera]:
    """The part of image and camera that holds the rows `first` … of micro-images."""
    grid, (width, height) = camera.micro_images, image_size(camera)
    columns = np.arange(grid.lattice.columns)
    down = grid.center(columns, np.array([[first], [first + BAND_ROWS - 1]]))[..., 1]
    top = int(max(np.floor(down.min() - grid.radius), 0))
    bottom = int(min(np.ceil(down.max() + grid.radius) + 1, height))
    part = replace(image, gray=np.ascontiguousarray(image.gray[top:bottom]), color=None)
    return part, cropped_camera(camera, (0, top), (width, bottom - top))
