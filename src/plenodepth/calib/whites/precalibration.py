"""White images in, the start of a calibration out: grid, centres, radii, and the camera that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Centers
from plenodepth.calib.whites.disc_centers import discs_inside, measure_discs, unevenness
from plenodepth.calib.whites.grid import (
    LAST_SLACK,
    WHITE_RMS,
    WHITE_SHARE,
    WHITE_UNEVEN,
    FoundGrid,
    find_grid,
    grid_of_light,
)
from plenodepth.calib.whites.lattice_fit import fitted_lattice, type_pattern_for
from plenodepth.calib.whites.radii import WhiteRadii, measure_radii
from plenodepth.calib.whites.start_camera import Optics, initial_camera
from plenodepth.camera.model import Array, MicroImageArray, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.raw.periodicity import Float32, light_of

LEAST_SIGMA = 0.005  # px: a centre is not known better from one image


@dataclass(frozen=True, eq=False)
class Precalibration:
    """What white images tell. `radii` is None where there were none."""

    camera: PlenopticCamera
    grid: FoundGrid  # its centres are those of all white images together
    radii: WhiteRadii | None
    notes: tuple[str, ...]

    @property
    def centers(self) -> Centers:
        """Micro-image centres for the adjustment."""
        return self.grid.centers


def precalibrate(
    whites: Sequence[NDArray[Any]],
    f_numbers: Sequence[float | None],
    optics: Optics,
    *,
    image: NDArray[Any] | None = None,
    columns: int | None = None,
    rows: int | None = None,
    shifted_parity: int | None = None,
    type_count: int | None = None,
    names: Sequence[str] | None = None,
    threads: int = 1,
) -> Precalibration:
    """The start of a calibration from white images at one f-number or more (None: not known), in any order.

    Raw images: linear light without black level, (h, w) or (h, w, 3). Without a white image the grid comes from
    `image`, any raw image of the camera, and the optics are nominal. `names` are how errors call the white images.
    """
    labels = [f"white image {n}" for n in range(len(whites))] if names is None else list(names)
    for label, picture in zip([*labels, "image"], [*whites, image], strict=True):
        if picture is not None and picture.shape[:2] != (optics.height, optics.width):
            size = f"{picture.shape[1]} × {picture.shape[0]} px, not {optics.width} × {optics.height}"
            raise InputError(f"is {size}", file=label, fix="give images of one camera")
    if not len(whites):
        if image is None:
            raise InputError("are missing", field="whites", fix="give a white image, or any raw image of the camera")
        grid = find_grid(image, columns=columns, rows=rows, shifted_parity=shifted_parity, threads=threads)
        return _without_whites(optics, grid, type_count)
    with ThreadPoolExecutor(threads) as pool:
        lights = list(pool.map(light_of, whites, labels))
    grid = grid_of_light(lights[0], columns, rows, shifted_parity, labels[0], threads)
    grid = _with_all_whites(grid, lights, labels, threads)
    radii = measure_radii(whites, f_numbers, grid, type_count=type_count, lights=lights, threads=threads)
    micro_images = MicroImageArray(grid.fit.lattice, grid.fit.image_from_lattice, radii.type_pattern)
    notes = grid.notes + radii.notes
    if not np.isfinite(radii.slope):
        touching = optics.f_number * (micro_images.radius - float(radii.intercepts.mean()))
        radii = replace(radii, slope=max(touching, 0.0))
        notes += (f"micro-images are taken to touch at f/{optics.f_number:g}",)
    camera = initial_camera(
        optics, micro_images, radii.white_radius(optics.pixel_size, optics.configuration), notes=notes
    )
    return Precalibration(camera, grid, radii, camera.provenance.notes)


def _without_whites(optics: Optics, grid: FoundGrid, type_count: int | None) -> Precalibration:
    pattern = type_pattern_for(grid.fit.lattice, 0 if type_count is None else type_count)
    micro_images = MicroImageArray(grid.fit.lattice, grid.fit.image_from_lattice, pattern)
    camera = initial_camera(optics, micro_images, notes=grid.notes)
    return Precalibration(camera, grid, None, camera.provenance.notes)


def _with_all_whites(grid: FoundGrid, lights: Sequence[Float32], labels: Sequence[str], threads: int) -> FoundGrid:
    """The grid with the weighted mean of the centres of all white images, each of which must be one."""
    if not grid.white:
        raise InputError("is no white image: " + "; ".join(grid.notes), file=labels[0], fix="give an evenly lit one")
    start, pitch = grid.centers, grid.fit.lattice.diameter
    measured = [(start.uv, start.covariance)]
    for light, label in zip(lights[1:], labels[1:], strict=True):
        measured.append(_measured_again(light, start, pitch, label, threads))
    uv, covariance = _mean(measured)
    centers = replace(start, uv=uv, covariance=covariance)
    lattice = grid.fit.lattice
    fit = fitted_lattice(centers, lattice.arrangement, lattice.columns, lattice.rows, lattice.shifted_parity)
    return replace(grid, fit=fit, centers=centers)


def _measured_again(light: Float32, start: Centers, pitch: float, label: str, threads: int) -> tuple[Array, Array]:
    """The same centres measured in another white image, and their covariance; NaN where there is no disc."""
    uv, slack = start.uv, max(1.0, LAST_SLACK * pitch)
    inside = discs_inside(light, uv, pitch, slack)
    discs = measure_discs(light, uv[inside], pitch, slack, rounds=3, threads=threads)
    off = np.hypot(*(discs.uv - uv[inside]).T)
    share = float(np.mean(off < 3 * WHITE_RMS * pitch))  # a NaN is not
    uneven = unevenness(start.k[inside], start.l[inside], discs.gain)
    if share < WHITE_SHARE or uneven > WHITE_UNEVEN:
        raise InputError(
            f"is no white image of the same camera: {share:.0%} of its discs are where those of the first are, and "
            f"neighbours differ in brightness by {uneven:.0%}",
            file=label,
            fix="give an evenly lit one",
        )
    found, covariance = np.full(uv.shape, np.nan), np.full((len(uv), 2, 2), np.nan)
    found[inside], covariance[inside] = discs.uv, discs.covariance
    return found, covariance


def _mean(measured: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Weighted mean of positions (n, 2), with its covariance; NaN does not count."""
    total, weights = np.zeros_like(measured[0][0]), np.zeros((len(measured[0][0]), 1))
    for uv, covariance in measured:
        variance = np.trace(covariance, axis1=1, axis2=2)[:, None] / 2 + LEAST_SIGMA**2
        weight = np.where(np.isfinite(variance) & np.isfinite(uv).all(axis=1, keepdims=True), 1 / variance, 0.0)
        total += weight * np.nan_to_num(uv)
        weights += weight
    return total / weights, np.eye(2) / weights[..., None]
