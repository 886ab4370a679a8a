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
from plenodepth.camera.aperture import ApertureTable, aperture_table, disc_of_pupil
from plenodepth.camera.micro_lenses import LensDistances
from plenodepth.camera.model import ApertureModel, Configuration
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]
Array = NDArray[np.float64]

ENTRIES = 128  # of a table over the squared radius
LEVEL = 0.005  # relative difference of d up to which lenses share a table
STEEPEST = 0.6  # per px: fall of the open area beyond which there is next to no light
POINTS = 1001  # across a lens, to find its middle
VIRTUAL_DEPTHS = np.geomspace(1.2, 60, 120)  # where the slope's v' is tabulated


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
    """Per kind of lens (K) and hypothesis (h); h = 1 where pixels are taken to look straight on.

    A kind is a lens type at a distance from the sensor: a tilted array has some of each.
    """

    kind: NDArray[np.int32]  # (J,) of each lens
    inward: Float32  # (K, h, n): |x|/|X| over |X|², n entries `spacing` px² apart
    outward: Float32  # (K, h, n): |X|/|x| over |x|²
    spacing: np.float32
    radius: Float32  # (K, h): |X| up to which pixels are compared, px
    unit: Float32  # (h,) px² of variance that adding the detail once amounts to
    stretch: Float32  # (h,): relative growth of |X| with u


def plan_layers(tiles: Tiles, views: Views, camera: Camera, model: ApertureModel) -> Layers:
    """What the kernels have to undo."""
    if model == "per_pixel" and isinstance(camera, PlenopticCamera):
        return aperture_layers(tiles, views, camera)
    return straight_layers(tiles)


def straight_layers(tiles: Tiles) -> Layers:
    """Nothing to undo."""
    kind, one = np.zeros(len(tiles.origin), np.int32), np.ones((1, 1, 2), np.float32)
    radius = np.full((1, 1), tiles.radius, np.float32)
    unit = np.array([tiles.blur_unit], np.float32)
    return Layers(kind, one, one, np.float32(1), radius, unit, np.zeros(1, np.float32))


def aperture_layers(tiles: Tiles, views: Views, camera: PlenopticCamera) -> Layers:
    """Tables for every hypothesis of the views."""
    levels, level = lens_levels(camera)
    squared = np.linspace(0, (1.5 * float(tiles.reach)) ** 2, ENTRIES)
    at = np.maximum(np.sqrt(squared), 1e-3)
    types = camera.type_count
    shape = (types * len(levels), len(views.inverse_depths))
    inward, outward = np.empty((*shape, ENTRIES)), np.empty((*shape, ENTRIES))
    radius, slope, growth = np.empty(shape), np.empty(shape), np.empty(shape)
    for n, distances in enumerate(levels):
        table, middles = aperture_table(camera, distances=distances), lens_middles(camera, distances)
        edge = table.radius[-1]
        for i, h in np.ndindex(types, shape[1]):
            kind, looks = n * types + i, looks_at(table, middles, i, float(views.inverse_depths[h]))
            # Beyond the micro-image's own edge both go on in proportion.
            inward[kind, h] = np.where(at < looks[-1], np.interp(at, looks, table.radius), at * edge / looks[-1]) / at
            outward[kind, h] = np.where(at < edge, np.interp(at, table.radius, looks), at * looks[-1] / edge) / at
            # A tile's own interpolation and that of a pair's target each take a pixel more.
            supported = np.interp(float(tiles.reach) - 1, table.radius, looks) - 1
            radius[kind, h] = min(np.interp(float(tiles.radius), table.radius, looks), supported, float(tiles.radius))
            slope[kind, h], growth[kind, h] = _slopes(table, middles, i, looks, float(tiles.radius))
    return Layers(
        (level * types + views.lens_type).astype(np.int32),
        inward.astype(np.float32),
        outward.astype(np.float32),
        np.float32(squared[1]),
        radius.astype(np.float32),
        (tiles.blur_unit * (slope**2).mean(axis=0)).astype(np.float32),
        growth.mean(axis=0).astype(np.float32),
    )


def lens_levels(camera: PlenopticCamera) -> tuple[list[LensDistances], NDArray[np.int64]]:
    """D and d at some levels of a tilted array, evenly spaced in d, and each lens' level (J,)."""
    main, sensor = lens_distances(camera, *camera.micro_images.lattice.indices())
    low, high = float(sensor.min()), float(sensor.max())
    count = 1 + int(np.ceil((high - low) / (LEVEL * high)))
    at = np.linspace(low, high, 2 * count + 1)[1::2]  # the middles of as many parts
    level = np.minimum(((sensor - low) / max(high - low, 1e-12) * count).astype(np.int64), count - 1).ravel()
    sum_of_both = float(np.mean(main + sensor))  # the sensor stays where it is
    return [LensDistances(np.asarray(sum_of_both - d), np.asarray(d)) for d in at], level


def looks_at(table: ApertureTable, middles: Array, lens_type: int, inverse_depth: float) -> Array:
    """|X| (n,), px, of pixels at the table's radii, at 1/v."""
    area = table.area[lens_type]
    fall = np.gradient(area, table.radius) / np.maximum(area, 1e-9)
    looks = table.radius + middles[lens_type] * (inverse_depth - table.focus[lens_type])
    return np.asarray(np.maximum.accumulate(looks + np.maximum(fall, -STEEPEST) / 12))


def lens_middles(camera: PlenopticCamera, distances: LensDistances | None = None) -> Array:
    """Where the light through a lens has one half on either side, (I, n) px, at the radii of `aperture_table`."""
    table = aperture_table(camera, distances=distances)
    main, sensor = distances or lens_distances(camera)
    half, pixel = camera.micro_lenses.lens_diameter / 2, camera.sensor.pixel_size
    middles = np.zeros_like(table.centroid)
    x = np.linspace(-half, half, POINTS)
    for i in range(len(middles)):
        ratio, opening = disc_of_pupil(camera, main, sensor, i)
        center = float(ratio) * table.radius * pixel
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
    camera: PlenopticCamera, apparent: Array, lens: NDArray[np.integer], margin: float
) -> tuple[Array, Array]:
    """v and dv/dv' of virtual depths v' (...) that were found without regard to the aperture, by one slope per kind.

    `lens` (...) is each entry's lens, l · columns + k, or −1.
    """
    levels, level = lens_levels(camera)
    types = np.maximum(camera.micro_images.lens_type(*camera.micro_images.lattice.indices()), 0).ravel()
    kind = np.append(level * camera.type_count + types, -1)[lens]
    radius = camera.micro_images.radius - margin
    true, growth = np.full(apparent.shape, np.nan), np.full(apparent.shape, np.nan)
    for n, distances in enumerate(levels):
        table, middles = aperture_table(camera, distances=distances), lens_middles(camera, distances)
        slopes = np.array([
            [_slopes(table, middles, i, looks_at(table, middles, i, 1 / v), radius)[0] for v in VIRTUAL_DEPTHS]
            for i in range(camera.type_count)
        ])  # fmt: skip
        for i in range(camera.type_count):
            # A lens is compared with all types: the mean of its own slope and of everyone's.
            found = (slopes[i] + slopes.mean(axis=0)) / 2 * VIRTUAL_DEPTHS
            mine = kind == n * camera.type_count + i
            true[mine] = np.interp(apparent[mine], found, VIRTUAL_DEPTHS, left=np.nan, right=np.nan)
            gradient = np.gradient(VIRTUAL_DEPTHS, found)
            growth[mine] = np.interp(apparent[mine], found, gradient, left=np.nan, right=np.nan)
    return true, growth
