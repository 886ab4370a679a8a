"""How the aperture's effect on depth is undone.

off: not at all; depth comes out scaled, and Γ may repair it (the paper). slope: each type's pixels look at x times one
slope, which makes a virtual depth v' of v; v is looked up after the matching. per_pixel: at every hypothesis pixels are
compared where they look.

Where that is, and what is done so that all of a tile is equally blurred, see `depth.aperture.chief_rays`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import Camera, PlenopticCamera, configuration, lens_distances
from plenodepth.camera.aperture.clipping import ApertureTable, aperture_table, pupil_image_offset
from plenodepth.camera.micro_lenses import LensDistances
from plenodepth.camera.model import ApertureModel, Configuration
from plenodepth.depth.aperture.chief_rays import (
    MOST_BLUR,
    MOST_MIXED,
    Evening,
    evened,
    full_evening,
    needed_part,
    spots_of,
)
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]
Array = NDArray[np.float64]

ENTRIES = 128  # of a table over the squared radius
LEVEL = 0.005  # relative difference of d up to which lenses share a table
HYPOTHESES_OF_A_LAYER = {False: 9, True: 2}  # coarse, where a search in the best one's own layer follows; refined
LEAST_LIGHT = 0.2  # of that in the middle: darker pixels are not compared
WELL_EVENED = 0.6  # of the largest distance from focus, in 1/v: where a tile's evening is exact
UNLIKE = 0.8  # px² of variance between two spots, before they are made even, from which on pixels are not compared
BILINEAR = 1.45  # px around a place that its interpolation may take
VIRTUAL_DEPTHS = np.geomspace(1.2, 60, 120)  # |v| where the slope's v' is tabulated


class Layers(NamedTuple):
    """Per kind of lens (K) and layer (h).

    There is one for each hypothesis, for each second one when refined, and one in all where pixels look straight on.
    A kind is a lens type at a distance from the sensor: a tilted array has some of each. Tables have n entries over
    squared radii, `spacing` px² apart.
    """

    kind: NDArray[np.int32]  # (J,) of each lens
    center: Float32  # (J, 2) px inside each tile: the middle of its light, which radii are measured from
    aside: np.float32  # px between that and the micro-image's centre, at most
    inward: Float32  # (K, h, n): |x|/|X| over |X|²
    outward: Float32  # (K, h, n): |X|/|x| over |x|²
    mixing: Float32  # (K, 3, n): an evening's step (px), weight of the ends and of the detail, over |x|²
    even: Float32  # (K, h): how much of it is done
    spacing: np.float32
    radius: Float32  # (K, h): |X| up to which pixels are compared, px
    unit: Float32  # (h,) px² of variance that adding the detail once amounts to
    stretch: Float32  # (h,): relative growth of |X| with u
    unlike: Float32  # (h,): what a comparison of two pixels loses of its weight per px² between their |X|²
    shared: NDArray[np.int32]  # (hypotheses,): the layer in which a sweep compares each of them,
    places: Float32  # (hypotheses,): and the 1/v that it has there


def plan_layers(tiles: Tiles, views: Views, camera: Camera, model: ApertureModel, smoothing: float) -> Layers:
    """What the kernels have to undo; `smoothing` is the variance, px², by which tiles are smoothed in any case."""
    if model == "per_pixel" and isinstance(camera, PlenopticCamera):
        return aperture_layers(tiles, views, camera, smoothing)
    return straight_layers(tiles, views)


def straight_layers(tiles: Tiles, views: Views) -> Layers:
    """Nothing to undo."""
    kind, one = np.zeros(len(tiles.origin), np.int32), np.ones((1, 1, 2), np.float32)
    radius = np.full((1, 1), tiles.radius, np.float32)
    unit, none = np.array([tiles.blur_unit], np.float32), np.zeros(1, np.float32)
    shared = np.zeros(len(views.inverse_depths), np.int32)
    mixing, spacing = np.zeros((1, 3, 2), np.float32), np.float32(1)
    return Layers(
        kind, tiles.center, np.float32(0), one, one, mixing, none[None], spacing, radius, unit, none, none, shared,
        views.inverse_depths,
    )  # fmt: skip


def aperture_layers(tiles: Tiles, views: Views, camera: PlenopticCamera, smoothing: float) -> Layers:
    """Tables for every hypothesis of the views.

    In a sweep some neighbouring hypotheses share one's layer: only its scale is not quite theirs, and that is known.
    """
    levels, level = lens_levels(camera)
    # The image frame looks the other way than the camera's.
    indices = camera.micro_images.lattice.indices()
    aside = -pupil_image_offset(*indices, camera).reshape(-1, 2) / camera.sensor.pixel_size
    off = float(np.linalg.norm(aside, axis=1).max())
    squared = np.linspace(0, (1.5 * float(tiles.reach)) ** 2, ENTRIES)
    at = np.maximum(np.sqrt(squared), 1e-3)
    types, places = camera.type_count, views.inverse_depths.astype(np.float64)
    shape = (types * len(levels), len(places))
    inward, outward = np.empty((*shape, ENTRIES)), np.empty((*shape, ENTRIES))
    mixing, even = np.empty((shape[0], 3, ENTRIES)), np.empty(shape)
    radius, slope, narrowing = np.empty(shape), np.empty(shape), np.empty(shape)
    for n, distances in enumerate(levels):
        table = aperture_table(camera, distances=distances)
        edge = table.radius[-1]
        for i in range(types):
            kind = n * types + i
            looks, evening, even[kind] = even_looks(table, i, places, smoothing, tiles)
            slope[kind] = mean_slope(table, i, looks, float(tiles.radius))
            narrowing[kind] = spots_narrowing(table, i, places, looks, float(tiles.radius))
            lit = float(table.radius[table.area[i] >= LEAST_LIGHT * table.area[i, 0]].max())
            added = evening.step, evening.ends, evening.blur / float(tiles.blur_unit)
            mixing[kind] = [np.interp(at, table.radius, row, right=0) for row in added]
            for h, look in enumerate(looks):
                # Beyond the micro-image's own edge both go on in proportion.
                inward[kind, h] = np.where(at < look[-1], np.interp(at, look, table.radius), at * edge / look[-1]) / at
                outward[kind, h] = np.where(at < edge, np.interp(at, table.radius, look), at * look[-1] / edge) / at
                # A tile's own interpolation and that of a pair's target each take a pixel more.
                compared, usable = np.interp(
                    [min(float(tiles.radius), lit - off), float(tiles.reach) - 1], table.radius, look
                )
                radius[kind, h] = min(compared, usable - 1, float(tiles.radius))
    stretch = np.gradient(np.log(slope), places, axis=1).mean(axis=0)
    shared = shared_layers(len(places), HYPOTHESES_OF_A_LAYER[views.refined])
    # A coarse search ends in any hypothesis' own layer; a refined one takes no other than the shared ones.
    kept = np.unique(shared) if views.refined else np.arange(len(places))
    rest = float(disparity_rest(views.pitch_ratio).mean())
    # Tables lie row by row in memory, as in `straight_layers`: for another layout, all kernels are compiled again.
    return Layers(
        kind=(level * types + views.lens_type).astype(np.int32),
        center=(tiles.center + aside).astype(np.float32),
        aside=np.float32(off),
        inward=np.ascontiguousarray(inward[:, kept], np.float32),
        outward=np.ascontiguousarray(outward[:, kept], np.float32),
        mixing=mixing.astype(np.float32),
        even=np.ascontiguousarray(even[:, kept], np.float32),
        spacing=np.float32(squared[1]),
        radius=np.ascontiguousarray(radius[:, kept], np.float32),
        unit=(tiles.blur_unit * (slope[:, kept] ** 2).mean(axis=0)).astype(np.float32),
        stretch=stretch[kept].astype(np.float32),
        unlike=(narrowing[:, kept].mean(axis=0) / UNLIKE).astype(np.float32),
        shared=np.searchsorted(kept, shared).astype(np.int32),
        places=((places + rest) / (1 - stretch[shared] * (places[shared] - places)) - rest).astype(np.float32),
    )


def shared_layers(hypotheses: int, together: int) -> NDArray[np.int32]:
    """The layer (hypotheses,) of each: that in the middle of its group of so many."""
    first = np.arange(hypotheses) // together * together
    return np.asarray((first + np.minimum(first + together - 1, hypotheses - 1)) // 2, np.int32)


def even_looks(
    table: ApertureTable, lens_type: int, inverse_depths: Array, smoothing: float, tiles: Tiles
) -> tuple[Array, Evening, Array]:
    """|X| (h, n) at the table's radii for each hypothesis, one's evening, and how much of it (h,) each takes.

    All take more or less of the same evening, so that most of the work is done once for all of them.
    """
    spots = spots_of(table, lens_type, inverse_depths, smoothing)
    wanted = full_evening(table.radius, spots, float(tiles.reach) - BILINEAR)
    gap = np.abs(inverse_depths - table.focus[lens_type])
    middle = int(np.argmin(np.abs(gap - WELL_EVENED * gap.max())))
    one = Evening(wanted.step, wanted.ends[middle], wanted.blur[middle])
    part = needed_part(wanted, one, _light(table, lens_type, float(tiles.radius)))
    part = np.minimum(part, MOST_MIXED / max(float(one.ends.max()), 1e-6))
    part = np.minimum(part, MOST_BLUR / max(float(one.blur.max()), 1e-6))
    return evened(table.radius, spots, one, part, float(tiles.blur_unit)).place, one, part


def disparity_rest(pitch_ratio: ArrayLike) -> Array:
    """(1 − λ)/λ: disparities per baseline are λ times 1/v plus this (see camera.disparity)."""
    ratio = np.asarray(pitch_ratio, dtype=np.float64)
    return np.asarray((1 - ratio) / ratio)


def spots_narrowing(table: ApertureTable, lens_type: int, inverse_depths: Array, looks: Array, radius: float) -> Array:
    """How much variance, px² along the radius, spots lose per px² of |X|² (h,), before they are made even."""
    weight = _light(table, lens_type, radius)
    squared = looks**2 - (looks**2 @ weight / weight.sum())[:, None]
    slope = (squared * table.variance_along[lens_type]) @ weight / np.maximum(squared**2 @ weight, 1e-12)
    return np.asarray(np.maximum(-slope, 0) * (inverse_depths - table.focus[lens_type]) ** 2)


def lens_levels(camera: PlenopticCamera) -> tuple[list[LensDistances], NDArray[np.int64]]:
    """D and d at some levels of a tilted array, evenly spaced in d, and each lens' level (J,)."""
    main, sensor = lens_distances(camera, *camera.micro_images.lattice.indices())
    low, high = float(sensor.min()), float(sensor.max())
    count = 1 + int(np.ceil((high - low) / (LEVEL * high)))
    at = np.linspace(low, high, 2 * count + 1)[1::2]  # the middles of as many parts
    level = np.minimum(((sensor - low) / max(high - low, 1e-12) * count).astype(np.int64), count - 1).ravel()
    sum_of_both = float(np.mean(main + sensor))  # the sensor stays where it is
    return [LensDistances(np.asarray(sum_of_both - d), np.asarray(d)) for d in at], level


def mean_slope(table: ApertureTable, lens_type: int, looks: Array, radius: float) -> Array:
    """|X|/|x| (...) over the disc, least squares by light, of looks (..., n) at the table's radii."""
    weight = _light(table, lens_type, radius) * table.radius
    return np.asarray(looks @ weight / (table.radius @ weight))


def _light(table: ApertureTable, lens_type: int, radius: float) -> Array:
    """That of the pixels at a table's radii (n,), all round, within a disc."""
    return np.where(table.radius <= radius, table.radius * table.area[lens_type], 0)


def true_from_apparent(
    apparent: Array, camera: PlenopticCamera, lens: NDArray[np.integer], margin: float, smoothing: float
) -> tuple[Array, Array]:
    """v and dv/dv' of virtual depths v' (...) that were found without regard to the aperture, by one slope per kind.

    `lens` (...) is each entry's lens, l · columns + k, or −1.
    """
    levels, level = lens_levels(camera)
    types = np.maximum(camera.micro_images.lens_type(*camera.micro_images.lattice.indices()), 0).ravel()
    kind = np.append(level * camera.type_count + types, -1)[lens]
    radius = camera.micro_images.radius - margin
    sign = -1.0 if configuration(camera) is Configuration.KEPLERIAN else 1.0
    true, growth = np.full(apparent.shape, np.nan), np.full(apparent.shape, np.nan)
    for n, distances in enumerate(levels):
        table, rest = aperture_table(camera, distances=distances), float(disparity_rest(distances.pitch_ratio))
        slopes = np.array([
            mean_slope(table, i, spots_of(table, i, sign / VIRTUAL_DEPTHS, smoothing).place, radius)
            for i in range(camera.type_count)
        ])  # fmt: skip
        for i in range(camera.type_count):
            # A lens is compared with all types: the mean of its own slope and of everyone's.
            slope = (slopes[i] + slopes.mean(axis=0)) / 2
            # It stretches disparities, which go with 1/v + rest (see `disparity_rest`), and not with 1/v.
            found = 1 / ((1 / VIRTUAL_DEPTHS + sign * rest) / slope - sign * rest)
            mine = kind == n * camera.type_count + i
            seen, gradient = sign * apparent[mine], np.gradient(VIRTUAL_DEPTHS, found)
            true[mine] = sign * np.interp(seen, found, VIRTUAL_DEPTHS, left=np.nan, right=np.nan)
            growth[mine] = np.interp(seen, found, gradient, left=np.nan, right=np.nan)
    return true, growth
