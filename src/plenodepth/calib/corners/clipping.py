"""How the aperture clips the blur of pixels, as the fit of corners needs it; without a camera, not at all.

The chief ray of a clipped pixel is another than that of an open one, and its blur is smaller. Both change over the
width of a corner, which would shift a fitted corner outwards by up to a third of a pixel (R12 at f/4). See
`aperture.chief_ray`.

Two smaller effects amount to hundredths of a pixel. The open part of a lens is no disc: `clipping` can sample it
(`aperture.quadrature`) instead of using its moments. And more of a pixel's light falls on the side where more of the
lens is open: with the vignetting V, the centroid of the light is ∇ln V / 12 from the pixel's centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plenodepth.camera import PlenopticCamera, aperture_table, lens_distances
from plenodepth.camera.aperture.clipping import ApertureTable
from plenodepth.camera.aperture.quadrature import open_nodes
from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import Array, Indices, MicroImageArray

PIXEL_VARIANCE = 1 / 12  # px², of the light that one pixel collects
LEAST_AREA = 1e-3  # of a lens
SLICES, CELLS = 5, 3  # of what is open, along and across


@dataclass(frozen=True, eq=False)
class Clipping:
    """What the fits of n corners need: where their lenses show the pupil, how far out of focus they are, and tables."""

    middle: Array  # (n, 2) px: where the lens shows the middle of the pupil
    gap: Array  # (n,) 1/v − 1/v0; 0 without a camera
    lens_type: Indices  # (n,) row of the table
    table: (
        Array  # (types, m, 4): centroid px; variances along and across over that of the open lens; middle of light px
    )
    nodes: Array  # (types, m, n, 2): points of what is open from the centroid, in deviations of the open lens
    step: float  # px between the entries of the table
    floor: float  # px², of what blurs beside the micro-lens


def no_clipping(micro_images: MicroImageArray, k: Indices, l: Indices) -> Clipping:
    """No clipping: every pixel has the chief ray through the lens' centre, and the same blur."""
    table = np.tile([0.0, 1.0, 1.0, 0.0], (1, 2, 1))
    none = np.zeros(len(k))
    center = np.ascontiguousarray(micro_images.center(k, l).reshape(-1, 2))
    return Clipping(center, none, none.astype(np.int64), table, np.zeros((1, 2, 1, 2)), 10 * micro_images.radius, 0.0)


def clipping(
    k: Indices, l: Indices, virtual_depth: Array, camera: PlenopticCamera, *, shaped: bool = False
) -> Clipping:
    """The clipping by the optics of a camera with focal lengths and an f-number, at virtual depths (n,) of corners.

    `shaped`: with points all over what is open, so that fits take longer; the variances are then of what lies about
    each point.
    """
    table = aperture_table(camera)
    pixel = camera.sensor.pixel_size
    open_variance = (camera.micro_lenses.lens_diameter / pixel / 4) ** 2
    variance = np.stack([table.variance_along, table.variance_across], axis=-1) / open_variance
    nodes = np.zeros((*table.centroid.shape, 1, 2))
    if shaped:
        count = range(camera.type_count)
        points = np.stack([open_nodes(table.radius * pixel, i, camera, SLICES, CELLS) for i in count]) / pixel
        nodes = (points - points.mean(axis=2, keepdims=True)) / np.sqrt(open_variance)
        variance = np.maximum(variance - (nodes**2).mean(axis=2), 0)
    middle = predicted_center(k, l, camera)
    types = camera.micro_images.lens_type(k, l)
    focal = camera.micro_lenses.focal_lengths[types]
    inverse_focus = 1 - lens_distances(camera, k, l).to_sensor / focal
    shape = [table.centroid, variance[..., 0], variance[..., 1], _middle_of_light(table)]
    return Clipping(
        np.ascontiguousarray(middle),
        1 / virtual_depth - inverse_focus,
        np.ascontiguousarray(types),
        np.ascontiguousarray(np.stack(shape, axis=-1)),
        np.ascontiguousarray(nodes),
        float(table.radius[1]),
        PIXEL_VARIANCE,
    )


def _middle_of_light(table: ApertureTable) -> Array:
    """Radial offset (types, m) px of the centroid of a pixel's light, mostly negative; at most half a pixel."""
    slope = np.gradient(table.area, table.radius, axis=1) / np.maximum(table.area, LEAST_AREA)
    return np.asarray(np.clip(PIXEL_VARIANCE * slope, -0.5, 0.5))


def knows_clipping(camera: PlenopticCamera | None) -> bool:
    """Whether a camera has what `clipping` needs."""
    return camera is not None and camera.type_count > 0 and camera.main_lens.f_number is not None


def chief_ray_positions(clip: Clipping, uv: Array) -> Array:
    """The thin-lens places (n, 2) px of what pixels (n, 2) of the n corners' micro-images show."""
    away = uv - clip.middle
    distance = np.linalg.norm(away, axis=1)
    shift = clip.gap * _interpolated(clip, distance)
    return np.asarray(uv + away * (shift / np.maximum(distance, 1e-9))[:, None])


def apparent_positions(clip: Clipping, thin: Array, covariance: Array) -> tuple[Array, Array]:
    """The pixels (n, 2) whose chief rays meet thin-lens places (n, 2), and their covariance (n, 2, 2).

    NaN where there is no such pixel, or the place is NaN. The inverse of `chief_ray_positions`, by Newton's method
    along the ray from the pupil's image.
    """
    away = thin - clip.middle
    target = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
    place, slope = target.copy(), np.ones(len(target))
    small = clip.step / 2
    limit = clip.step * (clip.table.shape[1] - 1)
    for _ in range(30):
        ahead, behind = (_interpolated(clip, np.maximum(place + sign * small, 0)) for sign in (1, -1))
        slope = np.maximum(1 + clip.gap * (ahead - behind) / (2 * small), 0.2)
        error = place + clip.gap * _interpolated(clip, place) - target
        place = np.clip(place - error / slope, 0, limit)
    reached = np.abs(error) < 1e-3
    radial, tangential = 1 / slope, place / target
    unit = away / target[:, None]
    along = unit[:, :, None] * unit[:, None, :]
    jacobian = radial[:, None, None] * along + tangential[:, None, None] * (np.eye(2) - along)
    uv = np.where(reached[:, None], clip.middle + unit * place[:, None], np.nan)
    return uv, jacobian @ covariance @ jacobian.transpose(0, 2, 1)


def _interpolated(clip: Clipping, distance: Array) -> Array:
    """The centroid (n,) px at distances (n,) px from the pupil's image."""
    spot = np.minimum(np.nan_to_num(distance) / clip.step, clip.table.shape[1] - 1.001)
    low = spot.astype(np.int64)
    part = spot - low
    table = clip.table[:, :, 0]
    return np.asarray((1 - part) * table[clip.lens_type, low] + part * table[clip.lens_type, low + 1])
