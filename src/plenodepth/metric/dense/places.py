"""Where the central view sees the pixels of each lens, and which lens is nearest to its pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.metric.central_view import pinhole_of
from plenodepth.metric.kernels.lens_places import find_lens_places
from plenodepth.metric.kernels.optics import pixel_optics
from plenodepth.metric.kernels.points import empty_row
from plenodepth.metric.kernels.sharp_view import BLOCK
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]

LENSES_AT_A_TIME = 2048


def lens_places(camera: PlenopticCamera | GridCamera, inverse_depths: Float32, scale: float) -> Float32:
    """Places (J, n, 4) in the central view of each lens' pixels at 1/v (n,): see `find_lens_places`.

    A camera that is known by its grid only has its view on the plane of the virtual image: a point at c + v x px.
    """
    grid = camera.micro_images
    center = grid.center(*grid.lattice.indices()).reshape(-1, 2)
    places = np.empty((len(center), len(inverse_depths), 4), np.float32)
    if isinstance(camera, GridCamera):
        places[..., :2] = (center[:, None] + 0.5) / scale
        places[..., 2:] = 1 / (scale * inverse_depths[:, None])
        return places
    optics, view = pixel_optics(camera, clipped=False), pinhole_of(camera, scale)
    given = optics, np.ascontiguousarray(center), inverse_depths, view

    def fill(lenses: slice) -> None:
        find_lens_places(lenses.start, lenses.stop, *given, empty_row(3 * len(inverse_depths)), places)

    each_band(len(center), fill, rows=LENSES_AT_A_TIME)
    return places


def nearest_lenses(places: Float32, shape: tuple[int, int]) -> NDArray[np.int32]:
    """The lens nearest to each block of `BLOCK` × `BLOCK` pixels of a view (h, w), for the middle hypothesis."""
    rows, columns = (np.arange(BLOCK / 2, side + BLOCK / 2, BLOCK) for side in shape)
    middle = np.stack(np.meshgrid(columns, rows), axis=-1)
    _, nearest = cKDTree(places[:, places.shape[1] // 2, :2]).query(middle)
    return np.asarray(nearest, np.int32)


def view_shape(camera: PlenopticCamera | GridCamera, scale: float) -> tuple[int, int]:
    """Height and width of the central view, px."""
    width, height = image_size(camera)
    return int(height // scale), int(width // scale)
