"""White images as they are: several averaged, a dark frame taken off, saturated pixels restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.micro_images import owner_map
from plenodepth.errors import InputError
from plenodepth.raw.demosaicing import sites
from plenodepth.raw.levels import Levels
from plenodepth.raw.vignetting import RadialVignetting, estimated_vignetting, predicted_vignetting
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]

SEEN = 0.15  # of the light at the centre: darker pixels do not tell how bright their micro-image is
MOST_SATURATED = 0.5  # of the pixels: with more, nothing is left to restore the others from


class WhiteLight(NamedTuple):
    """A white image, ready to divide by: its numbers, and the share of its pixels that were saturated and restored."""

    numbers: NDArray[Any]
    restored: float = 0.0


def averaged(whites: Sequence[NDArray[Any]], levels: Levels) -> NDArray[Any]:
    """The mean of white images of one size, pixel by pixel, of those that are not saturated there.

    A single image stays as it is. Pixels that are saturated in all stay at full scale.
    """
    if len(whites) == 1:
        return whites[0]
    total, count = np.zeros(whites[0].shape, np.float32), np.zeros(whites[0].shape, np.float32)
    for white in whites:
        fine = white < levels.saturated
        total += np.where(fine, white, 0)
        count += fine
    return np.where(count > 0, total / np.maximum(count, 1), np.float32(levels.full)).astype(np.float32)


def restored(
    white: NDArray[Any], camera: PlenopticCamera | GridCamera, pattern: str | None, levels: Levels
) -> WhiteLight:
    """A white image without saturated pixels: each is what its micro-image would show there.

    The shape of a micro-image is that of the optics, or else that of the micro-images without saturated pixels; how
    bright each one is, in each colour, tell its own pixels that are not saturated. An `InputError` where too few are.
    """
    if white.max() < levels.saturated:
        return WhiteLight(white)
    full = white >= levels.saturated
    share = float(full.mean())
    if share > MOST_SATURATED:
        raise InputError(f"is saturated: {100 * share:.0f} % of its pixels are", fix="expose it to about 80 %")
    vignetting = _shape(white, full, camera, levels)
    height, width = white.shape[:2]
    owner, shape = owner_map(camera.micro_images, height, width), np.empty((height, width), np.float32)

    def fill(rows: slice) -> None:
        shape[rows] = vignetting.band(camera.micro_images, rows, width)

    each_band(height, fill)
    light = (white.astype(np.float32) - np.float32(levels.black)).reshape(height, width, -1)
    result = light.copy()
    for channel, site in _channels(light.shape[2], pattern):
        values, saturated = light[(*site, channel)], full.reshape(light.shape)[(*site, channel)]
        mine, form = owner[site], shape[site]
        tells = ~saturated & (mine >= 0) & (form > SEEN)
        count = np.bincount(mine[tells], minlength=owner.max() + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            # The sum of light over the sum of the shape: a mean that noise does not bend.
            gain = np.bincount(mine[tells], values[tells], len(count)) / np.bincount(
                mine[tells], form[tells], len(count)
            )
        gain = np.where(count > 0, gain, np.median(gain[count > 0]) if count.any() else np.nan)
        if not np.isfinite(gain).all():
            raise InputError("is saturated in all micro-images", fix="expose it to about 80 %")
        replaced = saturated & (mine >= 0)
        result[(*site, channel)][replaced] = (gain[np.maximum(mine, 0)] * form)[replaced]
    return WhiteLight((result + np.float32(levels.black)).reshape(white.shape).astype(np.float32), share)


def _shape(
    white: NDArray[Any], full: NDArray[np.bool_], camera: PlenopticCamera | GridCamera, levels: Levels
) -> RadialVignetting:
    """How the light falls off within a micro-image: by the optics, else in those that are not saturated."""
    if isinstance(camera, PlenopticCamera) and camera.main_lens.f_number is not None:
        return predicted_vignetting(camera)
    gray, saturated = (white, full) if white.ndim == 2 else (white.mean(axis=2), np.asarray(full.any(axis=2)))
    found = estimated_vignetting(gray.astype(np.float32) - np.float32(levels.black), saturated, camera)
    if found is None:
        raise InputError(
            "is saturated in all micro-images, and the camera has no optics that tell their shape",
            fix="expose it to about 80 %, or give a second, darker one as well",
        )
    return found


def _channels(count: int, pattern: str | None) -> list[tuple[int, tuple[slice, slice]]]:
    """The colours of an image: a channel, and the pixels that have it; four sites of a Bayer pattern."""
    everywhere = (slice(None), slice(None))
    if pattern is None:
        return [(channel, everywhere) for channel in range(count)]
    return [(0, (slice(row, None, 2), slice(column, None, 2))) for row, column, _ in sites(pattern)]
