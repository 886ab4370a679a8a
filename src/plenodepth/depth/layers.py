"""How the aperture's effect on depth is undone.

off: not at all; depth comes out scaled, and Γ may repair it (the paper). slope: each type's pixels look at x times one
slope, which makes a virtual depth v' of v; v is looked up after the matching. per_pixel: at every hypothesis pixels are
compared where they look.

A pixel at x from its micro-image's centre shows, at 1/v = u, what an unclipped one would show at (camera.aperture)
    X = x + y (u − 1/v0) + A'/(12 A).
y is the middle of what is open of the lens, with half of the light on either side: absolute differences align middles,
not means, and the two differ where the opening is lopsided. The last term is the vignetting within the pixel itself:
with the area A falling outwards, more light comes from a pixel's inner half. In X, views differ by the disparity of
the model again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import Camera, PlenopticCamera, configuration, lens_distances
from plenodepth.camera.aperture import ApertureTable, aperture_diameter, aperture_table
from plenodepth.camera.model import ApertureModel, Configuration
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]
Array = NDArray[np.float64]

ENTRIES = 128  # of a table over the squared radius
STEEPEST = 0.6  # per px: fall of the open area beyond which there is next to no light
POINTS = 2001  # across a lens, to find its middle
VIRTUAL_DEPTHS = np.geomspace(1.2, 60, 400)  # where the slope's v' is tabulated


def chosen_model(camera: Camera, settings: DepthSettings) -> ApertureModel:
    """The settings' aperture model, if it can be applied to a camera."""
    known = isinstance(camera, PlenopticCamera) and camera.type_count > 0 and camera.main_lens.f_number is not None
    if settings.aperture_model != "off" and not known:
        raise InputError(
            f"camera '{camera.name}' has no optics with an f-number",
            field="settings.aperture_model",
            fix="add main_lens.f_number to the camera file, or give off",
        )
    keplerian = isinstance(camera, PlenopticCamera) and configuration(camera) is Configuration.KEPLERIAN
    if settings.aperture_model != "off" and keplerian:
        raise InputError("is for Galilean cameras so far", field="settings.aperture_model", fix="give off")
    if settings.aperture_model == "per_pixel" and settings.search == "golden":
        raise InputError("per_pixel is for the sweep only", field="settings.aperture_model", fix="give off or slope")
    return settings.aperture_model


class Layers(NamedTuple):
    """Per lens type (I) and hypothesis (h); h = 1 where pixels are taken to look straight on."""

    inward: Float32  # (I, h, n): |x|/|X| over |X|², n entries `spacing` px² apart
    outward: Float32  # (I, h, n): |X|/|x| over |x|²
    spacing: np.float32
    radius: Float32  # (I, h): |X| up to which pixels are compared, px
    unit: Float32  # (h,) px² of variance that adding the detail once amounts to
    stretch: Float32  # (h,): relative growth of |X| with u


def plan_layers(tiles: Tiles, views: Views, camera: Camera, model: ApertureModel) -> Layers:
    """What the kernels have to undo."""
    if model == "per_pixel" and isinstance(camera, PlenopticCamera):
        return aperture_layers(tiles, views, camera)
    return straight_layers(tiles, len(views.blur_slope))


def straight_layers(tiles: Tiles, types: int) -> Layers:
    """Nothing to undo."""
    one = np.ones((types, 1, 2), np.float32)
    radius = np.full((types, 1), tiles.radius, np.float32)
    unit = np.array([tiles.blur_unit], np.float32)
    return Layers(one, one, np.float32(1), radius, unit, np.zeros(1, np.float32))


def aperture_layers(tiles: Tiles, views: Views, camera: PlenopticCamera) -> Layers:
    """Tables for every hypothesis of the views."""
    table, middles = aperture_table(camera), lens_middles(camera)
    edge = table.radius[-1]
    squared = np.linspace(0, (1.5 * float(tiles.reach)) ** 2, ENTRIES)
    at = np.maximum(np.sqrt(squared), 1e-3)
    shape = (len(table.focus), len(views.inverse_depths))
    inward, outward = np.empty((*shape, ENTRIES)), np.empty((*shape, ENTRIES))
    radius, slope, growth = np.empty(shape), np.empty(shape), np.empty(shape)
    for i, h in np.ndindex(shape):
        looks = looks_at(table, middles, i, float(views.inverse_depths[h]))
        # Beyond the micro-image's own edge both go on in proportion.
        inward[i, h] = np.where(at < looks[-1], np.interp(at, looks, table.radius), at * edge / looks[-1]) / at
        outward[i, h] = np.where(at < edge, np.interp(at, table.radius, looks), at * looks[-1] / edge) / at
        # A tile's own interpolation and that of a pair's target each take a pixel more.
        supported = np.interp(float(tiles.reach) - 1, table.radius, looks) - 1
        radius[i, h] = min(np.interp(float(tiles.radius), table.radius, looks), supported, float(tiles.radius))
        slope[i, h], growth[i, h] = _slopes(table, middles, i, looks, float(tiles.radius))
    return Layers(
        inward.astype(np.float32),
        outward.astype(np.float32),
        np.float32(squared[1]),
        radius.astype(np.float32),
        (tiles.blur_unit * (slope**2).mean(axis=0)).astype(np.float32),
        growth.mean(axis=0).astype(np.float32),
    )


def looks_at(table: ApertureTable, middles: Array, lens_type: int, inverse_depth: float) -> Array:
    """|X| (n,), px, of pixels at the table's radii, at 1/v."""
    area = table.area[lens_type]
    fall = np.gradient(area, table.radius) / np.maximum(area, 1e-9)
    looks = table.radius + middles[lens_type] * (inverse_depth - table.focus[lens_type])
    return np.asarray(np.maximum.accumulate(looks + np.maximum(fall, -STEEPEST) / 12))


def lens_middles(camera: PlenopticCamera) -> Array:
    """Where the light through a lens has one half on either side, (I, n) px, at the radii of `aperture_table`."""
    table = aperture_table(camera)
    main, sensor = (float(distance) for distance in lens_distances(camera)[:2])
    half, pixel = camera.micro_lenses.lens_diameter / 2, camera.sensor.pixel_size
    middles = np.zeros_like(table.centroid)
    x = np.linspace(-half, half, POINTS)
    for i, focal in enumerate(camera.micro_lenses.focal_lengths):
        gain = 1 + main * (1 / sensor - 1 / focal)
        opening = aperture_diameter(camera) / 2 / abs(gain)
        center = table.radius * pixel * main / sensor / gain
        chords = np.sqrt(np.maximum(half**2 - x**2, 0)), np.sqrt(np.maximum(opening**2 - (x - center[:, None]) ** 2, 0))
        chord = np.minimum(*chords)
        light = np.cumsum(chord, axis=1) - chord / 2  # up to the middle of each step
        lit = light[:, -1] > 0
        found = [np.interp(0.5 * (row[-1] + row[0]), row, x) for row in light[lit]]
        middles[i, lit] = found
        middles[i, ~lit] = found[-1]
    return middles / pixel


def _slopes(table: ApertureTable, middles: Array, lens_type: int, looks: Array, radius: float) -> tuple[float, float]:
    """|X|/|x| over the disc, least squares by light, and the relative growth of |X| with u."""
    inside = table.radius <= radius
    x, seen, middle = table.radius[inside], looks[inside], middles[lens_type][inside]
    weight = x * table.area[lens_type][inside]  # pixels of a ring, by their light
    slope = np.sum(weight * seen * x) / np.sum(weight * x * x)
    return float(slope), float(np.sum(weight * middle * seen) / np.sum(weight * seen * seen))


def true_from_apparent(
    camera: PlenopticCamera, apparent: Array, lens_type: NDArray[np.integer], margin: float
) -> tuple[Array, Array]:
    """v and dv/dv' of virtual depths v' (...) that were found without regard to the aperture, by one slope per type."""
    table, middles = aperture_table(camera), lens_middles(camera)
    radius = camera.micro_images.radius - margin
    true, growth = np.full(apparent.shape, np.nan), np.full(apparent.shape, np.nan)
    # A lens is compared with all types: the mean of its own slope and of everyone's.
    slopes = np.array([
        [_slopes(table, middles, i, looks_at(table, middles, i, 1 / v), radius)[0] for v in VIRTUAL_DEPTHS]
        for i in range(len(table.focus))
    ])  # fmt: skip
    for i in range(len(table.focus)):
        slope = (slopes[i] + slopes.mean(axis=0)) / 2
        found = slope * VIRTUAL_DEPTHS
        mine = lens_type == i
        true[mine] = np.interp(apparent[mine], found, VIRTUAL_DEPTHS, left=np.nan, right=np.nan)
        growth[mine] = np.interp(apparent[mine], found, np.gradient(VIRTUAL_DEPTHS, found), left=np.nan, right=np.nan)
    return true, growth
