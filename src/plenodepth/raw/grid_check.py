"""Does this camera belong to this image? The lattice that an image shows, compared with the camera's grid.

Where the camera is right, the light of an image repeats from micro-image to micro-image with its maxima on the grid's
nodes. So the phase of the image at the lattice's lowest spatial frequencies is zero, in every part of the image. A
shifted grid shows another phase, the same everywhere; another pitch or rotation one that changes over the image. An
image without vignetting shows the lattice by its edges, most of which are the borders of micro-images.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.model import Array, GridCamera, MicroImageArray, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.raw.periodicity import DARK, lattice_vectors, light_of

Float32 = NDArray[np.float32]

BLOCK = 16  # pitches: side of the parts of the image that are looked at
BRIGHT = 0.6  # of the brightest pixel near by: what is brighter tells of the scene, not of the lattice
BLOCKS = (6, 5)  # at most, across and down
ENOUGH = 400  # px: side of a part that tells enough, if it holds some micro-images
LEAST_SIDE = 6  # pitches: smaller parts of an image show no lattice
LEAST_BLOCKS = 4  # that show the lattice, for a fit
LEAST_SHARE = 0.5  # of all blocks must agree on one lattice
LEAST_GAIN = 2.0  # of a block's amplitude at the lattice's frequencies over that at others near by
BESIDE = (0.8, 1.2)  # times a frequency: others near by
LARGEST_CLOSURE = 0.12  # periods: phases at three frequencies, of which one is the sum of the others, must add up
OUTLIER = 3.5  # standard deviations of the blocks about the fit
LEAST_SPREAD = 0.05  # px: blocks closer to the fit are no outliers
SCENE = 0.01  # of the pitch: how far off the scene may make a block of BLOCK² lenses look, at least
FEW = 6  # independent blocks
ROUNDS = 8
OTHER_PITCHES = (0.92, 0.94, 0.96, 0.98, 1.02, 1.04, 1.06, 1.08)  # relative
CERTAINTY = 6.0  # standard errors
CLEAR = 0.13  # px: an error below which edges need not be looked at
SHEAR = 3.0  # times what the lattice seems sheared by: a smaller offset may be the scene's doing as well
TOLERANCE = 0.5  # px: micro-images that are farther off their grid are another camera's
LARGEST_ERROR = 0.035  # of the pitch: that of a lattice which the whole image shows
SCENE_PITCHES = (0.5, 1.6)  # of the pitch: at these the content of micro-images may repeat
MUCH_STRONGER = 5
SAME_PITCH, SAME_ANGLE = 0.04, 0.05  # relative, rad: what an autocorrelation surely tells a lattice to


class LatticeOffset(NamedTuple):
    """How the lattice that an image shows differs from a camera's grid."""

    shift: Array  # (2,) px, at the middle of the image
    growth: Array  # (2, 2): offset per px from the middle; a larger pitch is on its diagonal, a rotation off it
    largest: float  # px: the largest offset, at a corner of the image
    error: float  # px: standard error of that
    growth_error: float  # standard error of each number of the growth
    sheared: float = 0.0  # px at a corner of the image: no lattice is, so this is the scene's doing

    @property
    def scale(self) -> float:
        """By how much the pitch is larger, relative."""
        return float(np.trace(self.growth) / 2)

    @property
    def rotation(self) -> float:
        """By how much the lattice is turned, rad."""
        return float((self.growth[1, 0] - self.growth[0, 1]) / 2)

    @property
    def differs(self) -> bool:
        """Whether the micro-images clearly are not where the grid says."""
        return self.largest > max(TOLERANCE, CERTAINTY * self.error) and not self.misled

    @property
    def misled(self) -> bool:
        """Whether this may be the scene's doing.

        Large squares of a board before a real lens make the lattice look sheared, by up to 3 px, and moved as much.
        """
        return self.sheared > TOLERANCE and self.largest <= SHEAR * self.sheared

    def off(self, grid: str = "the grid") -> str:
        """In words, how far off a grid the micro-images are."""
        return (
            f"up to {self.largest:.1f} px off {grid}: shifted by ({self.shift[0]:.1f}, {self.shift[1]:.1f}) px, "
            f"{100 * abs(self.scale):.2f} % {'wider' if self.scale > 0 else 'narrower'}, turned by "
            f"{np.degrees(self.rotation):.2f}°"
        )


@dataclass(frozen=True)
class GridCheck:
    """What an image says about a camera's grid: where its own lies, or which other one it shows, or nothing."""

    offset: LatticeOffset | None = None
    other: tuple[float, float] | None = None  # pitch (px) and angle (rad) of the other lattice


def check_grid(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> GridCheck:
    """Compare the lattice that a raw image (h, w) or (h, w, 3) shows with the grid of a camera for images of its size.

    Numbers that are not finite count as dark.
    """
    found = lattice_offset(image, camera.micro_images)
    return GridCheck(found) if found is not None else GridCheck(None, _other_lattice(image, camera))


def require_grid(check: GridCheck, camera: PlenopticCamera | GridCamera) -> None:
    """Refuse an image that shows another lattice than the camera's."""
    fix = "give the camera that took it"
    if check.other is not None:
        mine = camera.micro_images
        raise InputError(
            f"shows micro-images every {check.other[0]:.2f} px at {np.degrees(check.other[1]):.1f}°, those of camera "
            f"'{camera.name}' are {mine.lattice.diameter:.2f} px apart at "
            f"{np.degrees(lattice_angle(mine)):.1f}°",
            fix=fix,
        )
    if check.offset is not None and check.offset.differs:
        off = check.offset.off(f"the grid of camera '{camera.name}'")
        raise InputError(
            f"has micro-images {off}",
            fix=f"{fix}; if this one did and its lens array was re-mounted, move the grid onto the image by --align",
        )


def lattice_offset(
    image: NDArray[Any], micro_images: MicroImageArray, most_blocks: tuple[int, int] = BLOCKS, scene: float = SCENE
) -> LatticeOffset | None:
    """Where the lattice lies that the image shows near the grid; None where it shows none there.

    By its light, or where that is unclear by its edges. `scene`: how far off the scene may make a block look, in
    pitches.
    """
    pitch, size = micro_images.lattice.diameter, (image.shape[1], image.shape[0])
    blocks = _blocks(image, pitch, most_blocks)
    by_light = _fitted(
        _phases([(x, y, dark_gaps(part, pitch)) for x, y, part in blocks], micro_images), micro_images, size, scene
    )
    if by_light is not None and by_light.error < CLEAR:
        return by_light
    by_edges = _fitted(
        _phases([(x, y, -edge_strength(part)) for x, y, part in blocks], micro_images), micro_images, size, scene
    )
    largest = LARGEST_ERROR * pitch  # with more, offsets may be whole steps of the lattice off
    found = [one for one in (by_light, by_edges) if one is not None and one.error <= largest]
    return min(found, key=lambda one: one.error, default=None)


def _blocks(image: NDArray[Any], pitch: float, most_blocks: tuple[int, int]) -> list[tuple[int, int, Float32]]:
    """Parts of an image, evenly spread: column and row of the first pixel, and their light (n, n)."""
    height, width = image.shape[:2]
    side = int(min(BLOCK * pitch, max(ENOUGH, (LEAST_SIDE + 1) * pitch), 0.6 * height, 0.6 * width)) // 2 * 2
    if side < LEAST_SIDE * pitch:
        return []
    across, down = (
        # From even pixels on: each part begins with the same site of a colour pattern.
        np.linspace(0, size - side, max(1, min(most, 2 * size // side - 1))).astype(int) // 2 * 2
        for size, most in zip((width, height), most_blocks, strict=True)
    )
    return [(x, y, even_light(image[y : y + side, x : x + side])) for y in down.tolist() for x in across.tolist()]


def even_light(part: NDArray[Any]) -> Float32:
    """The light (h, w) > 0 of a part of an image. The four sites of a possible Bayer pattern get the same mean each."""
    light = part.astype(np.float32) if part.ndim == 2 else _sum_of_channels(part)
    if part.dtype.kind == "f":  # whole numbers are never missing
        np.nan_to_num(light, copy=False, posinf=0, neginf=0)
    for row in (0, 1):
        for column in (0, 1):
            light[row::2, column::2] /= max(float(light[row::2, column::2].mean(dtype=np.float64)), 1e-9)
    least = max(DARK * float(np.quantile(light[::5, ::3], 0.99)), 1e-9)
    return np.asarray(np.maximum(light, 0) + np.float32(least), np.float32)


def _sum_of_channels(part: NDArray[Any]) -> Float32:
    """Channel by channel: a sum over the last axis runs in loops of three."""
    total = part[..., 0].astype(np.float32)
    for channel in range(1, part.shape[2]):
        total += part[..., channel]
    return total


def dark_gaps(light: Float32, pitch: float) -> Float32:
    """The logarithm of the light relative to the brightest pixel within half a pitch, up to `BRIGHT`.

    So the scene matters little: what is left are the dark gaps between micro-images.
    """
    brightest = cv2.dilate(cv2.blur(light, (3, 3)), np.ones((int(pitch), int(pitch)), np.uint8))
    return np.asarray(np.log(np.minimum(light / brightest, np.float32(BRIGHT)) + np.float32(DARK)), np.float32)


def edge_strength(light: Float32) -> Float32:
    """Size of the relative differences between pixels two apart, along both axes; 0 at the border."""
    size, light = np.zeros_like(light), np.log(light)
    size[1:-1, 1:-1] = np.abs(light[1:-1, 2:] - light[1:-1, :-2]) + np.abs(light[2:, 1:-1] - light[:-2, 1:-1])
    return size


def lowest_frequencies(micro_images: MicroImageArray) -> Array:
    """The lattice's lowest spatial frequencies (m, 2), 1/px: three for a hexagonal lattice, of which the last is the
    sum of the others; two for a square one.
    """
    lattice, turn = micro_images.lattice, micro_images.image_from_lattice.rotation
    along, down = (lattice.node(2, 0) - lattice.node(0, 0)) / 2, (lattice.node(0, 2) - lattice.node(0, 0)) / 2
    if lattice.arrangement is Arrangement.ORTHOGONAL:
        return np.asarray(np.linalg.inv(np.array([along, down]) @ turn.T).T)
    if lattice.arrangement is Arrangement.HEXAGONAL_ROWS:
        down = down + along / 2
    else:
        along = along + down / 2
    first, second = np.linalg.inv(np.array([along, down]) @ turn.T).T
    second = second if first @ second < 0 else -second
    return np.array([first, second, first + second])


def fits_best(image: NDArray[Any], micro_images: MicroImageArray) -> bool:
    """Whether the image repeats at the pitch of a grid, more than at pitches a few per cent off.

    Phases are known up to whole periods, so that a wrong pitch may fit them from block to block; not within a block.
    """
    pitch = micro_images.lattice.diameter
    blocks = [(x, y, dark_gaps(part, pitch)) for x, y, part in _blocks(image, pitch, (3, 3))]

    def strength(times: float) -> float:
        lattice = replace(micro_images.lattice, pitch=micro_images.lattice.pitch * times)
        return _strength(blocks, replace(micro_images, lattice=lattice))

    own = strength(1.0)
    return all(strength(times) < own for times in OTHER_PITCHES)


def _strength(blocks: list[tuple[int, int, Float32]], micro_images: MicroImageArray) -> float:
    """How strongly blocks repeat at the lattice's lowest frequencies, on average over these."""
    return float(np.mean([np.abs(_amplitudes(block, micro_images, (1.0,))[1]) for block in blocks]))


class _Phases(NamedTuple):
    """What blocks say: their side, px, their middles (n, 2) px, and the phases (n, m), in periods, that they show."""

    side: int
    middle: Array
    phase: Array


def _phases(blocks: list[tuple[int, int, Float32]], micro_images: MicroImageArray) -> _Phases:
    """The phases at the lowest frequencies, relative to the grid, of the blocks that show the lattice."""
    middles, phases = list[Array](), list[Array]()
    for block in blocks:
        middle, amplitude = _amplitudes(block, micro_images, (1.0, *BESIDE))
        phase = -np.angle(amplitude[:, 0]) / (2 * np.pi)  # of a pattern that is shifted by so many periods
        gain = np.abs(amplitude[:, 0]).mean() / max(float(np.abs(amplitude[:, 1:]).mean()), 1e-9)
        closure = 0.0 if len(phase) == 2 else phase[2] - phase[0] - phase[1]
        if gain >= LEAST_GAIN and abs(closure - np.rint(closure)) <= LARGEST_CLOSURE:
            middles.append(middle)
            phases.append(np.asarray(phase, np.float64))
    side = len(blocks[0][2]) if blocks else 1
    count = len(lowest_frequencies(micro_images))
    return _Phases(side, np.array(middles).reshape(-1, 2), np.array(phases).reshape(-1, count))


def _amplitudes(
    block: tuple[int, int, Float32], micro_images: MicroImageArray, times: tuple[float, ...]
) -> tuple[Array, NDArray[np.complex64]]:
    """The middle (2,) px of a block, and its amplitudes (m, times) at multiples of the lattice's lowest frequencies."""
    x, y, light = block
    side, frequencies = len(light), lowest_frequencies(micro_images)
    middle = np.array([x, y]) + (side - 1) / 2
    nearest = micro_images.lattice.nearest(micro_images.image_from_lattice.inverse()(middle))
    center = micro_images.center(*nearest)
    taper = np.hanning(side).astype(np.float32)
    part = (light - light.mean()) * taper * taper[:, None]
    along, down = np.arange(side) + (x - center[0]), np.arange(side) + (y - center[1])
    waves = [
        [np.exp(-2j * np.pi * step * f[axis] * place).astype(np.complex64) for f in frequencies for step in times]
        for axis, place in enumerate((along, down))
    ]
    one = np.array(waves[0]).T  # (side, m · times)
    # A product with complex numbers would take three times as long.
    across = part @ np.ascontiguousarray(one.real) + 1j * (part @ np.ascontiguousarray(one.imag))
    # Not as a matrix product: that of a library wakes threads for each of these few numbers.
    amplitude = (np.array(waves[1]).T * across).sum(axis=0)
    return middle, amplitude.reshape(len(frequencies), len(times))


def _fitted(
    phases: _Phases, micro_images: MicroImageArray, size: tuple[int, int], scene: float
) -> LatticeOffset | None:
    """The shift, scale and rotation that explain the phases; None where too few blocks agree on any.

    Offsets are known up to whole steps of the lattice. So they are made continuous from neighbour to neighbour first.
    """
    count = len(phases.middle)
    if count < LEAST_BLOCKS:
        return None
    frequencies = lowest_frequencies(micro_images)
    cell = np.linalg.inv(frequencies[:2])  # columns are steps of the lattice: frequencies[:2] @ cell = 1
    middle = (np.array(size) - 1) / 2
    steps = np.linalg.lstsq(frequencies @ cell, _continuous(phases, frequencies).T, rcond=None)[0].T  # (n, 2)
    offset, place = steps @ cell.T, phases.middle - middle
    design = np.column_stack([np.ones(count), place])
    good = np.ones(count, np.bool_)
    fit, covariance = np.zeros((3, 2)), np.zeros((3, 3))
    for _ in range(ROUNDS):
        if good.sum() < LEAST_BLOCKS or np.linalg.matrix_rank(design[good]) < 3:
            return None
        fit = np.linalg.lstsq(design[good], offset[good], rcond=None)[0]
        residual = np.linalg.norm(offset - design @ fit, axis=1)
        spread = max(float(np.median(residual[good])) / np.sqrt(2 * np.log(2)), LEAST_SPREAD)
        keep = residual <= OUTLIER * spread
        if np.array_equal(keep, good):
            break
        good = keep
    if good.sum() < max(LEAST_BLOCKS, LEAST_SHARE * count) or spread > micro_images.radius / 4:
        return None
    # Blocks overlap in a small image, and each is wrong by what the scene shows in it.
    alone = min(float(good.sum()), float(np.prod(size)) / phases.side**2)
    variance = float((residual[good] ** 2).sum()) / max(2 * int(good.sum()) - 6, 1)
    lenses = (phases.side / micro_images.lattice.diameter) ** 2
    few = max(1.0, (FEW / alone) ** 2)  # a scene that misleads all blocks alike does not show in their differences
    variance = max(variance, (scene * micro_images.lattice.diameter) ** 2 * BLOCK**2 / lenses * few)
    covariance = variance * good.sum() / alone * np.linalg.inv(design[good].T @ design[good])
    corners = np.array([[1, sx * middle[0], sy * middle[1]] for sx in (-1, 1) for sy in (-1, 1)])
    largest = np.linalg.norm(corners @ fit, axis=1)
    worst = corners[int(np.argmax(largest))]
    error, growth_error = np.sqrt(worst @ covariance @ worst), np.sqrt(np.diag(covariance)[1:].max())
    growth = fit[1:].T
    shear = np.hypot(growth[0, 0] - growth[1, 1], growth[0, 1] + growth[1, 0]) / 2
    sheared = float(shear * np.linalg.norm(middle))
    return LatticeOffset(fit[0], growth, float(largest.max()), float(error), float(growth_error), sheared)


def _continuous(phases: _Phases, frequencies: Array) -> Array:
    """Phases (n, m) of which those of neighbouring blocks differ by less than half a period, as far as they can."""
    phase = phases.phase.copy()
    middle = phases.middle.mean(axis=0)
    order = np.argsort(np.linalg.norm(phases.middle - middle, axis=1))
    done = [int(order[0])]
    for index in order[1:]:
        near = min(done, key=lambda other: float(np.linalg.norm(phases.middle[index] - phases.middle[other])))
        phase[index] -= np.rint(phase[index] - phase[near])
        done.append(int(index))
    if phase.shape[1] == 3:  # the third is the sum of the others
        phase[:, 2] -= np.rint(phase[:, 2] - phase[:, 0] - phase[:, 1])
    return phase


def _other_lattice(image: NDArray[Any], camera: PlenopticCamera | GridCamera) -> tuple[float, float] | None:
    """Pitch (px) and angle (rad) of a lattice that the image shows, if it clearly is not the camera's."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite in the sum are refused
            first, second = lattice_vectors(light_of(np.nan_to_num(image)))
    except InputError:
        return None
    pitch = float(np.hypot(*np.array([first, second]).T).mean())
    mine = camera.micro_images
    hexagonal = abs(first @ second) > 0.25 * pitch**2
    symmetry = np.pi / 3 if hexagonal else np.pi / 2
    angle = float(np.arctan2(first[1], first[0]) % symmetry)
    turned = (angle - lattice_angle(mine) + symmetry / 2) % symmetry - symmetry / 2
    same_kind = hexagonal == (mine.lattice.arrangement is not Arrangement.ORTHOGONAL)
    if same_kind and abs(pitch / mine.lattice.diameter - 1) < SAME_PITCH and abs(turned) < SAME_ANGLE:
        return None
    # The scene repeats, too, from micro-image to micro-image, in the same directions and by a pitch or so; but it
    # leaves some of the lattice to see.
    arrangement = Arrangement.HEXAGONAL_ROWS if hexagonal else Arrangement.ORTHOGONAL
    pose = PlanarPose(float(np.arctan2(first[1], first[0])), (np.array(image.shape[1::-1]) - 1) / 2)
    candidate = MicroImageArray(Lattice(arrangement, 1, 1, np.full(2, pitch)), pose, np.zeros((1, 1), np.int64))
    if lattice_offset(image, candidate) is None:
        return None
    like_a_scene = abs(turned) < SAME_ANGLE and SCENE_PITCHES[0] < pitch / mine.lattice.diameter < SCENE_PITCHES[1]
    if like_a_scene:
        blocks = [(x, y, edge_strength(part)) for x, y, part in _blocks(image, pitch, (3, 3))]
        if _strength(blocks, candidate) < MUCH_STRONGER * _strength(blocks, mine):
            return None
    return pitch, angle


def lattice_angle(micro_images: MicroImageArray) -> float:
    """Angle, rad, of a step of the lattice from one node to the next, modulo the lattice's symmetry."""
    lattice: Lattice = micro_images.lattice
    turn = micro_images.image_from_lattice.angle
    if lattice.arrangement is Arrangement.ORTHOGONAL:
        return float(turn % (np.pi / 2))
    by_columns = lattice.arrangement is Arrangement.HEXAGONAL_COLUMNS
    return float((turn + (np.pi / 2 if by_columns else 0)) % (np.pi / 3))
