"""Filters of virtual depth: a map in, a map out. What is removed becomes NaN, with a confidence of 0.

No filter fills a hole: a missing depth stays missing. `sigma` of what stays is left as it was, which is on the
safe side after smoothing. Differences of depth are judged in 1/v, to which disparity, the thing measured, is
proportional. The paper's own results use the metric range alone; `FilterSettings()` does the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import (
    Camera,
    PlenopticCamera,
    corrected_disparity,
    infinity_virtual_depth,
    lens_distances,
    usable_depth_range,
    virtual_from_metric,
)
from plenodepth.camera.depth import VIRTUAL_RANGE, scaled_for
from plenodepth.camera.micro_images import owner_map
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.geometry import Lattice

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]

FIRST_RING = 1.45  # pitches: the 6 neighbours of a hexagonal lattice, the 8 of an orthogonal one
WINDOW = 2  # px to each side inside a micro-image: 5 × 5
ROWS_AT_A_TIME = 4  # the temporaries of so many image rows stay in the processor's cache
PIXELS_AT_A_TIME = 32_768


@dataclass(frozen=True)
class FilterSettings:
    """Which filters run, in this order, and their parameters. The default is the paper's: the metric range alone."""

    confidence: bool = False
    least_confidence: float = 0.1
    metric_range: bool = True
    near: float | None = None  # mm; None: the camera's own limit
    far: float | None = None
    consistency: bool = False
    tolerance: float = 0.1  # relative, in 1/v
    least_agreeing: int = 2  # neighbours
    median: bool = False
    bilateral: bool = False
    sigma_lenses: float = 1.0  # lens pitches
    sigma_v: float = 1.0  # virtual depth

    def __post_init__(self) -> None:
        checks = {
            "least_confidence": self.least_confidence >= 0,
            "near": self.near is None or self.near >= 0,
            "far": self.far is None or self.far > (self.near or 0),
            "tolerance": self.tolerance > 0,
            "least_agreeing": self.least_agreeing >= 0,
            "sigma_lenses": self.sigma_lenses >= 0,
            "sigma_v": self.sigma_v > 0,
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(f"cannot be {getattr(self, name)}", field=f"filters.{name}")


def apply_filters(
    depth_map: VirtualDepthMap,
    camera: Camera,
    settings: FilterSettings | None = None,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
) -> VirtualDepthMap:
    """Run the filters that `settings` switches on. A camera without optics has no millimetres: no metric range.

    `virtual_range`: the |v| that were searched.
    """
    chosen = settings or FilterSettings()
    if chosen.confidence:
        depth_map = confidence_threshold(depth_map, chosen.least_confidence)
    if chosen.metric_range and isinstance(camera, PlenopticCamera):
        depth_map = metric_range(depth_map, camera, chosen.near, chosen.far, virtual_range)
    if chosen.consistency:
        depth_map = consistency(depth_map, camera, chosen.tolerance, chosen.least_agreeing)
    if chosen.median:
        depth_map = median_across(depth_map, camera)
    if chosen.bilateral:
        depth_map = bilateral(depth_map, camera, chosen.sigma_lenses, chosen.sigma_v)
    return depth_map


def confidence_threshold(depth_map: VirtualDepthMap, least: float = 0.1) -> VirtualDepthMap:
    """Remove what is less confident than `least`; 0 removes nothing."""
    return _kept(depth_map, depth_map.confidence >= least)


def metric_range(
    depth_map: VirtualDepthMap,
    camera: PlenopticCamera,
    near: float | None = None,
    far: float | None = None,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
) -> VirtualDepthMap:
    """Remove what is nearer than `near` or farther than `far` (mm, Γ included).

    Each defaults to the camera's own limit, `usable_depth_range` of the |v| searched; 0 and inf switch them off, but
    for depths beyond infinity, which no object has.
    """
    require_shape(depth_map, camera)
    camera = scaled_for(camera, depth_map.aperture_model)
    usable = usable_depth_range(camera, virtual_range)
    nearest = float(usable.near if near is None else near)
    farthest = float(usable.far if far is None else far)
    if not nearest < farthest:
        raise InputError(f"is {nearest:g} … {farthest:g} mm", field="near, far", fix="give near < far")
    # The limits as virtual depths of each lens, so that nothing need be converted per pixel. z falls as v grows.
    k, l = camera.micro_images.lattice.indices()
    beyond = infinity_virtual_depth(camera, k, l)
    highest = virtual_from_metric(nearest, camera, k, l, invalid="nan")
    lowest = virtual_from_metric(farthest, camera, k, l, invalid="nan") if np.isfinite(farthest) else beyond
    # NaN: the limit lies where the camera never measures (inside the focal length, outside what Γ takes).
    highest = np.where(np.isnan(highest), np.inf, highest)
    lowest = np.where(np.isnan(lowest), beyond, lowest)
    v = depth_map.virtual_depth
    if not depth_map.refined:
        return _kept(depth_map, (v >= _float32_below(lowest)) & (v > beyond) & (v <= _float32_above(highest)))
    owner = owner_map(camera.micro_images, *v.shape)
    tables = [_with_missing(x) for x in (_float32_below(lowest), beyond, _float32_above(highest))]
    keep = np.empty(v.shape, np.bool_)
    for rows in _row_blocks(len(v)):
        low, limit, high = (table[owner[rows]] for table in tables)
        keep[rows] = (v[rows] >= low) & (v[rows] > limit) & (v[rows] <= high)
    return _kept(depth_map, keep)


def consistency(depth_map: VirtualDepthMap, camera: Camera, tolerance: float = 0.1, least: int = 2) -> VirtualDepthMap:
    """Remove what fewer than `least` of the neighbouring micro-images confirm; 0 removes nothing.

    A neighbour confirms v when |1/v' − 1/v| ≤ tolerance · |1/v|. Coarse: v' is the neighbour's own depth. Refined:
    v' is the depth at the pixel where v says that the neighbour sees the same point (reference to target, and back).
    """
    require_shape(depth_map, camera)
    if least <= 0:
        return depth_map
    v = depth_map.virtual_depth
    ring = _ring(camera.micro_images.lattice, FIRST_RING)
    if not depth_map.refined:
        inverse = _inverse(v)
        with np.errstate(invalid="ignore"):
            agree = np.abs(_with_missing(inverse)[ring.index] - inverse) <= tolerance * np.abs(inverse)
        return _kept(depth_map, agree.sum(axis=0) >= least)
    owner = owner_map(camera.micro_images, *v.shape)
    ratio = lens_distances(camera).pitch_ratio if isinstance(camera, PlenopticCamera) else np.asarray(1.0)
    steps = ring.unit * camera.micro_images.lattice.pitch @ camera.micro_images.image_from_lattice.rotation.T
    neighbours = ring.index.reshape(len(steps), -1).astype(np.int32)
    keep = np.zeros(v.size, np.bool_)
    height, width = v.shape
    flat_v, flat_owner = v.ravel(), owner.ravel()
    members = np.flatnonzero(np.isfinite(flat_v) & (flat_owner >= 0) & (flat_v != 0))
    for start in range(0, len(members), PIXELS_AT_A_TIME):
        pixels = members[start : start + PIXELS_AT_A_TIME]
        row, column = np.divmod(pixels, width)
        depth, lens = flat_v[pixels], flat_owner[pixels]
        # p_j = p_i + (c_j − c_i) + δ' with δ' = g (c_i − c_j): a step of (1 − g) (c_j − c_i) in the image.
        stay = 1 - corrected_disparity([1.0], depth, ratio)[:, 0]
        count = np.zeros(len(pixels), np.int8)
        for (across, down), neighbour in zip(steps, neighbours, strict=True):
            u, w = (column + np.rint(stay * across)).astype(np.int64), (row + np.rint(stay * down)).astype(np.int64)
            inside = (u >= 0) & (u < width) & (w >= 0) & (w < height)
            target = np.where(inside, w * width + u, 0)
            seen = inside & (flat_owner[target] == neighbour[lens])
            # |1/v' − 1/v| ≤ t |1/v| without the divisions; a missing v' compares false.
            other = flat_v[target]
            count += seen & (np.abs(other - depth) <= tolerance * np.abs(other)) & (other * depth > 0)
        keep[pixels] = count >= least
    return _kept(depth_map, keep.reshape(v.shape))


def median_across(depth_map: VirtualDepthMap, camera: Camera) -> VirtualDepthMap:
    """The median of what is there among a micro-image and its neighbours (coarse) or in the 5 × 5 window (refined).

    A window takes only pixels of its own micro-image. Of two middle values the one nearer to the entry's own serves:
    no depth between two surfaces is made up.
    """
    require_shape(depth_map, camera)
    v = depth_map.virtual_depth
    if not depth_map.refined:
        ring = _ring(camera.micro_images.lattice, FIRST_RING)
        return _replaced(depth_map, median_of_present(np.concatenate([v[None], _with_missing(v)[ring.index]]), v))
    median = np.empty_like(v)
    for rows, planes, _ in _windows(v, owner_map(camera.micro_images, *v.shape)):
        median[rows] = median_of_present(planes, v[rows])
    return _replaced(depth_map, median)


def bilateral(
    depth_map: VirtualDepthMap, camera: Camera, sigma_lenses: float = 1.0, sigma_v: float = 1.0
) -> VirtualDepthMap:
    """Mean weighted by exp(−distance²/2 sigma_lenses² − (v' − v)²/2 sigma_v²); a sigma_lenses of 0 changes nothing.

    The distance is that on the image that the main lens makes, in lens pitches: from lens to lens for a coarse map;
    |v| times that in the micro-image for a refined one, over the 5 × 5 window within one micro-image.
    """
    require_shape(depth_map, camera)
    if sigma_lenses == 0:
        return depth_map
    if not (sigma_lenses > 0 and sigma_v > 0):
        raise InputError(f"are {sigma_lenses:g} and {sigma_v:g}, need > 0", field="sigma_lenses, sigma_v")
    v, lattice = depth_map.virtual_depth, camera.micro_images.lattice
    by_depth = np.float32(0.5 / sigma_v**2)
    if not depth_map.refined:
        ring = _ring(lattice, max(2 * sigma_lenses, FIRST_RING))
        squares = (ring.unit**2).sum(axis=1).astype(np.float32) / np.float32(2 * sigma_lenses**2)
        terms = ((_with_missing(v)[index], square) for index, square in zip(ring.index, squares, strict=True))
        return _replaced(depth_map, _weighted_mean(v, terms, by_depth))
    by_distance = np.float32(0.5 / (sigma_lenses * lattice.diameter) ** 2)
    mean = np.empty_like(v)
    for rows, planes, offsets in _windows(v, owner_map(camera.micro_images, *v.shape)):
        spread = by_distance * v[rows] ** 2
        terms = (
            (plane, spread * np.float32(x * x + y * y))
            for plane, (y, x) in zip(planes, offsets, strict=True)
            if (y, x) != (0, 0)
        )
        mean[rows] = _weighted_mean(v[rows], terms, by_depth)
    return _replaced(depth_map, mean)


def _weighted_mean(v: Float32, others: Iterator[tuple[Float32, Float32 | np.float32]], by_depth: np.float32) -> Float32:
    """v + Σ w (v' − v) / (1 + Σ w): as the mean, but free of rounding where all are equal."""
    total, weight = np.zeros_like(v), np.ones_like(v)
    with np.errstate(invalid="ignore", under="ignore"):
        for other, distance in others:
            step = other - v
            step[~np.isfinite(step)] = 0  # missing; the weight is taken out below
            w = np.exp(-(distance + by_depth * step * step))
            w *= np.isfinite(other)
            total += w * step
            weight += w
    return np.asarray(v + total / weight)


# --- what filters share ---------------------------------------------------------------------------------------------


def require_shape(depth_map: VirtualDepthMap, camera: Camera) -> None:
    """Refuse a map that another camera made."""
    lattice = camera.micro_images.lattice
    image = camera.sensor if isinstance(camera, PlenopticCamera) else camera
    expected = (image.height, image.width) if depth_map.refined else (lattice.rows, lattice.columns)
    if depth_map.virtual_depth.shape != expected:
        kind = "refined" if depth_map.refined else "coarse"
        raise InputError(
            f"a {kind} map of the shape {depth_map.virtual_depth.shape} is not one of camera '{camera.name}'",
            field="virtual_depth",
            fix=f"give {expected}",
        )


def median_of_present(planes: Float32, own: Float32) -> Float32:
    """Median over the first axis of (n, ...) without NaN; of two middle values the one nearer to `own`.

    NaN where all are missing. A sorting network of whole planes: many times faster than sorting millions of short rows.
    """
    rows = [np.where(np.isfinite(plane), plane, np.float32(np.inf)) for plane in planes]
    spare = np.empty_like(rows[0])
    for i, j in _exchanges(len(rows)):
        np.minimum(rows[i], rows[j], out=spare)
        np.maximum(rows[i], rows[j], out=rows[j])
        rows[i], spare = spare, rows[i]
    ordered = np.stack(rows)
    count = np.isfinite(ordered).sum(axis=0, dtype=np.int8)
    low = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0)[None].astype(np.int64), axis=0)[0]
    high = np.take_along_axis(ordered, (count // 2)[None].astype(np.int64), axis=0)[0]
    with np.errstate(invalid="ignore"):
        median = np.where(np.abs(high - own) < np.abs(low - own), high, low)
    return np.where(count > 0, median, np.float32(np.nan))


@lru_cache
def _exchanges(count: int) -> tuple[tuple[int, int], ...]:
    """The pairs to compare, in order, that sort `count` values: Batcher's merge exchange."""
    pairs = []
    top = 1 << max(count - 1, 0).bit_length() >> 1
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(count - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
    return tuple(pairs)


@dataclass(frozen=True, eq=False)
class _Ring:
    index: Int64  # (m, rows, columns): flat index of each micro-image's i-th neighbour, −1 beyond the array
    unit: Float64  # (m, 2): the way to it for unit pitches, the same for all micro-images


def _ring(lattice: Lattice, reach: float) -> _Ring:
    """The neighbours within `reach` pitches."""
    k, l = lattice.indices()
    span = int(np.ceil(reach / np.sqrt(0.75)))
    dl, dk = (step.ravel() for step in np.mgrid[-span : span + 1, -span : span + 1])
    index: dict[tuple[float, float], Int64] = {}
    for parity_l in (0, 1):  # the shift of rows or columns makes steps depend on parity
        for parity_k in (0, 1):
            here = (l % 2 == parity_l) & (k % 2 == parity_k)
            ways = lattice.unit_node(parity_k + dk, parity_l + dl) - lattice.unit_node(parity_k, parity_l)
            for step_k, step_l, way in zip(dk, dl, ways, strict=True):
                if not 0 < way @ way <= reach**2:
                    continue
                towards = index.setdefault(
                    (round(float(way[0]), 6), round(float(way[1]), 6)), np.full(k.shape, -1, np.int64)
                )
                there = here & lattice.contains(k + step_k, l + step_l)
                towards[there] = ((l + step_l) * lattice.columns + k + step_k)[there]
    return _Ring(np.stack(list(index.values())), np.array(list(index)))


def _windows(v: Float32, owner: Int32) -> Iterator[tuple[slice, Float32, list[tuple[int, int]]]]:
    """Blocks of rows with their 25 shifted copies (25, rows, w), NaN where another micro-image begins."""
    width = v.shape[1]
    padded, around = np.pad(v, WINDOW, constant_values=np.nan), np.pad(owner, WINDOW, constant_values=-2)
    offsets = [(y, x) for y in range(-WINDOW, WINDOW + 1) for x in range(-WINDOW, WINDOW + 1)]
    for rows in _row_blocks(len(v)):
        planes = np.empty((len(offsets), rows.stop - rows.start, width), np.float32)
        for plane, (y, x) in zip(planes, offsets, strict=True):
            there = (
                slice(rows.start + WINDOW + y, rows.stop + WINDOW + y),
                slice(WINDOW + x, WINDOW + x + width),
            )
            np.copyto(plane, padded[there])
            plane[around[there] != owner[rows]] = np.nan
        yield rows, planes, offsets


def _row_blocks(height: int) -> Iterator[slice]:
    return (slice(start, min(start + ROWS_AT_A_TIME, height)) for start in range(0, height, ROWS_AT_A_TIME))


def _with_missing(per_lens: NDArray[np.floating]) -> Float32:
    """The values of all lenses in one row and NaN after them, where the index −1 finds it."""
    return np.append(per_lens.ravel(), np.nan).astype(np.float32)


def _inverse(v: Float32) -> Float32:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(v == 0, np.float32(np.nan), 1 / v)


def _float32_below(x: Float64) -> Float32:
    """Limits as float32, one step wider: a depth that was stored as float32 still lies on its own limit."""
    return np.nextafter(x.astype(np.float32), np.float32(-np.inf))


def _float32_above(x: Float64) -> Float32:
    return np.nextafter(x.astype(np.float32), np.float32(np.inf))


def _kept(depth_map: VirtualDepthMap, keep: Bool) -> VirtualDepthMap:
    missing = np.float32(np.nan)
    keep = keep & np.isfinite(depth_map.virtual_depth)
    return replace(
        depth_map,
        virtual_depth=np.where(keep, depth_map.virtual_depth, missing),
        sigma=np.where(keep, depth_map.sigma, missing),
        confidence=np.where(keep, depth_map.confidence, np.float32(0)),
    )


def _replaced(depth_map: VirtualDepthMap, virtual_depth: Float32) -> VirtualDepthMap:
    """Another depth where there was one; holes stay."""
    present = np.isfinite(depth_map.virtual_depth)
    return replace(depth_map, virtual_depth=np.where(present, virtual_depth, np.float32(np.nan)))
