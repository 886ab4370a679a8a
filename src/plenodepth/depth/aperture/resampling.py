"""How the aperture's effect on depth is undone.

There are three models. off: not at all; depth comes out scaled, and Γ may repair it (the paper). slope: the chief rays
of a lens type are at x times one slope, which makes a virtual depth v' of v; v is looked up after the matching.
per_pixel: at every hypothesis, tiles are resampled to the chief rays of their pixels, and then compared.

`depth.aperture.chief_rays` says where the chief rays are, and what gives a tile the same blur everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import Camera, PlenopticCamera, lens_distances
from plenodepth.camera.aperture.clipping import ApertureTable, aperture_table
from plenodepth.camera.micro_lenses import LensDistances, depth_sign, pitch_ratio
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.aperture.chief_rays import (
    LARGEST_BLUR,
    LARGEST_WEIGHT,
    UniformBlur,
    full_uniform_blur,
    nearest_share,
    spots_of,
    with_uniform_blur,
)
from plenodepth.depth.tiles import Tiles
from plenodepth.depth.views import Views

Float32 = NDArray[np.float32]
Array = NDArray[np.float64]

ENTRIES = 128  # of a table over the squared radius
LEVEL = 0.005  # relative difference of d up to which lenses share a table
# How many neighbouring hypotheses share a plane in a sweep. Coarse, a search in the best hypothesis' own plane follows.
HYPOTHESES_PER_PLANE = {False: 9, True: 5}  # coarse, refined
LEAST_LIGHT = 0.2  # of that in the middle: darker pixels are not compared
EXACT_GAP = 0.6  # of the largest distance from focus, in 1/v: there the uniform blur of a tile is exact
LARGEST_DIFFERENCE = 0.8  # px² of variance between two spots, before any uniform blur: pixels of more are not compared
INTERPOLATION_WIDTH = 1.45  # px around a place that its interpolation may take
VIRTUAL_DEPTHS = np.geomspace(1.2, 60, 120)  # |v| where the slope's v' is tabulated


class ResamplingTables(NamedTuple):
    """How tiles are resampled, per kind of lens (K) and plane (h).

    A plane is a hypothesis 1/v that tiles are resampled for. There is one for each hypothesis of a coarse search, one
    for every second hypothesis of a refined one, and a single one where nothing is resampled. A kind is a lens type at
    a distance from the sensor: a tilted array has several kinds of each type. Tables have n entries over squared radii,
    `spacing` px² apart. x is a pixel's offset from the micro-image's centre, X that of its chief ray.
    """

    kind: NDArray[np.int32]  # (J,) of each lens
    light_center: Float32  # (J, 2) px inside each tile: centre of the light, from which radii are measured
    largest_offset: np.float32  # px between that and the micro-image's centre, at most
    pixel_from_ray: Float32  # (K, h, n): |x|/|X| over |X|²
    ray_from_pixel: Float32  # (K, h, n): |X|/|x| over |x|²
    uniform_blur: Float32  # (K, 3, n): step (px), weight of the ends and weight of the detail, over |x|²
    uniform_share: Float32  # (K, h): share of it that is applied
    spacing: np.float32
    radius: Float32  # (K, h): |X| up to which pixels are compared, px
    blur_unit: Float32  # (h,) px² of variance that adding the detail once amounts to
    stretch: Float32  # (h,): relative growth of |X| with 1/v
    dissimilarity: Float32  # (h,): what a comparison of two pixels loses of its weight per px² between their |X|²
    plane_of_hypothesis: NDArray[np.int32]  # (hypotheses,): the plane in which a sweep compares each of them
    inverse_depths: Float32  # (hypotheses,): the 1/v that each of them has in that plane


def plan_resampling(
    tiles: Tiles, views: Views, camera: Camera, model: ApertureModel, smoothing: float
) -> ResamplingTables:
    """Tables for an aperture model; `smoothing` is the variance, px², by which tiles are smoothed in any case."""
    if model == "per_pixel" and isinstance(camera, PlenopticCamera):
        return aperture_resampling(tiles, views, camera, smoothing)
    return no_resampling(tiles, views)


def no_resampling(tiles: Tiles, views: Views) -> ResamplingTables:
    """Tables that leave tiles as they are."""
    one, none = np.ones((1, 1, 2), np.float32), np.zeros(1, np.float32)
    return ResamplingTables(
        kind=np.zeros(len(tiles.origin), np.int32),
        light_center=tiles.center,
        largest_offset=np.float32(0),
        pixel_from_ray=one,
        ray_from_pixel=one,
        uniform_blur=np.zeros((1, 3, 2), np.float32),
        uniform_share=none[None],
        spacing=np.float32(1),
        radius=np.full((1, 1), tiles.radius, np.float32),
        blur_unit=np.array([tiles.blur_unit], np.float32),
        stretch=none,
        dissimilarity=none,
        plane_of_hypothesis=np.zeros(len(views.inverse_depths), np.int32),
        inverse_depths=views.inverse_depths,
    )


def aperture_resampling(tiles: Tiles, views: Views, camera: PlenopticCamera, smoothing: float) -> ResamplingTables:
    """Tables that resample to the chief rays at every hypothesis of the views.

    In a sweep some neighbouring hypotheses share a plane: only its scale is not quite theirs, and that is known.
    """
    levels, level = lens_levels(camera)
    squared = np.linspace(0, (1.5 * float(tiles.reach)) ** 2, ENTRIES)
    at = np.maximum(np.sqrt(squared), 1e-3)
    types, hypotheses = camera.type_count, views.inverse_depths.astype(np.float64)
    shape = (types * len(levels), len(hypotheses))
    inward, outward = np.empty((*shape, ENTRIES)), np.empty((*shape, ENTRIES))
    uniform_blur, share = np.empty((shape[0], 3, ENTRIES)), np.empty(shape)
    radius, slope, narrowing = np.empty(shape), np.empty(shape), np.empty(shape)
    for n, distances in enumerate(levels):
        table = aperture_table(camera, distances=distances)
        edge = table.radius[-1]
        for i in range(types):
            kind = n * types + i
            positions, uniform, share[kind] = ray_positions(table, i, hypotheses, smoothing, tiles)
            slope[kind] = mean_slope(table, i, positions, float(tiles.radius))
            narrowing[kind] = spots_narrowing(table, i, hypotheses, positions, float(tiles.radius))
            lit = float(table.radius[table.area[i] >= LEAST_LIGHT * table.area[i, 0]].max())
            added = uniform.step, uniform.ends, uniform.blur / float(tiles.blur_unit)
            uniform_blur[kind] = [np.interp(at, table.radius, row, right=0) for row in added]
            for h, position in enumerate(positions):
                # Beyond the micro-image's own edge both go on in proportion.
                last = position[-1]
                inward[kind, h] = np.where(at < last, np.interp(at, position, table.radius), at * edge / last) / at
                outward[kind, h] = np.where(at < edge, np.interp(at, table.radius, position), at * last / edge) / at
                # The interpolation of the tile and that of a pair's target take a pixel more each.
                compared, usable = np.interp(
                    [min(float(tiles.radius), lit), float(tiles.reach) - 1], table.radius, position
                )
                radius[kind, h] = min(compared, usable - 1, float(tiles.radius))
    stretch = np.gradient(np.log(slope), hypotheses, axis=1).mean(axis=0)
    shared = shared_planes(len(hypotheses), HYPOTHESES_PER_PLANE[views.refined])
    # A coarse search ends in the plane of any hypothesis; a refined one takes no other than the shared ones.
    kept = np.unique(shared) if views.refined else np.arange(len(hypotheses))
    rest = float(disparity_rest(views.pitch_ratio).mean())
    in_plane = (hypotheses + rest) / (1 - stretch[shared] * (hypotheses[shared] - hypotheses)) - rest
    # Tables lie row by row in memory, as in `no_resampling`: for another layout, all kernels are compiled again.
    return ResamplingTables(
        kind=(level * types + views.lens_type).astype(np.int32),
        light_center=tiles.center,
        largest_offset=np.float32(0),
        pixel_from_ray=np.ascontiguousarray(inward[:, kept], np.float32),
        ray_from_pixel=np.ascontiguousarray(outward[:, kept], np.float32),
        uniform_blur=uniform_blur.astype(np.float32),
        uniform_share=np.ascontiguousarray(share[:, kept], np.float32),
        spacing=np.float32(squared[1]),
        radius=np.ascontiguousarray(radius[:, kept], np.float32),
        blur_unit=(tiles.blur_unit * (slope[:, kept] ** 2).mean(axis=0)).astype(np.float32),
        stretch=stretch[kept].astype(np.float32),
        dissimilarity=(narrowing[:, kept].mean(axis=0) / LARGEST_DIFFERENCE).astype(np.float32),
        plane_of_hypothesis=np.searchsorted(kept, shared).astype(np.int32),
        inverse_depths=in_plane.astype(np.float32),
    )


def shared_planes(hypotheses: int, together: int) -> NDArray[np.int32]:
    """The plane (hypotheses,) of each hypothesis: the one in the middle of its group of `together`."""
    first = np.arange(hypotheses) // together * together
    return np.asarray((first + np.minimum(first + together - 1, hypotheses - 1)) // 2, np.int32)


def ray_positions(
    table: ApertureTable, lens_type: int, inverse_depths: Array, smoothing: float, tiles: Tiles
) -> tuple[Array, UniformBlur, Array]:
    """|X| (h, n) at the table's radii for each hypothesis, a uniform blur, and the share (h,) of it that each takes.

    All hypotheses take a share of the same uniform blur, so that most of the work is done once for all of them.
    """
    spots = spots_of(table, lens_type, inverse_depths, smoothing)
    wanted = full_uniform_blur(table.radius, spots, float(tiles.reach) - INTERPOLATION_WIDTH)
    gap = np.abs(inverse_depths - table.focus[lens_type])
    middle = int(np.argmin(np.abs(gap - EXACT_GAP * gap.max())))
    one = UniformBlur(wanted.step, wanted.ends[middle], wanted.blur[middle])
    share = nearest_share(wanted, one, _light(table, lens_type, float(tiles.radius)))
    share = np.minimum(share, LARGEST_WEIGHT / max(float(one.ends.max()), 1e-6))
    share = np.minimum(share, LARGEST_BLUR / max(float(one.blur.max()), 1e-6))
    spots = with_uniform_blur(table.radius, spots, one, share, float(tiles.blur_unit))
    return spots.matched_position, one, share


def disparity_rest(pitch_ratio: ArrayLike) -> Array:
    """(1 − λ)/λ: disparities per baseline are λ times the sum of 1/v and this (see camera.disparity)."""
    ratio = np.asarray(pitch_ratio, dtype=np.float64)
    return np.asarray((1 - ratio) / ratio)


def spots_narrowing(
    table: ApertureTable, lens_type: int, inverse_depths: Array, positions: Array, radius: float
) -> Array:
    """Variance, px² along the radius, that spots lose per px² of |X|² (h,), before any uniform blur."""
    weight = _light(table, lens_type, radius)
    squared = positions**2 - (positions**2 @ weight / weight.sum())[:, None]
    slope = (squared * table.variance_along[lens_type]) @ weight / np.maximum(squared**2 @ weight, 1e-12)
    return np.asarray(np.maximum(-slope, 0) * (inverse_depths - table.focus[lens_type]) ** 2)


def lens_levels(camera: PlenopticCamera) -> tuple[list[LensDistances], NDArray[np.int64]]:
    """Distances at a few levels of a tilted array, evenly spaced in d, and each lens' level (J,)."""
    main, sensor = lens_distances(camera, *camera.micro_images.lattice.indices())
    low, high = float(sensor.min()), float(sensor.max())
    count = 1 + int(np.ceil((high - low) / (LEVEL * high)))
    at = np.linspace(low, high, 2 * count + 1)[1::2]  # the middles of as many parts
    level = np.minimum(((sensor - low) / max(high - low, 1e-12) * count).astype(np.int64), count - 1).ravel()
    sum_of_both = float(np.mean(main + sensor))  # the sensor stays where it is
    return [LensDistances(np.asarray(sum_of_both - d), np.asarray(d)) for d in at], level


def mean_slope(table: ApertureTable, lens_type: int, positions: Array, radius: float) -> Array:
    """|X|/|x| (...) of the disc, least squares weighted by light, of |X| (..., n) at the table's radii."""
    weight = _light(table, lens_type, radius) * table.radius
    return np.asarray(positions @ weight / (table.radius @ weight))


def _light(table: ApertureTable, lens_type: int, radius: float) -> Array:
    """Light of the pixels at each of a table's radii (n,), summed over the circle; 0 outside the disc."""
    return np.where(table.radius <= radius, table.radius * table.area[lens_type], 0)


def true_from_apparent(
    apparent: Array, camera: PlenopticCamera, lens: NDArray[np.integer], margin: float, smoothing: float
) -> tuple[Array, Array]:
    """v and dv/dv' of virtual depths v' (...) that were found without regard to the aperture: the model `slope`.

    `lens` (...) is each entry's lens, l · columns + k, or −1. `margin` (px) and `smoothing` (px²) are the matching's.
    """
    levels, level = lens_levels(camera)
    types = np.maximum(camera.micro_images.lens_type(*camera.micro_images.lattice.indices()), 0).ravel()
    kind = np.append(level * camera.type_count + types, -1)[lens]
    radius = camera.micro_images.radius - margin
    sign = depth_sign(camera)
    true, growth = np.full(apparent.shape, np.nan), np.full(apparent.shape, np.nan)
    for n, distances in enumerate(levels):
        table, rest = aperture_table(camera, distances=distances), float(disparity_rest(pitch_ratio(camera, distances)))
        slopes = np.array([
            mean_slope(table, i, spots_of(table, i, sign / VIRTUAL_DEPTHS, smoothing).matched_position, radius)
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
