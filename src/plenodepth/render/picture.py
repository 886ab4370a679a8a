"""The light of a view from the samples of the raw image."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.metric.dense.light import in_pixels
from plenodepth.metric.dense.places import nearest_lenses, view_shape
from plenodepth.metric.dense.view import in_mm
from plenodepth.raw.demosaicing import sites
from plenodepth.raw.image import RawImage
from plenodepth.render.opening import Opening, opening_of
from plenodepth.render.places import pinhole_of_view
from plenodepth.render.samples import added_up, samples_of, seen_inverse_depths
from plenodepth.render.sharpening import filters_for, sharpened
from plenodepth.render.surface import ViewSurface
from plenodepth.render.transfer import LensTransfer, lens_transfer
from plenodepth.render.view import RenderedView

Float32 = NDArray[np.float32]

FILL_REACHES = (1.0, 3.0, 9.0, 27.0)  # px: standard deviations of the blurs that fill holes, one after the other
FINE = 2.0  # px: wider blurs are made at a lower resolution
LEAST_WEIGHT = 1e-6  # of the mean: less is none


def view_of(surface: ViewSurface, scale: float, *, sharpen: bool = True, name: str = "view") -> RenderedView:
    """The view of a surface with pixels of `scale` px of the sensor."""
    camera, image = surface.camera, surface.image
    shape = view_shape(camera, scale)
    opening, table = _optics(camera, surface.model)
    seen = seen_inverse_depths(surface.places, camera, surface.inverse)
    places = surface.places.scaled(scale)
    samples = samples_of(places, surface.places.inverse_depths, seen, camera, opening)
    del seen  # as large as the raw image, like each part of the samples
    total, weight = added_up(samples, image, camera, places, shape, channels_of(image))
    del samples
    light, empty = with_holes_filled(total, weight)
    del total, weight
    inverse = surface.enlarged(surface.inverse, shape, scale)
    if sharpen:
        filters = filters_for(table, opening, float(inverse.min()), float(inverse.max()), scale, image.noise)
        light = sharpened(light, inverse, filters)
    filled = empty | surface.repeated(surface.filled, shape, scale)
    sigma = surface.repeated(surface.relative_sigma, shape, scale)
    confidence = surface.repeated(surface.confidence, shape, scale)
    depth, pinhole = np.float32(1) / inverse, None
    if isinstance(camera, PlenopticCamera):
        owner = in_pixels(nearest_lenses(places, shape), shape)
        depth, _, _ = in_mm((depth, np.zeros_like(depth), confidence), owner, camera)
        pinhole = pinhole_of_view(camera, scale, surface.offset, surface.converge)
    sigma = np.asarray(sigma * np.abs(depth), np.float32)
    return RenderedView(
        light,
        depth,
        sigma,
        confidence,
        filled,
        pinhole,
        scale,
        metric=pinhole is not None,
        viewpoint=surface.viewpoint,
        name=name,
    )


@lru_cache(maxsize=2)  # for all views of many frames
def _optics(camera: PlenopticCamera | GridCamera, model: ApertureModel) -> tuple[Opening, LensTransfer]:
    """What the pixels of a camera see through, and how sharp."""
    opening = opening_of(camera, model)
    return opening, lens_transfer(camera, model, opening)


def channels_of(image: RawImage) -> NDArray[np.int32]:
    """Which channel a pixel has a sample of, by row and column modulo 2 (2, 2); −1: of all."""
    table = np.full((2, 2), -1, np.int32)
    if image.mosaic is not None:
        for row, column, channel in sites(image.mosaic):
            table[row, column] = channel
    return table


def with_holes_filled(total: Float32, weight: Float32) -> tuple[Float32, NDArray[np.bool_]]:
    """Mean light (h, w, channels), from the neighbours where there is none; and where no channel has any (h, w)."""
    least = np.float32(LEAST_WEIGHT * max(float(weight.mean()), 1e-30))
    missing = weight <= least
    light = np.asarray(total / np.where(missing, np.float32(1), weight), np.float32)
    empty = np.asarray(missing.all(axis=2))
    for reach in FILL_REACHES:
        if not missing.any():
            break
        sums, weights = (_softened(part, reach) for part in (total, weight))
        found = missing & (weights > least)
        light[found] = sums[found] / weights[found]
        missing &= ~found
    light[missing] = np.nan
    return light, empty


def _softened(values: Float32, reach: float) -> Float32:
    """Values (h, w, channels) blurred by a Gaussian with σ = `reach` px; wide ones at a lower resolution."""
    import cv2

    height, width = values.shape[:2]
    factor = max(1, int(reach / FINE))
    small = values
    if factor > 1:
        small = cv2.resize(values, (-(-width // factor), -(-height // factor)), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), reach / factor)
    soft = soft if factor == 1 else cv2.resize(soft, (width, height))
    return np.asarray(soft.reshape(values.shape), np.float32)
