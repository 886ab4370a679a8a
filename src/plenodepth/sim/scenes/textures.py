"""Textures: noise of many octaves, on a picture or in a volume, and pictures from files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plenodepth.errors import InputError
from plenodepth.io import read_image
from plenodepth.io.budget import require_memory
from plenodepth.io.srgb import srgb_decoded
from plenodepth.sim.scenes.scene import WHITE, ImageTexture, SolidTexture

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Color = tuple[float, float, float]

PERSISTENCE = 1.0  # amplitude of an octave relative to the next coarser one: matching needs strong fine detail
HUES, TINTS = 0.9, 0.35  # how much channels differ, relative to what they share: in free colours, in given colours
HUE_OCTAVES = 3  # hues change over large patches only, so that a gray image of the texture keeps its detail
DARKEST, LIGHTEST = 0.02, 0.98
COARSEST_CELLS = 4  # per period of a volume
QUANTILES, TABLE = 1025, 1 << 16  # points of the curve that spreads values evenly, and of its fine table
SIDE_LIMIT = 1 << 15  # px
TEXEL_BYTES = 12
ROWS = 64  # of a picture at a time, where a step takes more memory than its result


def noise_image(
    width: int,
    height: int,
    *,
    octaves: int = 6,
    cell: float = 64.0,
    contrast: float = 1.0,
    seed: int = 0,
    colors: tuple[Color, Color] | None = None,
) -> ImageTexture:
    """Colourful noise, width × height px: blots of `cell` px, and in each octave more of half the size.

    Octaves whose cell is below one pixel are left out. Every channel takes all values of [0.02, 0.98] equally often,
    closer about 0.5 for a `contrast` below 1, or runs from the first to the second of two `colors` (linear light).
    The same seed gives the same picture.
    """
    _require_whole(width, "width", 2, SIDE_LIMIT)
    _require_whole(height, "height", 2, SIDE_LIMIT)
    _require_noise(octaves, seed)
    if not (np.isfinite(cell) and cell >= 1):
        raise InputError(f"is {cell:g} px, needs at least 1", field="texture.cell")
    if not 0 < contrast <= 1:
        raise InputError(f"is {contrast:g}, needs a number > 0 and ≤ 1", field="texture.contrast")
    generator = np.random.default_rng(seed)
    shared = _fractal(width, height, cell, octaves, generator)
    liveliness = np.float32(HUES if colors is None else TINTS)
    dark, light = colors or ((0.0, 0.0, 0.0), WHITE)
    pixels = np.empty((height, width, 3), np.float32)
    for channel in range(3):
        value = _fractal(width, height, cell, min(octaves, HUE_OCTAVES), generator)
        # All in one place: for the largest picture every copy takes 144 MB.
        value *= liveliness
        value += shared
        _spread_evenly(value)
        value -= np.float32(0.5)
        value *= np.float32(contrast * (LIGHTEST - DARKEST))
        value += np.float32(0.5)
        value *= np.float32(light[channel] - dark[channel])
        value += np.float32(dark[channel])
        pixels[:, :, channel] = value.T
    return ImageTexture(pixels)


def noise_volume(size: int = 128, octaves: int = 5, seed: int = 0) -> Float32:
    """Noise (size, size, size) in [0, 1], all values equally often, that continues periodically along every axis.

    The coarsest octave has 4 blots per period; octaves finer than the volume's cells are left out.
    """
    _require_whole(size, "size", 2, 512)
    _require_noise(octaves, seed)
    generator = np.random.default_rng(seed)
    total = np.zeros((size, size, size), np.float32)
    for octave in range(octaves):
        nodes = min(COARSEST_CELLS, size) * 2**octave
        if nodes > size:
            break
        part = generator.standard_normal((nodes, nodes, nodes), np.float32)
        weights = _periodic_spline(size, nodes)
        for _ in range(3):  # each time along the first axis, which then goes last
            part = np.moveaxis((weights @ part.reshape(nodes, -1)).reshape(size, *part.shape[1:]), 0, -1)
        total += np.float32(PERSISTENCE**octave) * part
    _spread_evenly(total)
    return total


def solid_noise(
    period: float,
    octaves: int = 5,
    seed: int = 0,
    dark: Color = (0.05, 0.05, 0.05),
    light: Color = (0.95, 0.95, 0.95),
    size: int = 128,
) -> SolidTexture:
    """Noise that fills space and repeats every `period` mm, from the colour `dark` to `light` (linear light)."""
    return SolidTexture(noise_volume(size, octaves, seed), period, dark, light)


def read_texture(path: str | Path) -> ImageTexture:
    """A picture file (PNG, JPEG, TIFF; gray or colour) as linear light in [0, 1].

    8-bit files are taken for sRGB and decoded, 16-bit files for linear. Transparency is ignored.
    """
    image = read_image(path)
    if image.dtype not in (np.uint8, np.uint16):
        raise InputError(f"has pixels of type {image.dtype}, needs 8 or 16 bits", file=path)
    require_memory(image.shape[0] * image.shape[1] * TEXEL_BYTES, path, stored=os.path.getsize(path))
    levels = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    linear = image.dtype == np.uint16
    pixels = levels.astype(np.float32) / np.float32(65535) if linear else srgb_decoded(levels.astype(np.uint8))
    try:
        return ImageTexture(pixels)
    except InputError as error:
        raise InputError(error.message, file=path) from None


def _require_whole(value: int, name: str, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"is {value}, needs {least} to {most}", field=f"texture.{name}")


def _require_noise(octaves: int, seed: int) -> None:
    _require_whole(octaves, "octaves", 1, 16)
    _require_whole(seed, "seed", 0, 2**63 - 1)


def _fractal(width: int, height: int, cell: float, octaves: int, generator: np.random.Generator) -> Float32:
    """Sum of octaves of smooth noise, (width, height): transposed, which saves a copy of each octave."""
    total = np.zeros((width, height), np.float32)
    for octave in range(octaves):
        size = cell / 2**octave
        if octave and size < 1:
            break
        # Each octave starts at a random phase, or their grids would share lines.
        across, down = (_spline(n, size, generator.random()) for n in (width, height))
        nodes = generator.standard_normal((down.shape[1], across.shape[1]), np.float32)
        stretched = np.empty((across.shape[1], height), np.float32)
        for start in range(0, height, ROWS):
            stretched[:, start : start + ROWS] = (down[start : start + ROWS] @ nodes).T
        del nodes  # before the next are made
        for start in range(0, width, ROWS):
            total[start : start + ROWS] += np.float32(PERSISTENCE**octave) * (across[start : start + ROWS] @ stretched)
        del stretched
    return total


def _spline(length: int, cell: float, phase: float) -> csr_array:
    """Weights (length, nodes) of a cubic B-spline with a node every `cell` px, at pixels 0 … length − 1.

    Among cubic weights these keep the variance of random nodes most even, so that the grid cannot be seen.
    """
    at = np.arange(length, dtype=np.float64) / cell + phase
    first = at.astype(np.int64)
    return _sparse(first[:, None] + np.arange(4), _cubic_weights(at - first), int(first[-1]) + 4)


def _periodic_spline(length: int, nodes: int) -> csr_array:
    at = np.arange(length, dtype=np.float64) * (nodes / length)
    first = at.astype(np.int64)
    return _sparse((first[:, None] + np.arange(-1, 3)) % nodes, _cubic_weights(at - first), nodes)


def _cubic_weights(t: Float64) -> Float64:
    """Weights (n, 4) of the nodes −1, 0, 1, 2 at t (n,) in [0, 1]."""
    weights = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
    return np.stack(weights, axis=1) / 6


def _sparse(columns: NDArray[np.int64], weights: Float64, width: int) -> csr_array:
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    # A period of less than four nodes names an entry twice; csr_array adds the two, as it should be.
    return csr_array((weights.astype(np.float32).ravel(), (rows, columns.ravel())), shape=(len(columns), width))


def _spread_evenly(values: Float32) -> None:
    """Bend the values by a rising curve that makes all of [0, 1] occur equally often."""
    step = max(1, values.size // (1 << 18)) | 1  # odd, so that a sample does not follow the columns
    levels = np.linspace(0, 1, QUANTILES)
    curve = np.quantile(values.ravel()[::step], levels)
    if not curve[-1] > curve[0]:  # a cell far larger than the picture
        values[...] = 0.5
        return
    # A fine table of the curve, because np.interp over millions of pixels would cost most of the time.
    scale = np.float32((TABLE - 1) / (curve[-1] - curve[0]))
    table = np.interp(np.linspace(curve[0], curve[-1], TABLE), curve, levels).astype(np.float32)
    for start in range(0, len(values), ROWS):
        rows = values[start : start + ROWS]
        rows[...] = table[np.clip((rows - np.float32(curve[0])) * scale, 0, TABLE - 1).astype(np.int32)]
