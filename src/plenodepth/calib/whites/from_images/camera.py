"""The grid of a camera from ordinary raw images: no white image, no hint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.features import Centers
from plenodepth.calib.whites.from_images.line_fit import LineFit, fit_lines
from plenodepth.calib.whites.from_images.sharpness import TypesBySharpness, types_by_sharpness
from plenodepth.calib.whites.from_images.spectrum import LARGEST_SIDE, LEAST_PERIODS, SHORTEST_PITCH, candidate_lattices
from plenodepth.calib.whites.grid import lattice_over, named_lattice
from plenodepth.calib.whites.grid_extent import cropped
from plenodepth.camera.model import GridCamera, MicroImageArray, Provenance
from plenodepth.depth.sign import DepthSign, depth_sign_of_image
from plenodepth.errors import InputError
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import clean_image
from plenodepth.raw.grid_check import even_light
from plenodepth.raw.periodicity import Float32

CANDIDATES = 4
LEAST_STRENGTH = 12.0  # standard deviations of the lowest lines: what a scene repeats reaches 8
LEAST_CONSISTENCY = 0.7  # of their phases
UNSURE = 0.5  # px: a grid that is known no better at the corners of the image is said to be unsure
SIGN_IMAGES = 3  # at most that are asked for the sign of virtual depth


def grid_from_images(
    images: Sequence[NDArray[Any]],
    *,
    name: str = "image",
    threads: int | None = None,
    progress: Progress = no_progress,
) -> GridCamera:
    """The grid of the camera that took raw images (h, w) or (h, w, 3), one or several of one size.

    Arrangement, pitch, rotation and offset come from the lines of the images' spectra, the number of lens types from
    sharpness, the sign of virtual depth from how content moves from lens to lens. The notes of the provenance say how
    sure each of them is, its residuals give the numbers. Images of different scenes, with texture all over, are best.

    >>> camera = plenodepth.grid_from_images([plenodepth.io.read_image("raw.png")])
    >>> round(camera.micro_images.lattice.diameter, 1), str(camera.configuration)
    (23.3, 'galilean')
    """
    _require_one_size(images, name)
    progress(0, 4, "spectrum")
    lights = [even_light(image) for image in images]
    size = (lights[0].shape[1], lights[0].shape[0])
    fit = _best_fit(lights, name)
    progress(2, 4, "lens types")
    grid = _micro_images(fit, size)
    types = types_by_sharpness(lights, grid)
    grid = replace(grid, type_pattern=types.type_pattern)
    camera = GridCamera(name, *size, grid, np.zeros((0, 2)))
    progress(3, 4, "sign of virtual depth")
    sign = _sign(images, camera, threads)
    progress(4, 4, "done")
    source = f"found in {len(images)} raw image{'s' if len(images) > 1 else ''}, without a white image"
    residuals = {
        "corner_error": fit.corner_error(size),
        "line_strength": fit.strength,
        "line_consistency": fit.consistency,
        "type_certainty": types.certainty,
        "sign_clearness": sign.clearness,
    }
    provenance = Provenance(source, _notes(fit, size, types, sign), residuals)
    return replace(camera, provenance=provenance, configuration=sign.configuration)


def _require_one_size(images: Sequence[NDArray[Any]], name: str) -> None:
    if not len(images):
        raise InputError("are none", field="images", fix="give at least one raw image")
    for image in images:
        if image.ndim not in (2, 3) or min(image.shape[:2]) < LEAST_PERIODS * SHORTEST_PITCH:
            raise InputError(f"has shape {image.shape}, too small or no image", file=name)
        if image.shape[:2] != images[0].shape[:2]:
            sizes = " and ".join(f"{one.shape[1]} × {one.shape[0]}" for one in (images[0], image))
            raise InputError(f"has images of {sizes} px", file=name, fix="give images of one camera")


def _best_fit(lights: Sequence[Float32], name: str) -> LineFit:
    """The first candidate whose lines are strong and agree on one node."""
    bins = min(LARGEST_SIDE, *lights[0].shape)
    for _, frequencies in candidate_lattices(lights, CANDIDATES):
        fit = fit_lines(lights, frequencies, bins)
        if fit.strength >= LEAST_STRENGTH and fit.consistency >= LEAST_CONSISTENCY:
            return fit
    raise InputError(
        "shows no micro-images: nothing in it repeats as a hexagonal or square array does",
        file=name,
        fix="give a raw plenoptic image, or several",
    )


def _micro_images(fit: LineFit, size: tuple[int, int]) -> MicroImageArray:
    arrangement, pitch, angle = named_lattice(np.asarray(np.linalg.inv(fit.frequencies).T, np.float64))
    over = lattice_over(size, arrangement, pitch, angle, fit.node)
    none = Centers(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros((0, 2, 2)))
    placed, _ = cropped(over, none, size)
    return MicroImageArray(placed.lattice, placed.image_from_lattice, np.zeros((1, 1), np.int64))


def _sign(images: Sequence[NDArray[Any]], camera: GridCamera, threads: int | None) -> DepthSign:
    """From the first image that tells."""
    for image in images[:SIGN_IMAGES]:
        clean = clean_image(image, camera, devignetting="self", check_camera=False)
        sign = depth_sign_of_image(clean, camera, threads=threads)
        if sign.configuration is not None:
            break
    return sign


def _notes(fit: LineFit, size: tuple[int, int], types: TypesBySharpness, sign: DepthSign) -> tuple[str, ...]:
    error = fit.corner_error(size)
    place = (
        f"pitch, rotation and offset: the grid's standard error is {error:.2f} px at the corners of the image, by how "
        f"parts of it disagree; its lines are {fit.strength:.0f} standard deviations strong"
    )
    if not error <= UNSURE:
        place += "; unsure: give more images"
    if len(types.sharpness):
        of_types = (
            f"lens types: three, by {types.certainty:.0f} standard deviations; numbered by sharpness in these images, "
            "0 is the sharpest"
        )
    else:
        of_types = f"lens types: no difference in sharpness ({types.certainty:.1f} standard deviations), so one type"
    if sign.configuration is None:
        of_sign = "sign of virtual depth: the images do not tell"
    else:
        of_sign = f"sign of virtual depth: {sign.configuration}, clear to {sign.clearness:.0%}"
    return place, of_types, of_sign
