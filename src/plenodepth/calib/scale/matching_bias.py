"""The depth that matching finds where it does not undo the clipping of light by the main lens' aperture.

For objects nearer than a lens' focus the chief rays of clipped pixels are closer together than the thin-lens model says
(`aperture.clipping`): the scene is magnified within each micro-image, disparities grow, and depth comes out too large.

Two predictions from the optics. The slope: x_eff ≈ slope · x over the compared disc, so that disparities grow by
1/slope. They go with 1/v + r, r = (1 − λ)/λ (see `camera.disparity`), and hence 1/v' + r = (1/v + r)/slope.
The matching itself: two views i and j of a random texture are compared at a hypothesis u = 1/v', pixel x of the one
with pixel x + δ(u) of the other. Each shows the texture averaged over its open part of the lens; of the frequency ω
    K_i(x, ω) = mean over open y of exp(i ω · (x + y (1/v − 1/v0_i))),
is left, so that the expected square of their difference is
    ∫ S(ω) |K_i(x, ω) − K_j(x + δ(u), ω) exp(−i ω · δ(1/v))|² dω,
and the matcher's mean absolute difference goes with its root. S = 1/|ω|² is the power of natural images and of noise
of equal strength in all octaves. Pixels that the aperture leaves hardly any light are missing, as in a devignetted
image: at f/8 the rims. The hypothesis of the lowest cost is the depth that is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera.aperture.clipping import disc_of_pupil, focus_inverse_depth, open_lens
from plenodepth.camera.disparity import corrected_disparity
from plenodepth.camera.micro_lenses import lens_distances, pitch_ratio, require_blur
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.depth.aperture.resampling import disparity_rest
from plenodepth.depth.kernels.constants import LEAST_COMMON_WIDTH, MIXTURE_VARIANCE
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.geometry.discs import common_area
from plenodepth.raw.devignette import LEAST_LIGHT

Complex = NDArray[np.complex128]
Method = Literal["matching", "slope"]

COARSE = DepthSettings()  # the estimation that is modelled
GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
LENS_POINTS = 110
PIXELS = 40  # of half a disc: the other half is its mirror image
FREQUENCIES, DIRECTIONS = 8, 6
SLOWEST, FASTEST = 0.1, 3.0  # rad/px
SCAN = np.linspace(-0.12, 0.12, 5)  # relative, about the slope's prediction
MOST_PLACES = 25  # of a scan that goes on beyond its ends
PRECISION = 3e-4  # relative


@dataclass(frozen=True)
class Matching:
    """Settings of a depth estimation that matter for the scale; by default those of the coarse one. Lengths in px."""

    margin: float = COARSE.margin_for("off")  # off the micro-image's radius
    reach: float = COARSE.far_reach  # lens pitches to the farthest view
    least_light: float = LEAST_LIGHT  # of the centre's: pixels with less are missing
    overlap: float = COARSE.least_overlap  # px that a view must share with the one it is compared with
    blur: bool = True  # views are equally blurred before they are compared
    smoothing: float = COARSE.smoothing  # px² of variance that all views are smoothed by
    # By which views of the same differ anyhow (interpolation, noise), in parts of their contrast. An assumption: it
    # matters where few pixels are clipped, at f/2.8, and hardly at f/4.
    noise: float = 0.07
    search: float = 0.02  # of 1/v: a view takes part if it still overlaps so much nearer than the depth found


def predicted_virtual_depth(
    virtual_depth: ArrayLike,
    camera: PlenopticCamera,
    f_number: float | None = None,
    *,
    matching: Matching | None = None,
    method: Method = "matching",
) -> Array:
    """v' (...) that is found where the virtual depth is v (...), for lenses near the array's centre, mean of the types.

    Default: the camera's own f-number. NaN stays NaN; where views share too little to be compared, there is no depth.
    """
    matching = matching or Matching()
    require_blur(camera)
    if not 0 <= matching.margin < camera.micro_images.radius:
        raise InputError(
            f"is {matching.margin:g} px, the micro-images have a radius of {camera.micro_images.radius:.4g} px",
            field="margin",
        )
    v = np.asarray(virtual_depth, dtype=np.float64)
    slope = magnification_slopes(v, camera, f_number, margin=matching.margin).mean(axis=-1)
    by_slope = with_stretched_disparities(v, slope, float(pitch_ratio(camera)))
    if method == "slope":
        return by_slope
    model = _model(camera, f_number, matching)
    return np.reshape([_matched(model, one, about) for one, about in zip(v.flat, by_slope.flat, strict=True)], v.shape)


def with_stretched_disparities(virtual_depth: Array, slope: Array, pitch_ratio: float) -> Array:
    """v' (...) of disparities that are 1/slope times those of v (...)."""
    rest = disparity_rest(pitch_ratio)
    return np.asarray(1 / ((1 / virtual_depth + rest) / slope - rest))


def magnification_slopes(
    virtual_depth: ArrayLike, camera: PlenopticCamera, f_number: float | None = None, *, margin: float
) -> Array:
    """x_eff/x (..., I) of each lens type: least squares over the disc, by the light of its pixels."""
    offset = np.linspace(0, (camera.micro_images.radius - margin) * camera.sensor.pixel_size, 200)[1:]
    inverse = 1 / np.asarray(virtual_depth, dtype=np.float64)
    focus = focus_inverse_depth(camera)
    result = np.empty((*inverse.shape, len(focus)))
    for lens_type, inverse_focus in enumerate(focus):
        part = open_lens(offset, lens_type, camera, f_number)
        lit = part.area > 0
        weight = (offset * part.area)[lit]  # the pixels of a ring
        moved = np.sum(weight * part.centroid[lit] * offset[lit]) / np.sum(weight * offset[lit] ** 2)
        result[..., lens_type] = 1 + (inverse - inverse_focus) * moved
    return result


class _View(NamedTuple):
    """Views of one lens type at one distance; `number` of them, alike but for their direction."""

    lens_type: int
    baseline: float  # px
    number: int


class _Model(NamedTuple):
    """All that does not depend on the depth. Nothing depends on a view's direction, so that all lie along x."""

    radius: float  # px, of the compared disc
    pixels: Array  # (p, 2) px, of its upper half: the lower one is the mirror image
    lens_points: Array  # (y, 2) px
    half: float  # px, half a lens' diameter
    frequencies: Array  # (w, 2) rad/px
    power: Array  # (w,)
    mixture: Array  # (w,) what is left of each frequency after the mixture's blur
    focus: Array  # (I,) 1/v0
    ratio: Array  # (I,) of the pupil's disc, see `PupilOnLens`
    disc: Array  # (I,) px, its radius
    lit: Array  # (I,) px, the part of the disc with light enough
    pitch_ratio: float  # λ
    views: list[list[_View]]  # by the lens type that they are compared with
    blur: bool
    noise: float
    search: float
    overlap: float


def _model(camera: PlenopticCamera, f_number: float | None, matching: Matching) -> _Model:
    pixel, distances = camera.sensor.pixel_size, lens_distances(camera)
    radius, half = camera.micro_images.radius - matching.margin, camera.micro_lenses.lens_diameter / 2 / pixel
    magnitude = np.geomspace(SLOWEST, FASTEST, FREQUENCIES)
    angle = (np.arange(DIRECTIONS) + 0.5) * np.pi / DIRECTIONS
    frequencies = np.outer(magnitude, np.exp(1j * angle)).ravel()
    frequencies = np.stack([frequencies.real, frequencies.imag], axis=1)
    squares = np.repeat(magnitude**2, DIRECTIONS)
    # S ω dω dθ with S = 1/ω² is the same for every step of the logarithm. A pixel averages over its square.
    power = np.exp(-matching.smoothing * squares) * np.sinc(frequencies / (2 * np.pi)).prod(axis=1) ** 2
    discs = [disc_of_pupil(*distances, i, camera, f_number) for i in range(camera.type_count)]
    pixels = _spiral(2 * PIXELS, radius)
    return _Model(
        radius=radius,
        pixels=pixels[pixels[:, 1] > 0],
        lens_points=_spiral(LENS_POINTS, half),
        half=half,
        frequencies=frequencies,
        power=power,
        mixture=np.exp(-MIXTURE_VARIANCE / 2 * squares),
        focus=focus_inverse_depth(camera),
        ratio=np.array([float(ratio) for ratio, _ in discs]),
        disc=np.array([float(size) for _, size in discs]) / pixel,
        lit=np.array(
            [min(radius, _lit_radius(camera, i, f_number, matching.least_light)) for i in range(camera.type_count)]
        ),
        pitch_ratio=float(pitch_ratio(camera, distances)),
        views=[_views(camera, i, matching.reach) for i in range(camera.type_count)],
        blur=matching.blur,
        noise=matching.noise,
        search=matching.search,
        overlap=matching.overlap,
    )


def _lit_radius(camera: PlenopticCamera, lens_type: int, f_number: float | None, least: float) -> float:
    """px off a micro-image's centre up to which pixels have `least` of its light; its radius where all have."""
    offset = np.linspace(0, camera.micro_images.radius, 400)
    area = open_lens(offset * camera.sensor.pixel_size, lens_type, camera, f_number).area
    return float(offset[area >= least * area[0]].max())


def _spiral(count: int, radius: float) -> Array:
    """Points (count, 2) evenly over a disc."""
    index = np.arange(count) + 0.5
    angle = GOLDEN_ANGLE * index
    return np.asarray(radius * np.sqrt(index / count)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _views(camera: PlenopticCamera, lens_type: int, reach: float) -> list[_View]:
    """The views within `reach` pitches of a lens of that type, amid the array."""
    grid, span = camera.micro_images, int(np.ceil(reach * 1.2)) + 1
    rows, columns = grid.type_pattern.shape
    k, l = next((k, l) for l in range(rows) for k in range(columns) if grid.lens_type(k, l) == lens_type)
    dl, dk = (offset.ravel() for offset in np.mgrid[-span : span + 1, -span : span + 1])
    baseline = np.linalg.norm(grid.center(k, l) - grid.center(k + dk, l + dl), axis=1)
    near = (baseline > 0) & (baseline <= 1.01 * reach * grid.lattice.diameter)
    kinds = np.column_stack([grid.lens_type(k + dk, l + dl)[near], np.round(baseline[near], 1)])
    unique, counts = np.unique(kinds, axis=0, return_counts=True)
    return [_View(int(kind), float(at), int(n)) for (kind, at), n in zip(unique, counts, strict=True)]


def _matched(model: _Model, v: float, by_slope: float) -> float:
    """v' of the matching, 1/v' averaged over the lens types; the slope's v' tells where to look."""
    if not np.isfinite(v):
        return float("nan")
    about = 1 / by_slope
    lowest = []
    for lens_type in range(len(model.focus)):
        reference = _shown(model, lens_type, model.pixels, 1 / v)
        if views := _overlapping(model, lens_type, about):
            lowest.append(_lowest(partial(_cost, model, lens_type, views, reference, 1 / v), about))
    return float(1 / np.mean(lowest)) if lowest else float("nan")


def _overlapping(model: _Model, lens_type: int, about: float) -> list[_View]:
    """Views that share enough with a lens of that type where 1/v is searched: a width, and lit pixels."""
    nearest, most = about + np.copysign(model.search, about), 2 * model.radius - LEAST_COMMON_WIDTH
    near = [view for view in model.views[lens_type] if abs(_disparity(model, view, nearest)) < most]
    apart = np.array([abs(_disparity(model, view, about)) for view in near])
    theirs = np.array([model.lit[view.lens_type] for view in near])
    shared = common_area(model.lit[lens_type], theirs, apart)
    return [view for view, pixels in zip(near, shared, strict=True) if pixels >= model.overlap]


def _disparity(model: _Model, view: _View, inverse: float) -> float:
    """Disparity of a view, px along x, at 1/v."""
    return float(corrected_disparity([view.baseline, 0.0], 1 / inverse, model.pitch_ratio)[0])


def _shown(model: _Model, lens_type: int, pixels: Array, inverse: float) -> Complex:
    """K (p, w): what pixels of a lens type show of each frequency, at 1/v."""
    shift = inverse - model.focus[lens_type]
    away = model.lens_points - model.ratio[lens_type] * pixels[:, None]
    # A point of the lens stands for a patch of it, which the pupil's rim covers by and by.
    patch = model.half * np.sqrt(np.pi / LENS_POINTS)
    light = np.clip((model.disc[lens_type] - np.hypot(away[..., 0], away[..., 1])) / patch + 0.5, 0, 1)
    light /= np.maximum(light.sum(axis=1, keepdims=True), 1e-9)
    blurred = light @ np.exp(1j * shift * (model.lens_points @ model.frequencies.T))
    return np.asarray(blurred * np.exp(1j * (pixels @ model.frequencies.T)))


def _in_disc(pixels: Array, radius: float) -> Array:
    """Share (p,) in [0, 1] of each pixel (p, 2) that lies in a disc."""
    return np.asarray(np.clip(radius - np.hypot(*pixels.T) + 0.5, 0, 1))


def _cost(model: _Model, lens_type: int, views: list[_View], reference: Complex, true: float, inverse: float) -> float:
    """Mean absolute difference of the views at the hypothesis 1/v' = inverse, where 1/v = true; up to a factor."""
    total = weights = 0.0
    seen = _in_disc(model.pixels, model.lit[lens_type])
    for view in views:
        ours, theirs = _equalised(model, lens_type, view.lens_type, inverse)
        for sign in (1, -1):
            pixels = model.pixels + [sign * _disparity(model, view, inverse), 0]
            weight = view.number * seen * _in_disc(pixels, model.lit[view.lens_type])
            some = weight > 0
            target = _shown(model, view.lens_type, pixels[some], true)
            target *= np.exp(-1j * sign * _disparity(model, view, true) * model.frequencies[:, 0])
            difference = np.abs(ours * reference[some] - theirs * target) ** 2 @ model.power
            difference += model.noise**2 * (np.abs(reference[some]) ** 2 @ model.power)
            total += float(weight[some] @ np.sqrt(difference))
            weights += float(weight.sum())
    return total / weights if weights else np.inf


def _equalised(model: _Model, one: int, other: int, inverse: float) -> tuple[Array, Array]:
    """Responses (w,) of the blur that makes views of two types equally sharp, as the thin-lens model has it at 1/v'."""
    same = np.ones(len(model.power))
    if not model.blur:
        return same, same
    first, second = (model.half / 2 * (inverse - model.focus[i]) for i in (one, other))
    variance = first**2 - second**2  # px² by which the first is blurrier

    def response(amount: float) -> Array:
        return np.asarray(1 + max(amount, 0.0) / MIXTURE_VARIANCE * (model.mixture - 1))

    return response(-variance), response(variance)


def _lowest(cost: Callable[[float], float], about: float) -> float:
    """The hypothesis of the lowest cost."""
    from scipy.optimize import (
        minimize_scalar,  # the command line imports this module, and SciPy would take half a second
    )

    places = about * (1 + SCAN)
    costs = [cost(place) for place in places]
    while (best := int(np.argmin(costs))) in (0, len(places) - 1) and len(places) < MOST_PLACES:
        beyond = places[best] + (SCAN[1] - SCAN[0]) * about * (-1 if best == 0 else 1)
        end = 0 if best == 0 else len(places)
        places, costs = np.insert(places, end, beyond), [*costs[:end], cost(beyond), *costs[end:]]
    ends = float(places[max(best - 1, 0)]), float(places[min(best + 1, len(places) - 1)])
    bounds = (min(ends), max(ends))
    found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": PRECISION * abs(about)})
    return float(found.x)
