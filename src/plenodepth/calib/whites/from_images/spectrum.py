"""Lattices that the spectrum of raw images may hold: sharp lines at 60° or 90° to each other, equally long.

The borders of micro-images repeat over the whole image without a change, so their lines are as sharp as the image is
large. What the scene shows repeats from lens to lens too, but with random phases: its lines are wide and low.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array
from plenodepth.raw.lattice_lines import edge_map
from plenodepth.raw.periodicity import DARK, Float32

LARGEST_SIDE = 2048  # px in the middle of the image
SHORTEST_PITCH = 6.0  # px
LEAST_PERIODS = 8  # of the lattice across the image
TILE = 12  # bins of the spectrum over which its background is the median: wider than a line, narrower than the scene's
LEAST_LINE = 3.0  # times the background
SAME_LINE = 3  # bins: frequencies that are nearer are one line
JPEG_BLOCK = 8.0  # px: a square lattice of these, along the axes, is that of a file format


def candidate_lattices(lights: Sequence[Float32], most: int) -> list[tuple[float, Array]]:
    """The best lattices first, each as the strength of its lines and two of its lowest frequencies (2, 2), 1/px.

    Those of a hexagonal lattice are at 120° to each other, so that their sum is the third. Strengths are in units of
    the spectrum's background. The order is that of the amplitudes: a lattice of which only every third or fourth node
    is one, or one of a single lens type, has lines too, but lower ones.
    """
    over, amplitude = (np.sqrt(sum(spectra) / len(lights)) for spectra in zip(*map(_spectra, lights), strict=True))
    found = list[tuple[float, float, Array]]()
    for turn in (2 * np.pi / 3, np.pi / 2):
        found += _best(over, amplitude, lights[0].shape, turn, most)
    found = [one for one in found if not _is_jpeg(one[2])]
    return [(strength, frequencies) for _, strength, frequencies in sorted(found, key=lambda one: -one[0])[:most]]


def _spectra(light: Float32) -> tuple[Float32, Float32]:
    """Mean power (n, m) of light and edges over the background, and as a part of the whole; frequency 0 is in the
    middle.
    """
    height, width = (min(LARGEST_SIDE, side) // 2 * 2 for side in light.shape)
    top, left = (light.shape[0] - height) // 2, (light.shape[1] - width) // 2
    part = light[top : top + height, left : left + width]
    taper = np.hanning(height).astype(np.float32)[:, None] * np.hanning(width).astype(np.float32)
    over, share = np.zeros((2, height, width), np.float32)
    for one in (np.log(part + np.float32(DARK)), edge_map(part)):
        amplitude = np.abs(np.fft.fftshift(np.fft.fft2((one - one.mean()) * taper))).astype(np.float32)
        over += (amplitude / _background(amplitude)) ** 2 / 2
        share += (amplitude / max(float(one.std()), 1e-9)) ** 2
    return over, share


def _background(amplitude: Float32) -> Float32:
    """The median of tiles of a spectrum, smoothly in between."""
    height, width = amplitude.shape
    rows, columns = height // TILE, width // TILE
    tiles = amplitude[: rows * TILE, : columns * TILE].reshape(rows, TILE, columns, TILE)
    median = np.median(tiles.swapaxes(1, 2).reshape(rows, columns, -1), axis=-1).astype(np.float32)
    smooth = cv2.resize(median, (columns * TILE, rows * TILE), interpolation=cv2.INTER_LINEAR)
    padded = np.pad(smooth, ((0, height - rows * TILE), (0, width - columns * TILE)), mode="edge")
    return np.asarray(np.maximum(padded, 1e-9 * float(amplitude.max()) + 1e-30), np.float32)


def _best(
    over: Float32, amplitude: Float32, shape: tuple[int, ...], turn: float, most: int
) -> list[tuple[float, float, Array]]:
    """Amplitude, strength and frequencies of the best lattices whose lowest frequencies are `turn` apart."""
    height, width = over.shape
    half = slice(width // 2, None)
    v, u = np.mgrid[:height, width // 2 : width].astype(np.float32)
    fy, fx = (v - height // 2) / height, (u - width // 2) / width
    radius = np.hypot(fx, fy)
    low = LEAST_PERIODS / min(height, width)
    inside = (radius >= low) & (radius <= 1 / (SHORTEST_PITCH * np.sin(turn))) & (over[:, half] >= LEAST_LINE)
    fx, fy = fx[inside], fy[inside]
    near_over, near_amplitude = (cv2.dilate(one, np.ones((3, 3), np.uint8)) for one in (over, amplitude))
    strengths, amplitudes = [over[:, half][inside]], [amplitude[:, half][inside]]
    for times in (1, 2) if turn > 1.01 * np.pi / 2 else (1,):
        cos, sin = np.cos(times * turn), np.sin(times * turn)
        x, y = cos * fx - sin * fy, sin * fx + cos * fy
        strengths.append(_at(near_over, x, y))
        amplitudes.append(_at(near_amplitude, x, y))
    strength, weakest = np.exp(np.mean(np.log(np.array(strengths) + 1e-9), axis=0)), np.min(strengths, axis=0)
    score = np.where(weakest >= LEAST_LINE, np.exp(np.mean(np.log(np.array(amplitudes) + 1e-9), axis=0)), 0)
    found = list[tuple[float, float, Array]]()
    step = 2 * np.pi / (6 if turn > 1.01 * np.pi / 2 else 4)
    for index in np.argsort(-score)[: 200 * most]:
        first = np.array([fx[index], fy[index]], np.float64)
        around = np.array([_turned(first, times * step) for times in range(6)])
        known = [frequencies[0] for _, _, frequencies in found]
        if score[index] > 0 and not any(
            (np.abs((around - old) * [width, height]) <= SAME_LINE).all(axis=1).any() for old in known
        ):
            found.append((float(score[index]), float(strength[index]), np.array([first, _turned(first, turn)])))
        if len(found) == most:
            break
    return found


def _at(lines: Float32, x: NDArray[np.float32], y: NDArray[np.float32]) -> Float32:
    height, width = lines.shape
    column = np.rint(x * width).astype(np.int64) + width // 2
    row = np.rint(y * height).astype(np.int64) + height // 2
    inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    return np.where(inside, lines[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)], np.float32(0))


def _turned(vector: Array, angle: float) -> Array:
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([cos * vector[0] - sin * vector[1], sin * vector[0] + cos * vector[1]])


def _is_jpeg(frequencies: Array) -> bool:
    """Whether the lattice is the square one of a file format's blocks, or a part of it."""
    per_block = frequencies * JPEG_BLOCK
    return bool((np.abs(per_block - np.rint(per_block)) < 0.01).all())
