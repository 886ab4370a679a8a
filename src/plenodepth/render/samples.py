"""The samples of a view: which pixels of the raw image see its surface, where, and how much they count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import image_size
from plenodepth.metric.dense.pixels import RIM
from plenodepth.metric.dense.places import LENSES_AT_A_TIME
from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.kernels.seen_depths import find_seen_depths
from plenodepth.raw.image import RawImage
from plenodepth.render.kernels.samples import fill_from_behind, find_samples
from plenodepth.render.kernels.splat import splat
from plenodepth.render.opening import Opening
from plenodepth.render.places import ViewPlaces
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]

BEHIND_REACH = 3  # px of the raw image over which a surface is continued behind an outline
ROWS_OF_VIEW = 192  # that are added up together


class PlacedSamples(NamedTuple):
    """Of each pixel of the raw image (H, W): where it falls in the view, px, and how much it counts there."""

    column: Float32
    row: Float32
    weight: Float32  # 0: not at all


def seen_inverse_depths(view: ViewPlaces, camera: PlenopticCamera | GridCamera, surface: Float32) -> Float32:
    """1/v (H, W) of what the raw image's pixels see of a surface (h, w) in 1/v, also just behind its outlines."""
    grid, (width, height) = camera.micro_images, image_size(camera)
    center = np.ascontiguousarray(grid.center(*grid.lattice.indices()).reshape(-1, 2))
    seen, radius = np.full((height, width), np.nan, np.float32), _radius(camera)
    owner = np.empty((height, width), np.int32)
    given = center, view.places, view.inverse_depths, surface, radius, np.float32(SAME_SURFACE), seen, owner
    each_band(len(center), lambda lenses: find_seen_depths(lenses.start, lenses.stop, *given), rows=LENSES_AT_A_TIME)
    filled = np.full((height, width), np.nan, np.float32)
    behind = center, radius, BEHIND_REACH, seen, filled
    each_band(len(center), lambda lenses: fill_from_behind(lenses.start, lenses.stop, *behind), rows=LENSES_AT_A_TIME)
    return filled


def samples_of(
    places: Float32, inverse_depths: Float32, seen: Float32, camera: PlenopticCamera | GridCamera, opening: Opening
) -> PlacedSamples:
    """The samples for a view with these places (J, n, 4), of pixels that see 1/v (H, W)."""
    grid = camera.micro_images
    k, l = (index.ravel() for index in grid.lattice.indices())
    center = np.ascontiguousarray(grid.center(k, l))
    lens_type = np.maximum(grid.lens_type(k, l), 0).astype(np.int32)
    found = PlacedSamples(*(np.zeros(seen.shape, np.float32) for _ in range(3)))
    given = center, places, inverse_depths, seen, lens_type, tuple(opening), _radius(camera), tuple(found)
    each_band(len(center), lambda lenses: find_samples(lenses.start, lenses.stop, *given), rows=LENSES_AT_A_TIME)
    return found


def added_up(
    samples: PlacedSamples,
    image: RawImage,
    camera: PlenopticCamera | GridCamera,
    places: Float32,
    shape: tuple[int, int],
    channel_of: NDArray[np.int32],
) -> tuple[Float32, Float32]:
    """Sums of weighted light, and of weights, (h, w, channels) each, of the samples in a view."""
    light = image.gray[..., None] if image.color is None else image.color
    grid, radius = camera.micro_images, _radius(camera)
    center = np.ascontiguousarray(grid.center(*grid.lattice.indices()).reshape(-1, 2))
    reach = 1.5 * radius * np.abs(places[..., 3]) + 2  # 1.5: what the aperture moves pixels outwards
    extent = np.stack([(places[..., 1] - reach).min(axis=1), (places[..., 1] + reach).max(axis=1)], axis=1)
    extent = np.clip(extent, -1e6, 1e6).astype(np.int32)
    total, weight = (np.zeros((*shape, light.shape[2]), np.float32) for _ in range(2))
    given = center, extent, radius, tuple(samples), np.ascontiguousarray(light), channel_of, total, weight
    each_band(shape[0], lambda rows: splat(rows.start, rows.stop, *given), rows=ROWS_OF_VIEW)
    return total, weight


def _radius(camera: PlenopticCamera | GridCamera) -> np.float32:
    """px about a micro-image's centre within which its pixels count."""
    grid = camera.micro_images
    return np.float32(min(grid.radius, grid.lattice.diameter / 2) - RIM)
