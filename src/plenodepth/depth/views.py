"""Which views are compared with which, and what a hypothesis means for them: the geometry of the matching."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, configuration, lens_distances, relative_blur
from plenodepth.camera.aperture.clipping import aperture_table
from plenodepth.camera.model import ApertureModel, Configuration
from plenodepth.depth.kappa import used_kappa
from plenodepth.depth.settings import DISC_BLUR_COEFFICIENT, DepthSettings
from plenodepth.depth.tiles import noise_power, smoothing_of
from plenodepth.geometry import Arrangement

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]


# px of disparity between neighbouring lenses that remain uncertain without any noise: what interpolation does.
COARSE_FLOOR = 0.001
REFINED_FLOOR = 0.003
PARTLY = 1 / 3  # what pixels count on average where those that are clipped unalike count less


class Views(NamedTuple):
    """Neighbourhoods, relative blur and limits, for kernels. Offsets depend on whether a row (column) is even or odd.

    A tuple, because that is what compiled functions take; NumPy's scalars, because Python's would be 64 bits wide.
    """

    columns: int
    rows: int
    by_column: bool  # parity goes by the column (column-aligned arrays) instead of the row
    step_k: Int32  # (2, n) index offsets of the neighbours, nearest first, for even and odd
    step_l: Int32  # (2, n)
    baseline: Float32  # (2, n, 2) px: reference centre minus target centre
    weight: Float32  # (2, n) of each view in the cost, 1 on average
    by_pixels: bool  # and times the pixels that it shares with the reference
    pitch: np.float32  # px between neighbouring micro-images
    swept: int  # the first so many neighbours take part in a coarse first search; all of them later, or when refined
    same_type_first: bool  # and in the first search only those of the reference's own type
    pitch_ratio: Float32  # (J,) λ of each lens
    lens_type: Int32  # (J,)
    blur_slope: Float32  # (I, I): per-axis variance, px², by which the second type is sharper than the first:
    blur_intercept: Float32  # square/v² + slope/v + intercept; zero for D
    blur_square: Float32  # zero unless the aperture clips lens types differently
    inverse_depths: Float32  # (h,) hypotheses 1/v, ascending; the first and the last lie beyond the range
    least_contrast: np.float32  # of gray
    least_overlap: np.float32  # px
    least_views: np.float32
    refined: bool
    window: int  # px
    halo: int  # rows of lenses that neighbours are away at most
    noise: np.float32  # 2/π times the variance of gray's noise, as it is in a tile
    floor: np.float32  # of 1/v: its standard deviation where there is no noise at all


def plan_views(
    camera: PlenopticCamera | GridCamera, settings: DepthSettings, noise: float = 0.0, model: ApertureModel = "off"
) -> Views:
    """Prepare the matching; `noise` is the standard deviation of gray.

    A camera known only by its grid has λ = 1 and no blur.
    """
    lattice = camera.micro_images.lattice
    k, l = lattice.indices()
    by_column = lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS
    steps = [_neighbours(camera, settings.far_reach, parity, by_column) for parity in (0, 1)]
    count = min(len(step[0]) for step in steps)  # equal for all lattices; the ends of a tie may differ by rounding
    baseline = np.array([step[2][:count] for step in steps])
    types = max(camera.micro_images.type_count, 1)
    square = slope = intercept = np.zeros((types, types))
    ratio = np.ones(k.size)
    sign = 1.0
    if isinstance(camera, PlenopticCamera):
        ratio = lens_distances(camera, k, l).pitch_ratio.ravel()
        sign = -1.0 if configuration(camera) is Configuration.KEPLERIAN else 1.0
        kappa = used_kappa(camera, settings)
        if kappa is not None:
            if model == "per_pixel":
                scale = (kappa.value / DISC_BLUR_COEFFICIENT) ** 2
                square, slope, intercept = (scale * part for part in clipped_relative_blur(camera))
            else:
                scale = (kappa.value / camera.sensor.pixel_size) ** 2
                relative = relative_blur(camera)
                slope, intercept = relative.slope * scale, relative.intercept * scale
    low, high = settings.virtual_range
    return Views(
        columns=lattice.columns,
        rows=lattice.rows,
        by_column=by_column,
        step_k=np.array([step[0][:count] for step in steps], np.int32),
        step_l=np.array([step[1][:count] for step in steps], np.int32),
        baseline=baseline.astype(np.float32),
        weight=_weights(baseline, settings),
        by_pixels=settings.weights == "pixels",
        pitch=np.float32(lattice.diameter),
        swept=len(_neighbours(camera, settings.reach, 0, by_column)[0]),
        same_type_first=settings.first_hypothesis == "same_type",
        pitch_ratio=ratio.astype(np.float32),
        lens_type=np.maximum(camera.micro_images.lens_type(k, l), 0).ravel().astype(np.int32),
        blur_slope=slope.astype(np.float32),
        blur_intercept=intercept.astype(np.float32),
        blur_square=square.astype(np.float32),
        inverse_depths=np.sort(sign * _hypotheses(low, high, settings.sweep_size)).astype(np.float32),
        least_contrast=np.float32(settings.least_contrast),
        least_overlap=np.float32(settings.least_overlap * (PARTLY if model == "per_pixel" else 1)),
        least_views=np.float32(settings.least_views),
        refined=settings.refined,
        window=settings.window,
        halo=int(max(np.abs(step[1]).max() for step in steps)),
        noise=np.float32(
            2 / np.pi * noise_power(smoothing_of(settings, model)) * noise**2 if np.isfinite(noise) else 0
        ),
        floor=np.float32((REFINED_FLOOR if settings.refined else COARSE_FLOOR) / lattice.diameter),
    )


def _hypotheses(low: float, high: float, count: int) -> NDArray[np.float64]:
    """1/v, evenly spaced, from one beyond either end of a range: a minimum at an end needs a neighbour there."""
    step = (1 / low - 1 / high) / (count - 3)
    return np.asarray(1 / high + step * np.arange(-1, count - 1))


def clipped_relative_blur(
    camera: PlenopticCamera,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Per-axis variance, px², by which type i is blurrier than type j where the aperture clips them.

    Coefficients (I, I) of 1/v², 1/v and 1. A type's variance is that of what is open of its lens in the middle of a
    micro-image (to which all of it is made even, see `depth.aperture.chief_rays`), times (1/v − 1/v0)².
    """
    table = aperture_table(camera)
    variance = table.variance_along[:, 0]
    parts = (variance, -2 * variance * table.focus, variance * table.focus**2)
    square, slope, intercept = (np.subtract.outer(part, part) for part in parts)
    return square, slope, intercept


def _weights(baseline: NDArray[np.float64], settings: DepthSettings) -> Float32:
    """The weights (2, n) of views at baselines (2, n, 2).

    δ = b/v to first order, so an error of δ makes one of v of v/|δ| times that: σ_v² = v²/|δ|² (in units of the
    disparity's variance). For one v its inverse goes with |b|².
    """
    if settings.weights != "disparity":
        return np.ones(baseline.shape[:2], np.float32)
    squares = np.sum(baseline**2, axis=-1)
    return np.asarray(squares / squares.mean(axis=1, keepdims=True), np.float32)


def _neighbours(
    camera: PlenopticCamera | GridCamera, reach: float, parity: int, by_column: bool
) -> tuple[Int32, Int32, NDArray[np.float64]]:
    """Index offsets and baselines of all lenses within `reach` pitches of an even or odd one, nearest first."""
    grid = camera.micro_images
    span = int(np.ceil(reach * 1.2)) + 1
    dl, dk = (offset.ravel() for offset in np.mgrid[-span : span + 1, -span : span + 1])
    k, l = (parity, 0) if by_column else (0, parity)
    baseline = grid.center(k, l) - grid.center(k + dk, l + dl)
    distance = np.linalg.norm(baseline, axis=1) / grid.lattice.diameter
    near = np.flatnonzero((distance > 0) & (distance <= reach * 1.01))
    order = near[np.argsort(np.round(distance[near], 3), kind="stable")]
    return dk[order].astype(np.int32), dl[order].astype(np.int32), baseline[order]
