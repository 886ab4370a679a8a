"""What compiled loops need of a camera to tell where its pixels look, packed once per camera.

The formulas are those of `camera.unproject` and `camera.chief_ray_position`, which stay the oracle. Only one thing is
computed otherwise: the centroid of the open part of a micro-lens comes from a table. In units of the lens' radius it
depends on two numbers, the radius R of the pupil as the lens shows it and how far the pixel has moved that disc, c.
R differs by the lens type and, if the array is tilted, a little from lens to lens: each type has a table for some
values of R, and lenses interpolate between two of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.camera.aperture.chief_ray import LEAST_OVERLAP
from plenodepth.camera.aperture.clipping import pupil_on_lens
from plenodepth.camera.depth import depth_scale_coefficients
from plenodepth.camera.micro_lenses import focal_length, lens_center, lens_distances, predicted_center
from plenodepth.geometry.discs import common_area_and_first

Float64 = NDArray[np.float64]

ENTRIES = 1024  # of a table, from the centre to the last pixel that gets light
LARGEST_STEP = 0.002  # relative difference between the R of neighbouring tables


class PixelOptics(NamedTuple):
    """A camera for compiled functions; J lenses, index l · columns + k. Lengths in mm, places in the image in px."""

    lens_center: Float64  # (J, 3) C, camera frame
    sensor: Float64  # (4,): x and y of the image's place (0, 0), the sensor's z, and the pixel's size
    focal: float  # F of the main lens
    distortion: Float64  # (5,) Q1, Q2, Q3, P1, P2
    depth_scale: Float64  # (3,) γ0, γ1, γ2; 0, 1, 0 where there is none
    clipped: bool  # whether the aperture decides where a pixel looks; if not, nothing below counts
    pupil_image: Float64  # (J, 2) px: where each lens shows the middle of the pupil
    inverse_focus: Float64  # (J,) 1/v0
    per_pixel: Float64  # (J,) 1/px: what a distance from the pupil's image is multiplied by; at 1 the light ends
    table: NDArray[np.int32]  # (J,) the first of the two tables of each lens …
    part: Float64  # (J,) … and how much of the second is in it
    centroid: Float64  # (tables + 1, ENTRIES) px


@lru_cache(maxsize=2)  # for the cloud and the central view of many frames
def pixel_optics(camera: PlenopticCamera, *, clipped: bool) -> PixelOptics:
    """Pack a camera. `clipped`: pixels look along the chief rays of its aperture, not through the lens' centre."""
    indices = camera.micro_images.lattice.indices()
    center, sensor = lens_center(*indices, camera).reshape(-1, 3), camera.sensor
    corner = sensor.metric_from_image([0, 0])
    one = np.zeros(1)
    optics = PixelOptics(
        lens_center=np.ascontiguousarray(center),
        sensor=np.array([corner[0], corner[1], sensor.position[2], sensor.pixel_size]),
        focal=camera.main_lens.focal_length,
        distortion=np.array(camera.distortion.coefficients),
        depth_scale=depth_scale_coefficients(camera),
        clipped=False,
        pupil_image=np.zeros((1, 2)),
        inverse_focus=one,
        per_pixel=one,
        table=np.zeros(1, np.int32),
        part=one,
        centroid=np.zeros((2, 2)),
    )
    return _with_aperture(optics, camera) if clipped and camera.type_count else optics


def _with_aperture(optics: PixelOptics, camera: PlenopticCamera) -> PixelOptics:
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    pupil, pixel = pupil_on_lens(k, l, camera), camera.sensor.pixel_size
    half = camera.micro_lenses.lens_diameter / 2
    radius, last = pupil.radius / half, 1 - LEAST_OVERLAP + pupil.radius / half
    types = camera.micro_images.lens_type(k, l)
    tables, first, part = list[Float64](), np.zeros(len(k), np.int32), np.zeros(len(k))
    for lens_type in range(camera.type_count):
        mine = types == lens_type
        low, high = float(radius[mine].min()), float(radius[mine].max())
        count = 2 + int((high - low) / (LARGEST_STEP * high))
        place = (radius[mine] - low) / max(high - low, 1e-12) * (count - 1)
        step = np.minimum(place.astype(np.int32), count - 2)
        first[mine], part[mine] = len(tables) + step, place - step
        side = float(np.sign(pupil.ratio[mine][0]))
        tables += [side * half / pixel * _centroids(at) for at in np.linspace(low, high, count)]
    return optics._replace(
        clipped=True,
        # In one order of its axes, as without an aperture: for another all kernels would be compiled once more.
        pupil_image=np.ascontiguousarray(predicted_center(k, l, camera)),
        inverse_focus=1 - lens_distances(camera, k, l).to_sensor / focal_length(k, l, camera),
        per_pixel=pixel * np.abs(pupil.ratio) / (half * last),
        table=first,
        part=part,
        centroid=np.array(tables),
    )


def _centroids(radius: float) -> Float64:
    """Centroid (ENTRIES,) of what disc(0, 1) and disc(c, radius) have in common, c from 0 to where the light ends."""
    distance = np.linspace(0, 1 - LEAST_OVERLAP + radius, ENTRIES)
    area, first = common_area_and_first(1.0, radius, distance)
    return np.asarray(first / area)
