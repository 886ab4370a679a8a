"""The lines that a lattice draws in the spectrum of raw images: how strong, and how well a lattice explains them.

Each line's amplitude, at any frequency near a first guess, comes from the image multiplied by the wave of that guess
and summed over small blocks. A lattice whose nodes are symmetric has real amplitudes when its node is the origin, the
same for all lines of one length. So the best lattice is the one with the largest sums of real parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array
from plenodepth.raw.grid_check import dark_gaps, edge_strength
from plenodepth.raw.periodicity import Float32

Complex = NDArray[np.complex128]

BLOCK = 32  # px
HIGHEST_ORDER = 4.2  # times the lowest frequency: borders between micro-images are thin, so there are some orders
HIGHEST_FREQUENCY = 0.45  # 1/px
BESIDE = (3.0, 4.0, 5.0, 6.0)  # bins: where the background about a line is looked at
EVENED = 4.0  # pitches: over so much, edges are equally strong everywhere
LEAST_NOISE = 1e-3  # of sums over an image: what rounding makes
CLEAR = 15.0  # standard deviations: light that shows the lattice


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of the spectra of all images and maps.

    `start` (2, 2): the frequencies that they were looked for at. `orders` (n, 2) of the lines in the lattice, `blocks`
    (n, rows, columns): sums over blocks whose middles are `x` and `y` px from the image's middle. `group` (n,): lines
    of one map and length, which share a real amplitude; `lowest` (n,): whether a line is one of the lowest.
    """

    start: Array
    size: tuple[int, int]  # of the image, px
    orders: NDArray[np.int64]
    blocks: Complex
    x: Array
    y: Array
    group: NDArray[np.int64]
    lowest: NDArray[np.bool_]
    noise: Array  # (groups,) standard deviation of the real part of a line's amplitude, tapered, where there is none

    @property
    def unit(self) -> Array:
        """(4,) steps of scale, angle and offset that move the corners of the image by about a pixel each."""
        return np.array([1 / max(self.size), 1 / max(self.size), 1.0, 1.0])

    @property
    def taper(self) -> Array:
        """(rows, columns): 1 in the middle, 0 at the borders of the image."""
        return np.outer(_hann(self.y, self.size[1]), _hann(self.x, self.size[0]))

    @property
    def lowest_groups(self) -> NDArray[np.bool_]:
        """(groups,) which of them are the lowest lines of a map."""
        return np.bincount(self.group, self.lowest) > 0

    def frequencies(self, scale: float, angle: float) -> Array:
        """The lowest frequencies (2, 2) of a lattice exp(scale) times larger and turned by an angle."""
        cos, sin = np.cos(angle), np.sin(angle)
        return np.asarray(self.start @ np.array([[cos, sin], [-sin, cos]]) / np.exp(scale))

    def amplitudes(self, at: Array, flat: bool) -> Complex:
        """(n,) of the lattice `at` = scale, angle, offset (2), about its node; `flat`: without a taper."""
        frequency = self.orders @ self.frequencies(at[0], at[1])
        moved = frequency - self.orders @ self.start
        waves = np.exp(-2j * np.pi * moved[:, :1] * self.x), np.exp(-2j * np.pi * moved[:, 1:] * self.y)
        if not flat:
            waves = waves[0] * _hann(self.x, self.size[0]), waves[1] * _hann(self.y, self.size[1])
        across = np.matmul(self.blocks, waves[0][:, :, None])[:, :, 0]
        return np.asarray((across * waves[1]).sum(axis=1) * np.exp(2j * np.pi * frequency @ at[2:]), np.complex128)

    def part(self, columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Lines:
        """Only some of the blocks, which `columns` and `rows` say."""
        return replace(self, blocks=self.blocks[:, rows][:, :, columns], x=self.x[columns], y=self.y[rows])

    def group_sums(self, amplitudes: Complex, flat: bool) -> Array:
        """(groups,) sums of real parts, in standard deviations."""
        wider = 1 / np.sqrt(np.mean(self.taper**2)) if flat else 1.0
        return np.asarray(
            np.bincount(self.group, amplitudes.real) / (self.noise * wider * np.sqrt(np.bincount(self.group)))
        )

    def score(self, at: Array, flat: bool) -> float:
        """Twice the logarithm of the likelihood of a lattice: see `score_of`."""
        return self.score_of(self.amplitudes(at, flat), flat)

    def score_of(self, amplitudes: Complex, flat: bool) -> float:
        """The same from amplitudes (n,) about a node. Lowest lines of the deciding map are positive."""
        sums = self.group_sums(amplitudes, flat)
        power = sums**2
        decides = self.deciding_group(amplitudes, flat)
        power[decides] *= np.sign(sums[decides])
        return float(power.sum())

    def deciding_group(self, amplitudes: Complex, flat: bool) -> int:
        """The lowest lines of the map that tells nodes from gaps: light if it shows the lattice at all, else edges.

        Small discs of light have their edges nearer to the node than to the border.
        """
        light, edges = np.flatnonzero(self.lowest_groups)
        clear = self.group_sums(np.abs(amplitudes).astype(np.complex128), flat)[light] >= CLEAR
        return int(light if clear else edges)

    def shown_by_light(self, at: Array) -> bool:
        """Whether the light shows the lattice `at`, of one image, or else its edges alone."""
        return self.deciding_group(self.amplitudes(at, True), True) == int(np.flatnonzero(self.lowest_groups)[0])


def lines_of(lights: Sequence[Float32], frequencies: Array) -> Lines:
    """The lines near multiples of two lowest `frequencies` (2, 2) of light (as of `even_light`) and edges of images."""
    height, width = lights[0].shape
    middle = (np.array([width, height]) - 1) / 2
    hexagonal = bool(abs(frequencies[0] @ frequencies[1]) > 0.25 * frequencies[0] @ frequencies[0])
    pitch = 1 / float(np.hypot(*frequencies[0])) / (np.sin(np.pi / 3) if hexagonal else 1.0)
    orders = _orders(frequencies)
    lengths = _lengths(orders, frequencies)
    blocks, groups = list[Complex](), list[NDArray[np.int64]]()
    for light in lights:
        for index, one in enumerate((dark_gaps(light, pitch), _evened(edge_map(light), pitch))):
            blocks.append(_block_sums(one, orders @ frequencies, middle))
            groups.append(lengths + index * (lengths.max() + 1))
    rows, columns = blocks[0].shape[1:]
    x, y = _block_middles(columns) - middle[0], _block_middles(rows) - middle[1]
    sums, group = np.concatenate(blocks), np.concatenate(groups)
    noise = _noise(sums, group, x, y, (width, height))
    times = len(lights) * 2
    every, lowest = np.tile(orders, (times, 1)), np.tile(lengths == 0, times)
    return Lines(frequencies, (width, height), every, sums, x, y, group, lowest, noise)


def edge_map(light: Float32) -> Float32:
    """High inside micro-images, low on their borders, which most edges of an image are; compressed."""
    return np.asarray(-np.sqrt(edge_strength(light)), np.float32)


def _evened(values: Float32, pitch: float) -> Float32:
    """Values with mean 0 and standard deviation 1 in every part of the image, some micro-images wide."""
    side = (int(EVENED * pitch),) * 2
    mean = cv2.blur(values, side)
    variance = cv2.blur(values * values, side) - mean * mean
    least = max(1e-4 * float(variance.mean()), 1e-12)
    return np.asarray((values - mean) / np.sqrt(np.maximum(variance, least)), np.float32)


def _noise(blocks: Complex, group: NDArray[np.int64], x: Array, y: Array, size: tuple[int, int]) -> Array:
    """Standard deviation (groups,) of real parts beside the lines."""
    away = np.array([-one for one in BESIDE[::-1]] + [0.0, *BESIDE])
    power = np.abs(around(blocks, away / size[0], away / size[1], x, y, size)) ** 2
    outside = np.abs(away) > 0
    beside = power[:, outside][:, :, outside].reshape(len(blocks), -1)
    variance = np.median(beside, axis=1) / np.log(2) / 2  # of one part of a complex number
    return np.asarray(np.maximum(np.sqrt(np.bincount(group, variance) / np.bincount(group)), LEAST_NOISE))


def around(blocks: Complex, along: Array, down: Array, x: Array, y: Array, size: tuple[int, int]) -> Complex:
    """Tapered amplitudes (n, down, along) of lines at frequencies beside their own."""
    waves = np.exp(-2j * np.pi * np.outer(x, along)) * _hann(x, size[0])[:, None]
    other = np.exp(-2j * np.pi * np.outer(down, y)) * _hann(y, size[1])
    return np.asarray(other @ blocks @ waves, np.complex128)


def moved(lines: Lines, scale: float, angle: float) -> Lines:
    """The same lines looked for at a better lattice, in larger blocks."""
    start = lines.frequencies(scale, angle)
    away = lines.orders @ start - lines.orders @ lines.start
    turned = lines.blocks * np.exp(-2j * np.pi * away[:, :1] * lines.x)[:, None, :]
    turned *= np.exp(-2j * np.pi * away[:, 1:] * lines.y)[:, :, None]
    times = max(1, max(turned.shape[1:]) // 32)
    rows, columns = (-(-count // times) for count in turned.shape[1:])
    padded = np.zeros((len(turned), rows * times, columns * times), np.complex128)
    padded[:, : turned.shape[1], : turned.shape[2]] = turned
    blocks = padded.reshape(len(turned), rows, times, columns, times).sum(axis=(2, 4))
    x, y = (
        (np.arange(count) + 0.5) * times * BLOCK - 0.5 - (side - 1) / 2
        for count, side in ((columns, lines.size[0]), (rows, lines.size[1]))
    )
    return replace(lines, start=start, blocks=blocks, x=x, y=y)


def _orders(frequencies: Array) -> NDArray[np.int64]:
    """Orders (n, 2) of the lattice's lines up to `HIGHEST_ORDER`, one of each pair of opposite ones."""
    first = np.arange(-5, 6)
    orders = np.array([[a, b] for a in first for b in first if a > 0 or (a == 0 and b > 0)])
    size = np.hypot(*(orders @ frequencies).T)
    lowest = float(np.hypot(*frequencies.T).mean())
    return np.asarray(orders[(size < HIGHEST_ORDER * lowest) & (size < HIGHEST_FREQUENCY)])


def _lengths(orders: NDArray[np.int64], frequencies: Array) -> NDArray[np.int64]:
    """Which lines are equally long: 0 are the lowest."""
    size = np.hypot(*(orders @ frequencies).T) / float(np.hypot(*frequencies.T).mean())
    return np.asarray(np.unique(np.round(size, 1), return_inverse=True)[1], np.int64)


def _block_middles(count: int) -> Array:
    return np.asarray((np.arange(count) + 0.5) * BLOCK - 0.5, np.float64)


def _hann(place: Array, side: int) -> Array:
    return np.asarray(np.cos(np.pi * place / side) ** 2)


def _block_sums(values: Float32, frequencies: Array, middle: Array) -> Complex:
    """Sums (m, rows, columns) over blocks of an image times the wave of each frequency, with phase 0 in the middle."""
    rows, columns = (side // BLOCK for side in values.shape)
    part = values[: rows * BLOCK, : columns * BLOCK]
    part = part - part.mean()
    inside = np.arange(BLOCK)
    along, down = (np.exp(-2j * np.pi * np.outer(inside, frequencies[:, axis])) for axis in (0, 1))
    across = part.reshape(-1, BLOCK) @ np.hstack([along.real, along.imag]).astype(np.float32)
    across = across.reshape(rows, BLOCK, columns, 2, len(frequencies))
    sums = np.einsum(
        "rbcm,bm->mrc", across[:, :, :, 0] + 1j * across[:, :, :, 1], down.astype(np.complex64), optimize=True
    )
    starts = [np.arange(count) * BLOCK - at for count, at in zip((columns, rows), middle, strict=True)]
    along, down = (np.exp(-2j * np.pi * np.outer(frequencies[:, axis], starts[axis])) for axis in (0, 1))
    return np.asarray(sums * down[:, :, None] * along[:, None, :], np.complex128)
