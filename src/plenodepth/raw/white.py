"""What a white image must be before it may divide another image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.raw.demosaicing import sites
from plenodepth.raw.levels import Levels
from plenodepth.raw.rims import beside_white, light_in_the_gaps, rims_differ, rims_of, sampled

Array = NDArray[np.float64]

# Image and white image of one aperture agree within 3 % in how dark the rims are in the mean; one stop between f/2 and
# f/11 changes that at least 1.35-fold.
APERTURE_TOLERANCE = 1.3
MOST_IN_GAPS = 0.3  # of the light at the centres, where the white image has less than a tenth: of the same aperture


def center_levels(white: NDArray[Any], camera: PlenopticCamera | GridCamera, pattern: str | None) -> Array:
    """What the white image holds at the centres: per channel (3,), per site (2, 2) of a Bayer pattern, or ().

    The median over micro-images of the 95th percentile within each: neither dust nor dark lenses move it.
    """
    if white.ndim == 3:
        return np.stack([center_levels(white[..., channel], camera, None) for channel in range(3)])
    if pattern is not None:
        levels = np.empty((2, 2))
        for row, column, _ in sites(pattern):
            plane = white[row::2, column::2]
            # Half the pixels in each direction; percentiles over tiles of about a micro-image instead of its disc.
            levels[row, column] = _tile_level(plane, max(2, int(camera.micro_images.radius)))
        return levels
    samples = sampled(white, camera)
    values = np.nan_to_num(white.reshape(1, -1) if samples is None else samples.values)
    return np.asarray(np.median(np.percentile(values, 95, axis=1)), dtype=np.float64)


def _tile_level(plane: NDArray[Any], side: int) -> float:
    rows, columns = (max(1, size // side) for size in plane.shape)
    tiles = plane[: rows * side, : columns * side]
    height, width = tiles.shape[0] // rows, tiles.shape[1] // columns
    tiles = tiles[: rows * height, : columns * width].reshape(rows, height, columns, width)
    return float(np.median(np.percentile(np.nan_to_num(tiles), 95, axis=(1, 3))))


def require_same_aperture(
    image: NDArray[Any], white: NDArray[Any], camera: PlenopticCamera | GridCamera, levels: tuple[Levels, Levels]
) -> None:
    """Refuse a white image whose micro-images are clearly narrower or wider than those of the image.

    `levels` are those of image and white image.
    """
    samples = beside_white(image, white, camera, levels)
    found = rims_of(samples, camera)
    gaps = light_in_the_gaps(samples, camera) if found is None else 0.0
    if gaps > MOST_IN_GAPS:
        raise InputError(
            f"has a narrower aperture than the image, which has {100 * gaps:.0f} % of its light where that is dark",
            fix="take the white image at the f-number of the image; if the image is devignetted already, leave it out",
        )
    if found is None:
        return
    ratio = found.ratio
    if rims_differ(ratio, found.error, APERTURE_TOLERANCE):
        other = "narrower" if ratio > 1 else "wider"
        # A black level that is wrong or not told lifts or lowers rims more than centres, too.
        raise InputError(
            f"has a {other} aperture than the image, whose rims are {ratio:.2g} times as bright as it predicts",
            fix="take the white image at the f-number of the image; if it was, check the black level; if the image is "
            "devignetted already, leave the white image out",
        )
