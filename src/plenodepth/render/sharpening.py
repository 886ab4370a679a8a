"""Pictures freed of the blur that their samples have: Wiener's filter, by depth, in overlapping tiles.

The blur of a sample is known: its lens type's defocus at that depth through the part of the lens that the aperture
leaves open, and the pixel's own width, magnified by v. A filter is made for each of some values of 1/v; pixels between
two of them mix both. In a tile with several surfaces each filter sees its own surface continued beneath the others.

Beside an outline, as far as the blur reaches, samples of one surface hold light of the other, and no filter can take
them apart: there a surface is continued from farther within, and the picture is left as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.dense.trust import distance_to_others
from plenodepth.render.opening import Opening
from plenodepth.render.transfer import LensTransfer, sample_transfer
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]
Spectrum = NDArray[np.complex64]

# px; a tile's margin, where the filter sees its other side, is not used; beside it tiles fade into each other.
TILE, MARGIN, RAMP = 144, 20, 8
STEP = 0.03  # in 1/v, between filters
SAME = 0.02  # in 1/v from a filter's own: pixels farther off are of another surface
OUTLINE = 2.0  # standard deviations of the blur from an outline from which on the picture is sharpened in full
CONTINUED = 5.0  # px: standard deviation of the blur that continues a surface beneath another

# Power of a picture's frequencies, f in cycles per px of the sensor: (f² + F0²)^−SLOPE, as of natural scenes.
SLOPE, LOWEST = 1.3, 0.01
# Times the noise of the samples: samples are off their places, and their blur off the model, too.
MISMATCH = 16.0
MODEL_ERROR = 0.1  # of a frequency: the samples keep so much more or less of it than the model says
LEAST_NOISE = 0.002  # of light: images without any are not perfect either
SAMPLES = 0.75  # per px of the sensor: the others lie at the rims


class Filters(NamedTuple):
    """Of each of n values of 1/v: what the samples keep of each frequency (n, TILE, TILE // 2 + 1), and their noise."""

    inverse_depths: NDArray[np.float64]  # (n,), evenly spaced
    kept: Float32
    noise: NDArray[np.float64]  # (n,) variance of a px of the picture
    blur: NDArray[np.float64]  # (n,) px: standard deviation of what the samples average over
    power: Float32  # of a picture, up to a factor
    told: Float32  # (n, TILE, TILE // 2 + 1): how much each frequency tells of that factor
    expected: NDArray[np.float64]  # (n,) what all of them tell where the factor is 1


def filters_for(
    table: LensTransfer, opening: Opening, lowest: float, highest: float, scale: float, noise: float
) -> Filters:
    """Filters for 1/v from `lowest` to `highest`, a view's scale, and a standard deviation of the noise of light."""
    down, across = np.meshgrid(np.fft.fftfreq(TILE), np.fft.rfftfreq(TILE), indexing="ij")
    frequency, direction = np.hypot(across, down), np.arctan2(down, across)
    shared = (np.sinc(across) * np.sinc(down)) ** 2  # of each sample among four pixels
    values = np.linspace(lowest, highest, max(int(np.ceil((highest - lowest) / STEP)), 1) + 1)
    found = [sample_transfer(table, opening, float(value), scale, frequency, direction) for value in values]
    noise = max(noise if np.isfinite(noise) else 0.0, LEAST_NOISE)
    variance = [MISMATCH * noise**2 * one.noise / (SAMPLES * scale**2) for one in found]
    power = ((frequency / scale) ** 2 + LOWEST**2) ** -SLOPE
    kept = np.array([one.value * shared for one in found], np.float32)
    lowest_kept = np.clip(kept[:, 0, 1].astype(np.float64), 1e-3, 1 - 1e-6)  # of a Gaussian, exp(−2 π² σ² f²)
    blur = np.sqrt(-2 * np.log(lowest_kept)) / (2 * np.pi) * TILE
    told = (kept * kept / power).astype(np.float32)
    told[:, 0, 0] = 0
    expected = (kept * kept * power * told).sum(axis=(1, 2))
    return Filters(values, kept, np.array(variance), blur, power.astype(np.float32), told, expected)


def sharpened(light: Float32, inverse: Float32, filters: Filters) -> Float32:
    """Light (h, w, channels) of a picture whose pixels have 1/v (h, w), without its samples' blur."""
    height, width, channels = light.shape
    away = _from_outlines(inverse) / np.interp(inverse, filters.inverse_depths, filters.blur).astype(np.float32)
    border = MARGIN + RAMP
    hop = TILE - MARGIN - border
    pad = [(border, -(-(side + RAMP) // hop) * hop + border + MARGIN - side) for side in (height, width)]
    padded = np.pad(light, [*pad, (0, 0)], mode="symmetric")
    depths = np.pad(np.where(away >= 1, inverse, np.float32(np.nan)), pad, mode="symmetric")
    known = np.pad(inverse, pad, mode="symmetric")
    inside = np.arange(TILE) + 0.5 - MARGIN
    ramp = np.clip(np.minimum(inside, TILE - 2 * MARGIN - inside) / RAMP, 0, 1)
    window = np.outer(ramp, ramp).astype(np.float32)
    rows = range(0, padded.shape[0] - TILE + 1, hop)
    out = np.zeros_like(padded)

    def work(band: slice) -> Float32:
        found = np.zeros((TILE, padded.shape[1], channels), np.float32)
        for left in range(0, padded.shape[1] - TILE + 1, hop):
            place = slice(rows[band.start], rows[band.start] + TILE), slice(left, left + TILE)
            found[:, place[1]] += _sharp_tile(padded[place], known[place], depths[place], filters) * window[..., None]
        return found

    for top, part in zip(rows, each_band(len(rows), work, rows=1), strict=True):
        out[top : top + TILE] += part
    blend = np.clip((away - 1) / (OUTLINE - 1), 0, 1)[..., None]
    sharp = np.maximum(out[border : border + height, border : border + width], np.minimum(light, 0))
    return np.asarray(light + blend * (sharp - light), np.float32)


def _from_outlines(inverse: Float32) -> Float32:
    """Distance (h, w), px, of each pixel from the next outline."""
    outline = np.zeros(inverse.shape, bool)
    across, down = (np.abs(np.diff(inverse, axis=axis)) > SAME_SURFACE for axis in (1, 0))
    for beside in (outline[:, 1:], outline[:, :-1]):
        beside |= across
    for beside in (outline[1:], outline[:-1]):
        beside |= down
    return distance_to_others(~outline) if outline.any() else np.full(inverse.shape, np.float32(1e6))


def _sharp_tile(light: Float32, inverse: Float32, clear: Float32, filters: Filters) -> Float32:
    """A tile's light. `clear` is 1/v where no other surface is near, NaN elsewhere."""
    values = filters.inverse_depths
    step = max(float(values[1] - values[0]), 1e-9)
    place = np.clip((inverse - values[0]) / step, 0, len(values) - 1)
    first, last = int(place.min()), min(int(np.ceil(place.max())), len(values) - 1)
    planes = np.moveaxis(light, 2, 0)
    out, whole = np.zeros_like(planes), _spectrum(planes)
    for number in range(first, last + 1):
        share = np.maximum(1 - np.abs(place - number), 0).astype(np.float32)
        if not share.any():
            continue
        own = np.abs(clear - values[number]) <= max(SAME, step)
        if own.all() or not own.any():
            mean, spectrum = whole
        else:
            mean, spectrum = _spectrum(_continued(planes, own))
        out += share * (
            mean + fft.irfft2(spectrum * _gain(spectrum, filters, number), s=(TILE, TILE)).astype(np.float32)
        )
    return np.moveaxis(out, 0, 2)


def _spectrum(planes: Float32) -> tuple[Float32, Spectrum]:
    mean = np.asarray(planes.mean(axis=(1, 2), keepdims=True), np.float32)
    return mean, np.asarray(fft.rfft2(planes - mean), np.complex64)


def _continued(planes: Float32, own: NDArray[np.bool_]) -> Float32:
    """The planes where they are of one surface, elsewhere what lies around continued."""
    import cv2

    there = own.astype(np.float32)
    stack = np.moveaxis(np.concatenate([planes * there, there[None]]), 0, 2)
    soft = cv2.GaussianBlur(stack, (0, 0), CONTINUED)
    mean = stack[..., :-1].sum(axis=(0, 1)) / max(float(there.sum()), 1.0)
    least = np.float32(1e-3)  # far from the surface: its mean
    around = (soft[..., :-1] + least * mean) / (soft[..., -1:] + least)
    return np.asarray(np.where(own, planes, np.moveaxis(around, 2, 0)), np.float32)


def _gain(spectrum: Spectrum, filters: Filters, number: int) -> Float32:
    """Wiener's filter, with the power that the tile has where its samples keep most of it."""
    kept, power, noise = filters.kept[number], filters.power, np.float32(filters.noise[number])
    seen = (spectrum.real**2 + spectrum.imag**2).mean(axis=0) / TILE**2
    told = float((seen * filters.told[number]).sum(dtype=np.float64)) / max(float(filters.expected[number]), 1e-30)
    signal = np.float32(max(told, 1e-12)) * power
    return np.asarray(kept * signal / ((kept * kept + np.float32(MODEL_ERROR**2)) * signal + noise), np.float32)
