"""Which views are compared with which, and how: neighbourhoods, weights, relative blur, hypotheses, limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
from plenodepth.camera.micro_lenses import depth_sign, pitch_ratio
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.relative_blur import RelativeBlurVariance, relative_blur_of
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import noise_power, smoothing_of
from plenodepth.geometry import Arrangement

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]


# px: standard deviation of the disparity between neighbouring lenses without any noise. Interpolation causes it.
COARSE_FLOOR = 0.001
REFINED_FLOOR = 0.003
MEAN_SIMILARITY = 1 / 3  # mean weight of pixels where those that the aperture clips unalike count less


class Views(NamedTuple):
    """Neighbourhoods, relative blur and limits, for kernels. Even and odd rows (columns) have different neighbours.

    A tuple, because that is what compiled functions take; NumPy's scalars, because Python's would be 64 bits wide.
    """

    columns: int
    rows: int
    by_column: bool  # parity goes by the column (column-aligned arrays) instead of the row
    step_k: Int32  # (2, n) index offsets of the neighbours, nearest first, for even and odd
    step_l: Int32  # (2, n)
    baseline: Float32  # (2, n, 2) px: reference centre minus target centre
    weight: Float32  # (2, n) of each view in the cost, 1 on average
    by_pixels: bool  # the weight is multiplied by the number of pixels that the view shares with the reference
    pitch: np.float32  # px between neighbouring micro-images
    swept: int  # number of neighbours that take part in the first search of a coarse map; later, or refined, all do
    same_type_first: bool  # only neighbours of the reference's own lens type take part in the first search
    pitch_ratio: Float32  # (J,) λ of each lens
    lens_type: Int32  # (J,)
    # Variance per axis, px², by which the first lens type is blurrier than the second: square/v² + slope/v + intercept.
    # All zero where blur is not regarded (D); the square is zero unless the aperture clips lens types differently.
    blur_slope: Float32  # (I, I)
    blur_intercept: Float32  # (I, I)
    blur_square: Float32  # (I, I)
    inverse_depths: Float32  # (h,) hypotheses 1/v, ascending; the first and the last lie beyond the range
    least_contrast: np.float32  # of gray
    least_overlap: np.float32  # px
    least_views: np.float32
    refined: bool
    window: int  # px
    halo: int  # rows of lenses: the farthest that a neighbour is away
    noise: np.float32  # 2/π times the variance of the noise of gray in a tile
    floor: np.float32  # standard deviation of 1/v where there is no noise at all


def plan_views(
    camera: PlenopticCamera | GridCamera, settings: DepthSettings, noise: float = 0.0, model: ApertureModel = "off"
) -> Views:
    """Views of a camera for the settings; `noise` is the standard deviation of the noise of gray.

    A camera known only by its grid has λ = 1 and no blur; the sign of its depths is that of its configuration.
    """
    lattice = camera.micro_images.lattice
    k, l = lattice.indices()
    by_column = lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS
    steps = [_neighbours(camera, settings.far_reach, parity, by_column) for parity in (0, 1)]
    count = min(len(step[0]) for step in steps)  # equal for all lattices; the ends of a tie may differ by rounding
    baseline = np.array([step[2][:count] for step in steps])
    types = max(camera.micro_images.type_count, 1)
    blur = RelativeBlurVariance(*3 * [np.zeros((types, types))])
    ratio = np.ones(k.size)
    if isinstance(camera, PlenopticCamera):
        ratio = pitch_ratio(camera, lens_distances(camera, k, l)).ravel()
        blur = relative_blur_of(camera, settings, model)
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
        blur_slope=blur.slope.astype(np.float32),
        blur_intercept=blur.intercept.astype(np.float32),
        blur_square=blur.square.astype(np.float32),
        inverse_depths=np.sort(depth_sign(camera) * _hypotheses(low, high, settings.sweep_size)).astype(np.float32),
        least_contrast=np.float32(settings.least_contrast),
        least_overlap=np.float32(settings.least_overlap * (MEAN_SIMILARITY if model == "per_pixel" else 1)),
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
    """1/v (count,), evenly spaced over a range of |v| and one step beyond it: a minimum at an end needs a neighbour."""
    step = (1 / low - 1 / high) / (count - 3)
    return np.asarray(1 / high + step * np.arange(-1, count - 1))


def _weights(baseline: NDArray[np.float64], settings: DepthSettings) -> Float32:
    """The weights (2, n) of views at baselines (2, n, 2).

    δ = b/v to first order, so an error of δ makes an error of v that is v/|δ| times as large: σ_v² = v²/|δ|² in units
    of the disparity's variance. At one v the weight 1/σ_v² is proportional to |b|².
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
