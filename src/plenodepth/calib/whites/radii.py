"""Radii of the micro-images in white images, per lens type and f-number, and R_i = m/N + q_i.

A pixel of a white image is as bright as the part of its micro-lens that the main lens' aperture leaves open: the common
area of two discs. On the sensor, at the distance r from the micro-image's centre, these are a disc of radius q_i (the
lens, out of focus) and one of radius M = m/N (the aperture) whose centres are r apart. So the light falls from r =
|q_i − M| to 0 at R_i = q_i + M, and the profile tells both: M is the same for all types, q_i for all apertures. Only
where the apertures' ratios are known does M tell m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from plenodepth.calib.whites.disc_centers import REACH, Profiles, class_profiles, discs_inside
from plenodepth.calib.whites.grid import FoundGrid
from plenodepth.calib.whites.lattice_fit import type_pattern_for
from plenodepth.camera.model import Array, Configuration, Indices, MicroImageArray, WhiteRadius
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement
from plenodepth.raw.periodicity import Float32, light_of

SUBPIXELS = np.array([-0.5, 0.5]) / np.sqrt(3)  # Gauss–Legendre over a pixel's width
DIRECTIONS = (np.arange(3) + 0.5) * np.pi / 12  # of pixels from the centre: an eighth of a turn stands for all
DARK, BRIGHT = 0.03, 0.95  # of the middle's light, where a profile ends and where it starts to fall: a first guess
BLACK = 0.02  # of the middle's light: standard deviation of what may be left of a black level
DIFFERENT = 0.01  # of the mean: types whose intercepts differ by less are one
SURE = 5.0  # standard errors, likewise
SAME_APERTURE = 1.2  # largest ratio of what two images tell of m: half a stop
FULL_SCALES = (255, 1023, 4095, 16383, 65535)
SATURATED = 0.01  # of all pixels
SAME = 0.05  # px: fits that differ by less are one
AMBIGUOUS = 1.3  # ratio of residuals below which lens and aperture may have been taken for each other


@dataclass(frozen=True, eq=False)
class WhiteRadii:
    """Radii of n white images and I lens types, px: `radii` = `aperture`[:, None] + `intercepts` = m/N + q_i.

    `f_numbers` (n,) holds those that were given, and for the others those that the radii tell; NaN: not known.
    `slope` m is NaN without any f-number.
    """

    f_numbers: Array
    aperture: Array  # (n,) px, M
    intercepts: Array  # (I,) px, q_i
    intercept_errors: Array  # (I,) px
    slope: float  # px, m
    slope_error: float
    type_pattern: Indices
    rms: float  # of measured minus fitted light, 1 in the mean over a disc
    notes: tuple[str, ...]

    @property
    def radii(self) -> Array:
        """(n, I) px: where the light ends, by white image and class of the type pattern."""
        return self.aperture[:, None] + self.intercepts

    def white_radius(self, pixel_size: float, configuration: Configuration) -> WhiteRadius:
        """m and q_i in mm, with the sign that libpleno gives them: minus unless Keplerian."""
        if not np.isfinite(self.slope):
            raise InputError("are not known", field="f_numbers", fix="give that of one white image or more")
        sign = 1.0 if configuration is Configuration.KEPLERIAN else -1.0
        return WhiteRadius(sign * self.slope * pixel_size, sign * self.intercepts * pixel_size)


def measure_radii(
    whites: Sequence[NDArray[Any]],
    f_numbers: Sequence[float | None],
    grid: FoundGrid,
    *,
    type_count: int | None = None,
    lights: Sequence[Float32] | None = None,
    threads: int = 1,
) -> WhiteRadii:
    """Radii from white images, linear light without black level, and their f-numbers (None: not known).

    The grid is that of one of the whites. Without `type_count` a hexagonal array has three types, or one where their
    radii do not differ. An f-number that does not go with its image is an error. `lights` are those of the whites
    (`light_of`), where they are known already.
    """
    if not len(whites) or len(whites) != len(f_numbers):
        raise InputError(
            f"{len(whites)} images and {len(f_numbers)} f-numbers", field="whites", fix="give one for each"
        )
    for value in f_numbers:
        if value is not None and not value > 0:
            raise InputError(f"is {value}, needs a number > 0", field="f_numbers")
    names = [f"white image {n}" for n in range(len(whites))]
    for image, name in zip(whites, names, strict=True):
        _require_unsaturated(image, name)
    if lights is None:
        lights = [light_of(image, name) for image, name in zip(whites, names, strict=True)]
    lattice = grid.fit.lattice
    hexagonal = lattice.arrangement is not Arrangement.ORTHOGONAL
    count = type_count if type_count is not None else 3 if hexagonal else 1
    found = _radii(lights, grid, type_pattern_for(lattice, max(count, 1)), names, threads)
    notes: tuple[str, ...] = ()
    if type_count is None and count > 1:
        spread = float(np.ptp(found.intercepts))
        if spread < max(DIFFERENT * float(found.intercepts.mean()), SURE * float(found.errors.max())):
            found = _radii(lights, grid, type_pattern_for(lattice, 1), names, threads)
            notes = ("the radii do not tell lens types apart: taken for one type",)
    if found.ambiguous:
        notes += ("one white image does not tell well how much of its radius is due to the aperture",)
    slope, error, numbers, more = _slope(found.aperture, found.aperture_errors, f_numbers)
    return WhiteRadii(
        numbers, found.aperture, found.intercepts, found.errors, slope, error, found.pattern, found.rms, notes + more
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """The fit of one layout of lens types."""

    pattern: Indices
    aperture: Array
    aperture_errors: Array
    intercepts: Array
    errors: Array
    rms: float
    ambiguous: bool


def _radii(lights: Sequence[Float32], grid: FoundGrid, pattern: Indices, names: Sequence[str], threads: int) -> _Found:
    micro_images = MicroImageArray(grid.fit.lattice, grid.fit.image_from_lattice, pattern)
    types = micro_images.type_count
    profiles = [_profile(light, grid, micro_images, name, threads) for light, name in zip(lights, names, strict=True)]
    reach = REACH * micro_images.lattice.diameter
    edges = np.array([_edges(profile) for profile in profiles])  # (n, 2): where the light starts to fall, and ends
    smallest = int(np.argmin(edges[:, 1]))
    fits = []
    for sign in (1.0, -1.0):
        lens = (edges[smallest, 1] + sign * edges[smallest, 0]) / 2
        start = np.concatenate([np.maximum(edges[:, 1] - lens, 0.3), np.full(types, max(lens, 0.3))])
        bounds = np.full(len(start), 0.05), np.full(len(start), 2 * reach)
        fits.append(least_squares(_residuals, start, bounds=bounds, args=(profiles,)))
    best, other = sorted(fits, key=lambda fit: float(fit.cost))
    moved = float(np.abs(best.x - other.x).max())
    n = len(lights)
    residual = np.asarray(best.fun, dtype=np.float64)
    slopes = np.asarray(best.jac, dtype=np.float64)
    variance = float(np.sum(residual**2)) / max(len(residual) - len(best.x), 1)
    errors = np.sqrt(np.diag(np.linalg.pinv(slopes.T @ slopes)) * variance)
    x = np.asarray(best.x, dtype=np.float64)
    share = float(np.sqrt(np.mean(residual**2)))
    ambiguous = moved > SAME and float(other.cost) < AMBIGUOUS**2 * float(best.cost)
    return _Found(pattern, x[:n], errors[:n], x[n:], errors[n:], share, bool(ambiguous))


def _profile(light: Float32, grid: FoundGrid, micro_images: MicroImageArray, name: str, threads: int) -> Profiles:
    pitch, types = micro_images.lattice.diameter, micro_images.type_count
    # The measured centres: a tilted array is not quite a lattice, and a blurred rim would look like a larger disc.
    uv, k, l = grid.centers.uv, grid.centers.k, grid.centers.l
    if not grid.white:
        raise InputError("is that of a textured image", field="grid", fix="give the grid of a white image")
    inside = discs_inside(light, uv, pitch, 0.0)
    if np.count_nonzero(inside) < 10 * types:
        raise InputError(f"shows {np.count_nonzero(inside)} whole micro-images, too few", file=name)
    classes = micro_images.lens_type(k, l)[inside]
    return class_profiles(light, uv[inside], classes, types, REACH * pitch, threads)


def _require_unsaturated(image: NDArray[Any], name: str) -> None:
    """Refuse integers that often are as large as they can be: a cut top looks like another aperture."""
    if image.dtype.kind != "u" or int(image.max()) not in FULL_SCALES:
        return
    share = float(np.mean(image == image.max()))
    if share > SATURATED:
        raise InputError(f"is saturated in {share:.0%} of its pixels", file=name, fix="expose it shorter")


def _edges(profile: Profiles) -> tuple[float, float]:
    """px, where the mean light of all types starts to fall and where it ends."""
    light, distance = np.nanmean(profile.light, axis=0), np.nanmean(profile.distance, axis=0)
    middle = float(np.nanmean(light[distance < 2.0]))
    lit, dark = distance[light > BRIGHT * middle], distance[light < DARK * middle]
    inner = float(lit.max()) if len(lit) else 0.0
    return inner, float(dark.min()) if len(dark) else float(np.nanmax(distance))


def _residuals(parameters: Array, profiles: list[Profiles]) -> Array:
    """Measured minus fitted light of all profiles, with the best brightness per type and image and black per image."""
    aperture, lenses = parameters[: len(profiles)], parameters[len(profiles) :]
    parts = []
    for size, profile in zip(aperture, profiles, strict=True):
        weight = np.sqrt(profile.counts / profile.counts.mean())
        known = weight > 0
        model = np.stack([_open_part(lens, size, place) for lens, place in zip(lenses, profile.distance, strict=True)])
        rows, bins = model.shape
        design = np.zeros((rows, bins, rows + 1))
        design[np.arange(rows), :, np.arange(rows)] = model
        design[..., rows] = 1.0
        matrix = (design * weight[..., None])[known]
        values = (np.nan_to_num(profile.light) * weight)[known]
        # A little black is likelier than much: one more equation.
        scale = BLACK * float(np.nanmax(profile.light))
        prior = np.append(np.zeros(rows), np.sqrt(len(values)) * float(np.nanstd(profile.light)) * 0.01 / scale)
        matrix, values = np.vstack([matrix, prior]), np.append(values, 0.0)
        linear = np.linalg.lstsq(matrix, values, rcond=None)[0]
        parts.append(values - matrix @ linear)
    return np.concatenate(parts)


def _open_part(lens: float, aperture: float, distance: Array) -> Array:
    """Common area (bins,) of discs of radii `lens` and `aperture` px, averaged over pixels, 1 where they cover."""
    away = np.nan_to_num(distance)[:, None, None, None]
    x = away * np.cos(DIRECTIONS)[:, None, None] + SUBPIXELS[:, None]
    y = away * np.sin(DIRECTIONS)[:, None, None] + SUBPIXELS
    area = _common_area(lens, aperture, np.hypot(x, y)).mean(axis=(1, 2, 3))
    return np.asarray(area / (np.pi * min(lens, aperture) ** 2))


def _common_area(first: float, second: float, distance: Array) -> Array:
    """Common area of two discs with these radii: as `geometry.discs.common_area`, in half the time."""
    # Clipped to where the rims cross: beyond, the area is that of the smaller disc, or none.
    d = np.clip(distance, max(abs(first - second), 1e-9), first + second)
    at_first = np.arccos(np.clip((d**2 + first**2 - second**2) / (2 * d * first), -1, 1))
    at_second = np.arccos(np.clip((d**2 + second**2 - first**2) / (2 * d * second), -1, 1))
    return np.asarray(
        first**2 * (at_first - np.sin(2 * at_first) / 2) + second**2 * (at_second - np.sin(2 * at_second) / 2)
    )


def _slope(
    aperture: Array, errors: Array, f_numbers: Sequence[float | None]
) -> tuple[float, float, Array, tuple[str, ...]]:
    """m, its standard error, the f-numbers with those that were missing, and notes."""
    numbers = np.array([np.nan if value is None else float(value) for value in f_numbers])
    known = np.isfinite(numbers)
    if not known.any():
        return np.nan, np.nan, numbers, ("no f-number is known: the slope m is not either",)
    each = (aperture * numbers)[known]
    typical = float(np.median(each))
    if each.max() > SAME_APERTURE * each.min():
        told = ", ".join(f"f/{n:g}: f/{typical / a:.2g}" for n, a in zip(numbers[known], aperture[known], strict=True))
        raise InputError(
            f"do not go with the images; given, and as the radii tell: {told}",
            field="f_numbers",
            fix="check which image is which",
        )
    weight = 1 / np.maximum(errors * numbers, 1e-3 * typical)[known] ** 2
    slope = float(np.average(each, weights=weight))
    scatter = float(np.average((each - slope) ** 2, weights=weight)) / max(len(each) - 1, 1)
    error = float(np.sqrt(max(scatter, 1 / weight.sum())))
    notes = tuple(
        f"white image {n}: f-number not given, its radius tells f/{slope / aperture[n]:.3g}"
        for n in np.flatnonzero(~known)
    )
    return slope, error, np.where(known, numbers, slope / aperture), notes
