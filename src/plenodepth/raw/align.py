"""Grid and image brought together: a camera moved onto the lattice that an image shows, a white image onto a grid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, predicted_center
from plenodepth.camera.model import MicroImageArray, image_size
from plenodepth.errors import InputError
from plenodepth.geometry import PlanarPose, Pose
from plenodepth.raw.grid_check import CERTAINTY, GridCheck, LatticeOffset, check_grid, fits_best, lattice_offset
from plenodepth.raw.levels import checked_numbers

AnyCamera = PlenopticCamera | GridCamera

LARGEST_SCALE = 0.02  # relative
WHITE_BLOCKS = (4, 3)  # of a white image that are looked at, which shows its lattice clearly
NO_SCENE = 0.001  # pitches: how far off a part of a white image may look, see `lattice_offset`
NEGLIGIBLE = 0.1  # px: a white image, or a calibrated grid, that is less off is left as it is
CLEAR = 2.0  # standard errors: a rotation that the image knows better than a calibrated grid
SAME_FOCUS = 2e-4  # relative: a pitch that differs more is that of another focus of the main lens


def aligned_camera(image: NDArray[Any], camera: AnyCamera, *, whole_pixels: bool = False) -> tuple[AnyCamera, str]:
    """The camera with its grid on the lattice that a raw image (h, w) or (h, w, 3) shows, and what was done, in words.

    For a re-mounted array. Shift, pitch and rotation change, the grid by less than a pitch. Which lens is of which type
    stays: `depth.lens_types` finds that out. A camera with optics keeps its pitch: another one is that of another
    focus, and an `InputError`. `whole_pixels`: the shift most probably is by some, as that of a cropped image.
    """
    check = check_grid(checked_numbers(image, camera), camera)
    if check.offset is None:
        raise InputError(_why_not(check), fix="align with an image that shows its micro-images, best a white one")
    found = check.offset
    if abs(found.scale) > LARGEST_SCALE:
        raise InputError(f"has micro-images {found.off()}: too much to align", fix="give the camera that took it")
    with_optics = isinstance(camera, PlenopticCamera)
    result = moved(camera, _without_chance(found, whole_pixels) if with_optics else found)
    if not fits_best(image, result.micro_images):
        raise InputError("does not repeat at the pitch of the camera's grid", fix="give the camera that took it")
    half = float(np.hypot(*image_size(camera))) / 2
    if with_optics and abs(found.scale) > max(SAME_FOCUS, CERTAINTY * found.error / half):
        raise InputError(
            f"has micro-images {found.off()}: at another focus of the main lens, or scaled; mm would be wrong",
            fix="give the camera calibrated at that focus, or leave it out for virtual depth",
        )
    return result, f"the grid was moved onto the image: its micro-images were {found.off()}"


def _without_chance(found: LatticeOffset, whole_pixels: bool) -> LatticeOffset:
    """The shift and the rotation that an image clearly shows; where it does not, a calibrated grid knows better."""
    nearest = np.rint(found.shift) if whole_pixels else np.zeros(2)
    shift = np.where(np.abs(found.shift - nearest) > NEGLIGIBLE, found.shift, nearest)
    turn = found.rotation if abs(found.rotation) > CLEAR * found.growth_error else 0.0
    return found._replace(shift=shift, growth=np.array([[0.0, -turn], [turn, 0.0]]))


def moved(camera: AnyCamera, offset: LatticeOffset) -> AnyCamera:
    """The camera whose micro-images lie where an offset says."""
    middle = (np.array(image_size(camera)) - 1) / 2
    grid = _moved_grid(camera.micro_images, offset, middle)
    if isinstance(camera, GridCamera):
        return replace(camera, micro_images=grid)
    lenses, pose, lattice = camera.micro_lenses, camera.micro_lenses.cam_from_mla, camera.micro_images.lattice
    cos, sin = np.cos(offset.rotation), np.sin(offset.rotation)
    turned = Pose(np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ pose.rotation, pose.translation)
    made = replace(
        camera,
        micro_images=grid,
        micro_lenses=replace(lenses, pitch=lenses.pitch * (1 + offset.scale), cam_from_mla=turned),
    )
    # The sensor moves until the lens in the middle is seen where the grid has it, as before.
    k, l = lattice.columns // 2, lattice.rows // 2
    before = predicted_center(k, l, camera) - camera.micro_images.center(k, l)
    off = grid.center(k, l) + before - predicted_center(k, l, made)
    position = made.sensor.position + [*(off * made.sensor.pixel_size), 0.0]
    return replace(made, sensor=replace(made.sensor, position=position))


def _moved_grid(grid: MicroImageArray, offset: LatticeOffset, middle: NDArray[np.float64]) -> MicroImageArray:
    """The lattice after x → middle + shift + (1 + scale) · turned (x − middle)."""
    pose, lattice = grid.image_from_lattice, grid.lattice
    turned = PlanarPose(offset.rotation, np.zeros(2))
    place = middle + offset.shift + (1 + offset.scale) * turned(pose.translation - middle)
    return replace(
        grid,
        lattice=replace(lattice, pitch=lattice.pitch * (1 + offset.scale)),
        image_from_lattice=PlanarPose(float(pose.angle + offset.rotation), place),
    )


def _why_not(check: GridCheck) -> str:
    if check.other is not None:
        return f"shows another lattice, of {check.other[0]:.2f} px at {np.degrees(check.other[1]):.1f}°"
    return "does not show its micro-images"


def white_onto_grid(
    white: NDArray[Any], camera: PlenopticCamera | GridCamera, pattern: str | None
) -> tuple[NDArray[Any], str]:
    """A white image (h, w) or (h, w, 3) moved onto the camera's grid, where it clearly lies beside it; and a note."""
    found = lattice_offset(white, camera.micro_images, WHITE_BLOCKS, scene=NO_SCENE)
    if found is None or found.largest <= max(NEGLIGIBLE, CERTAINTY * found.error):
        return white, ""
    if abs(found.scale) > LARGEST_SCALE or found.largest > camera.micro_images.radius:
        raise InputError(f"has micro-images {found.off()}", fix="give a white image of the same camera")
    middle = (np.array(image_size(camera)) - 1) / 2
    grow = np.eye(2) + found.growth
    # Where a pixel of the result is taken from: x → middle + shift + (1 + growth) (x − middle).
    matrix = np.column_stack([grow, middle + found.shift - grow @ middle])
    note = f"the white image was moved onto the grid: its micro-images were {found.off()}"
    return _warped(white, matrix, pattern), note


def _warped(image: NDArray[Any], matrix: NDArray[np.float64], pattern: str | None) -> NDArray[Any]:
    """The image at places matrix · (u, v, 1); a mosaic site by site, so that colours stay apart."""
    values = image.astype(np.float32)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    if pattern is None:
        size = (image.shape[1], image.shape[0])
        return np.asarray(cv2.warpAffine(values, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE))
    result = np.empty_like(values)
    for row in (0, 1):
        for column in (0, 1):
            plane = np.ascontiguousarray(values[row::2, column::2])
            first = np.array([column, row])
            # In the plane's own pixels: (u, v) = 2 (u', v') + first.
            own = np.column_stack([matrix[:, :2], (matrix[:, :2] @ first + matrix[:, 2] - first) / 2])
            size = (plane.shape[1], plane.shape[0])
            warped = cv2.warpAffine(plane, own, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
            result[row::2, column::2] = warped
    return result
