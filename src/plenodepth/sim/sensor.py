"""From light on the sensor to the numbers of a raw image: photosites, noise, colour filters, quantisation.

A photosite collects `exposure · full_well` electrons where the light is 1. With K = gain · (2^bits − 1) / full_well
numbers per electron, a mean signal S has the variance K · S (photons) + K² · read_noise² (+ 1/12 from rounding).
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import require_positive
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]
RawArray = NDArray[np.uint8] | NDArray[np.uint16]

BIT_DEPTHS = (8, 10, 12, 16)
BAYER_PATTERNS = ("RGGB", "GRBG", "GBRG", "BGGR")
LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)

ROWS_AT_A_TIME = 32  # each band of rows has its own random stream, so another number here gives other noise
MOST_ELECTRONS = 1e15  # beyond, counts no longer fit NumPy's Poisson numbers
NOISE_STREAM, LENS_STREAM = range(2)  # keys that keep the random numbers of the two apart


@dataclass(frozen=True)
class SensorSettings:
    """How light becomes numbers. Signals are fractions of full scale, charges electrons."""

    bit_depth: int = 12  # 10 and 12 bits lie in uint16 in their own range, 0 … 1023 and 0 … 4095
    exposure: float = 0.9  # signal of light = 1
    full_well: float | None = 15_000.0  # electrons; None or inf: no limit, and neither photon nor read noise
    read_noise: float = 10.0  # standard deviation, electrons
    gain: float = 1.0  # of signal and noise alike, after the photosite
    bayer: str | None = None  # colour filters of the top-left 2 × 2 photosites, row by row
    color: bool = True  # without filters: three numbers per pixel, or the luminance alone
    lens_gain_sigma: float = 0.0  # relative differences in brightness from micro-lens to micro-lens
    noise: bool = True  # False: the mean signal, quantised
    seed: int = 0  # of the noise: another one for each frame
    lens_seed: int = 0  # of the micro-lenses: the same for all frames of a camera, white images among them

    def __post_init__(self) -> None:
        if self.bit_depth not in BIT_DEPTHS:
            raise InputError(f"is {self.bit_depth}", field="bit_depth", fix="give 8, 10, 12 or 16")
        require_positive(self.exposure, "exposure", "parts of full scale")
        require_positive(self.gain, "gain", "times")
        if not (0 < self.electrons <= MOST_ELECTRONS or self.electrons == math.inf):
            raise InputError(
                f"is {self.full_well}, needs a number > 0", field="full_well", fix="give electrons, or inf"
            )
        for name in ("read_noise", "lens_gain_sigma"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"is {value}, needs a number ≥ 0", field=name)
        if self.bayer is not None and self.bayer not in BAYER_PATTERNS:
            raise InputError(f"is {self.bayer!r}", field="bayer", fix=f"give one of {', '.join(BAYER_PATTERNS)}")
        for name in ("seed", "lens_seed"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 0:
                raise InputError(f"is {value}, needs a whole number ≥ 0", field=name)

    @property
    def full_scale(self) -> int:
        """The largest number, 2^bits − 1."""
        return (1 << self.bit_depth) - 1

    @property
    def electrons(self) -> float:
        """Electrons that fill a photosite, infinite for an endless well."""
        return math.inf if self.full_well is None else float(self.full_well)


def expose(
    light: Float32,
    settings: SensorSettings | None = None,
    owner: NDArray[np.int32] | None = None,
    *,
    crosstalk: float = 0.0,
    threads: int | None = None,
) -> RawArray:
    """The raw image of `light` (h, w, 3): uint8 for 8 bits, else uint16; (h, w), or (h, w, 3) in colour.

    `owner` (h, w) is the micro-lens behind each pixel (−1: none), needed for differences between lenses. With a Bayer
    pattern each pixel keeps the colour of its filter. `crosstalk` is the part of a photosite's signal that its four
    neighbours get, together. The same settings give the same bytes for any number of threads.
    """
    settings = settings or SensorSettings()
    light = np.asarray(light)
    if light.ndim != 3 or light.shape[2] != 3 or not light.size:
        raise InputError(f"has the shape {light.shape}", field="light", fix="give (h, w, 3)")
    gains = _lens_gains(settings, light.shape[:2], owner)
    height, width = light.shape[:2]
    shape = (height, width, 3) if settings.color and settings.bayer is None else (height, width)
    raw = np.empty(shape, np.uint8 if settings.bit_depth == 8 else np.uint16)

    def signal_of(rows: slice) -> Float32:
        signal = _photosites(light[rows], settings)
        if gains is not None and owner is not None:
            lens = gains[owner[rows]]
            signal *= lens if signal.ndim == 2 else lens[..., None]
        return signal

    def fill(band: tuple[int, int]) -> None:
        rows = slice(*band)
        if crosstalk > 0:
            around = slice(max(0, band[0] - 2), min(height, band[1] + 2))  # whole periods of the Bayer pattern
            signal = mixed_neighbours(signal_of(around), crosstalk)[band[0] - around.start :][: band[1] - band[0]]
        else:
            signal = signal_of(rows)
        stream = np.random.SeedSequence(settings.seed, spawn_key=(NOISE_STREAM, band[0] // ROWS_AT_A_TIME))
        raw[rows] = _numbers(signal, settings, np.random.default_rng(stream))

    # Always an even number of rows, so that a band starts with the first row of the Bayer pattern.
    bands = list(pairwise([*range(0, height, ROWS_AT_A_TIME), height]))
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        list(pool.map(fill, bands))
    return raw


def mixed_neighbours(signal: Float32, crosstalk: float) -> Float32:
    """Signals (h, w) or (h, w, 3) after each photosite has given `crosstalk`/4 to each of its four neighbours.

    Beyond the edges lie photosites like the outermost ones.
    """
    padded = np.pad(signal, [(1, 1), (1, 1), *[(0, 0)] * (signal.ndim - 2)], mode="edge")
    beside = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    mixed: Float32 = np.float32(1 - crosstalk) * signal + np.float32(crosstalk / 4) * beside
    return mixed


def lens_gains(settings: SensorSettings, count: int) -> Float32:
    """Relative brightness (count,) of the micro-lenses 0 … count − 1, about 1."""
    stream = np.random.SeedSequence(settings.lens_seed, spawn_key=(LENS_STREAM,))
    deviations = np.random.default_rng(stream).standard_normal(count)
    return np.maximum(1 + settings.lens_gain_sigma * deviations, 0).astype(np.float32)


def _lens_gains(settings: SensorSettings, shape: tuple[int, ...], owner: NDArray[np.int32] | None) -> Float32 | None:
    """Gains by index of lens with a last entry, reached by the index −1, for pixels that have no lens."""
    if owner is not None and np.shape(owner) != shape:
        raise InputError(f"has the shape {np.shape(owner)}, the light {shape}", field="owner")
    if settings.lens_gain_sigma == 0:
        return None
    if owner is None:
        raise InputError("is missing", field="owner", fix="tell which lens each pixel belongs to, or set sigma to 0")
    if owner.min() < -1:
        raise InputError(f"holds {owner.min()}", field="owner", fix="number lenses from 0, −1 for none")
    return np.append(lens_gains(settings, int(owner.max()) + 1), np.float32(1))


def _photosites(light: Float32, settings: SensorSettings) -> Float32:
    """Light of each photosite of a band, a new array: (rows, w), or (rows, w, 3) in colour."""
    if not (np.isfinite(light).all() and (light >= 0).all()):
        raise InputError("holds a number that is negative or not finite", field="light", fix="give light ≥ 0")
    if settings.bayer is not None:
        mosaic = np.empty(light.shape[:2], np.float32)
        for position, filter_color in enumerate(settings.bayer):
            row, column = divmod(position, 2)
            mosaic[row::2, column::2] = light[row::2, column::2, "RGB".index(filter_color)]
        return mosaic
    values: Float32 = (light if settings.color else light @ LUMINANCE).astype(np.float32)
    return values


def _numbers(signal: Float32, settings: SensorSettings, rng: np.random.Generator) -> Float32:
    """The values that the sensor reads, whole numbers within full scale, for the light `signal` of its photosites."""
    filled = signal * np.float32(settings.exposure)  # share of the full well
    well = settings.electrons
    if settings.noise and math.isfinite(well):
        # A photosite that overflows is full whatever the noise; the bound keeps the Poisson mean in its range.
        electrons = rng.poisson(np.minimum(filled, np.float32(10)).astype(np.float64) * well).astype(np.float64)
        np.minimum(electrons, well, out=electrons)
        electrons += settings.read_noise * rng.standard_normal(electrons.shape, dtype=np.float32)
        filled = (electrons / well).astype(np.float32)
    else:
        filled = np.minimum(filled, np.float32(1))
    filled *= np.float32(settings.gain * settings.full_scale)
    numbers: Float32 = np.clip(np.rint(filled), 0, settings.full_scale)
    return numbers
