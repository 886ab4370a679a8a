"""How much of each spatial frequency the samples of a micro-image keep: pixel, defocus and open part of the lens.

A sample shows the scene averaged over the open part of its lens, magnified by (1/v − 1/v0) v, and over its pixel,
magnified by v. The micro-image's rim, which sees through a sliver of the lens, is sharp along its radius.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
from plenodepth.camera.aperture.clipping import disc_of_pupil
from plenodepth.camera.model import ApertureModel
from plenodepth.render.opening import LEAST_OPEN, Opening

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

POINTS = 24  # across a lens, to average over its open part
RADII = 12
ANGLES = 24  # of a frequency to the radius of the micro-image, over half a turn
DEFOCUS = np.linspace(0, 0.16, 65)  # cycles per px of the lens' shift: (1/v − 1/v0) v f


class LensTransfer(NamedTuple):
    """Transfer of what pixels see through, for frequencies along `ANGLES` directions from their radius."""

    radius: Float64  # (r,) px from the micro-image's centre
    area: Float64  # (I, r)
    spread: Float64  # (I, r) px²
    value: Float64  # (I, r, ANGLES, len(DEFOCUS)): mean of cos(2π f·(y − ȳ))
    focus: Float64  # (I,)


def lens_transfer(camera: PlenopticCamera | GridCamera, model: ApertureModel, opening: Opening) -> LensTransfer:
    """The table of a camera whose depths were found by an aperture model."""
    last = camera.micro_images.radius - 1.0
    radius = (np.arange(RADII) + 0.5) / RADII * last
    entry = np.rint(radius * opening.per_px).astype(int)
    types = len(opening.focus)
    angle = np.arange(ANGLES) * np.pi / ANGLES
    value = np.ones((types, RADII, ANGLES, len(DEFOCUS)))
    if isinstance(camera, PlenopticCamera) and camera.type_count:
        pixel, half = camera.sensor.pixel_size, camera.micro_lenses.lens_diameter / 2
        side = (np.arange(POINTS) + 0.5) / POINTS * 2 - 1
        across, along = (half * part.ravel() for part in np.meshgrid(side, side))
        inside = along**2 + across**2 <= half**2
        along, across = along[inside], across[inside]
        main, sensor = lens_distances(camera)
        for kind in range(types):
            for number, place in enumerate(radius * pixel):
                seen = np.ones(along.shape, bool)
                if model == "per_pixel":
                    pupil = disc_of_pupil(main, sensor, kind, camera)
                    seen = (along - float(pupil.ratio) * place) ** 2 + across**2 <= float(pupil.radius) ** 2
                if not seen.any():
                    continue
                y = np.stack([along[seen] - along[seen].mean(), across[seen]]) / pixel
                shift = np.cos(angle)[:, None] * y[0] + np.sin(angle)[:, None] * y[1]
                value[kind, number] = np.cos(2 * np.pi * DEFOCUS[:, None, None] * shift).mean(axis=2).T
    return LensTransfer(
        radius,
        opening.area[:, entry].astype(np.float64),
        opening.spread[:, entry].astype(np.float64),
        value,
        opening.focus.astype(np.float64),
    )


class SampleTransfer(NamedTuple):
    """Of the weighted mean of the samples at one depth."""

    value: Float32  # over the frequencies asked for
    noise: float  # variance of one sample, in units of that in the middle of a lens


def sample_transfer(
    table: LensTransfer, opening: Opening, inverse_depth: float, scale: float, frequency: Float64, direction: Float64
) -> SampleTransfer:
    """Transfer of the samples at 1/v to a view with pixels of `scale`.

    `frequency` (…) is in cycles per px of the view, `direction` (…) its angle.
    """
    magnified = 1 / (scale * abs(inverse_depth))  # px of the view per px of the raw image
    gap = inverse_depth - table.focus
    variance = opening.pixel_variance + gap[:, None] ** 2 * table.spread
    weight = table.radius * np.where(table.area >= LEAST_OPEN, table.area * variance ** -float(opening.sharpness), 0)
    total = np.zeros(frequency.shape)
    for kind, own in enumerate(weight):
        kept = np.tensordot(own, table.value[kind], 1).mean(axis=0)  # all directions of the micro-image
        total += np.interp(frequency * abs(gap[kind]) * magnified, DEFOCUS, kept)
    across, down = frequency * np.cos(direction) * magnified, frequency * np.sin(direction) * magnified
    pixel = np.sinc(across) * np.sinc(down)
    # The variance of photon noise goes as 1 / area.
    noise = (weight**2 / np.maximum(table.radius * table.area, LEAST_OPEN)).sum() / weight.sum() ** 2
    noise *= len(gap) * table.radius.sum()
    return SampleTransfer((total / weight.sum() * pixel).astype(np.float32), float(noise))
