"""Where a view from a place in the pupil sees the pixels of each lens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, metric_from_virtual
from plenodepth.camera.pinhole import Pinhole, central_pinhole
from plenodepth.metric.dense.places import lens_places

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

STEP = 0.45 / 39  # in 1/v, between the values for which places are known


@dataclass(frozen=True, eq=False)
class ViewPlaces:
    """Where a view sees the pixels of J lenses at n values of 1/v: `places` (J, n, 4) are of `find_lens_places`."""

    places: Float32
    inverse_depths: Float32  # (n,), evenly spaced, ascending
    depths: Float64  # (J, n) mm along z from the main lens, or virtual
    scale: float  # side of a pixel of the view, in pixels of the sensor

    def scaled(self, scale: float) -> Float32:
        """The places (J, n, 4) for a view with pixels of another size."""
        return np.asarray(self.places * np.float32(self.scale / scale), np.float32)

    def seen_from(
        self, camera: PlenopticCamera | GridCamera, offset: tuple[float, float], converge: float
    ) -> ViewPlaces:
        """As seen from beside the middle of the pupil: `offset` to the right and downwards.

        In mm; for a camera that is known by its grid only, in px of a micro-image. What lies at the depth `converge`
        stays where it is.
        """
        if offset == (0.0, 0.0):
            return self
        places = self.places.copy()
        shift = shift_per_offset(camera, self.depths, converge, self.scale)
        places[..., 0] += offset[0] * shift
        places[..., 1] += offset[1] * shift
        return ViewPlaces(places, self.inverse_depths, self.depths, self.scale)


def shift_per_offset(
    camera: PlenopticCamera | GridCamera, depths: NDArray[np.floating], converge: float, scale: float
) -> Float64:
    """px of a view by which what lies at some depths moves per unit of offset of the viewpoint."""
    if isinstance(camera, GridCamera):
        return np.asarray((converge - depths) / scale, np.float64)
    focal = camera.main_lens.focal_length / camera.sensor.pixel_size / scale
    return np.asarray(focal * (1 / converge - 1 / depths), np.float64)


def view_places(camera: PlenopticCamera | GridCamera, lowest: float, highest: float, scale: float) -> ViewPlaces:
    """The places of the central view for 1/v from `lowest` to `highest`, and a step beyond them."""
    step = min(STEP, 0.5 * min(abs(lowest), abs(highest)))  # 1/v does not pass through 0
    count = max(int(np.ceil((highest - lowest) / step)), 1)
    inverse = (lowest + step * np.arange(-1, count + 2)).astype(np.float32)
    virtual = 1 / inverse.astype(np.float64)
    k, l = (index.ravel()[:, None] for index in camera.micro_images.lattice.indices())
    depths = np.broadcast_to(virtual, (len(k), len(virtual)))
    if isinstance(camera, PlenopticCamera):
        depths = metric_from_virtual(depths, camera, k, l, invalid="nan")
    return ViewPlaces(lens_places(camera, inverse, scale), inverse, depths, scale)


def pinhole_of_view(
    camera: PlenopticCamera, scale: float, offset: tuple[float, float] = (0.0, 0.0), converge: float = np.inf
) -> Pinhole:
    """The pinhole of a view from `offset` mm beside the middle of the pupil; its axis goes on through where it was."""
    middle = central_pinhole(camera, scale)
    shift = middle.fx * np.asarray(offset) / converge
    return Pinhole(middle.fx, middle.fy, middle.cx + shift[0], middle.cy + shift[1], np.array([*offset, 0.0]))
