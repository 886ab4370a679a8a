"""A part of a camera's frame as a camera of its own: a region of interest of the sensor, or a cropped image."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from plenodepth.camera.micro_lenses import lens_center, lens_position
from plenodepth.camera.model import GridCamera, MicroImageArray, PlenopticCamera, Sensor, image_size
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, PlanarPose, Pose

AnyCamera = TypeVar("AnyCamera", bound=PlenopticCamera | GridCamera)


def cropped_camera(camera: AnyCamera, corner: tuple[int, int], size: tuple[int, int]) -> AnyCamera:
    """The camera of images of `size` = width, height, px, whose first pixel is pixel `corner` = x, y of the camera's.

    Lenses, sensor and main lens stay where they are, so depth stays what it is. The lens counts are those of the
    micro-images of which a part is in the crop.

    >>> part = cropped_camera(plenodepth.preset("r12-a"), (1200, 800), (1600, 1200))
    >>> part.micro_images.lattice.columns, part.sensor.principal_point.round(1).tolist()
    (70, [878.3, 791.0])
    """
    (x, y), (width, height), (full_width, full_height) = corner, size, image_size(camera)
    if x < 0 or y < 0 or x + width > full_width or y + height > full_height:
        raise InputError(
            f"({x}, {y}) … ({x + width}, {y + height}) px are not all in the camera's {full_width} × {full_height} px",
            field="crop",
            fix="give the pixel of the whole frame that is the image's first one",
        )
    grid, (first_k, first_l) = _part_of_grid(camera.micro_images, corner, size)
    if isinstance(camera, GridCamera):
        return replace(camera, width=width, height=height, micro_images=grid)
    made = replace(camera, sensor=_part_of_sensor(camera.sensor, corner, size), micro_images=grid)
    # The lens array's frame has its origin at the last lens: that of the part is another one.
    rotation = camera.micro_lenses.cam_from_mla.rotation
    place = lens_center(first_k, first_l, camera) - rotation @ lens_position(0, 0, made)
    return replace(made, micro_lenses=replace(camera.micro_lenses, cam_from_mla=Pose(rotation, place)))


def _part_of_grid(
    grid: MicroImageArray, corner: tuple[int, int], size: tuple[int, int]
) -> tuple[MicroImageArray, tuple[int, int]]:
    """The micro-images of a part of the image, and the first of them in the whole."""
    old = grid.lattice
    k, l = old.indices()
    place = grid.center(k, l) - corner
    inside = np.all((place > -0.5 - grid.radius) & (place < np.array(size) - 0.5 + grid.radius), axis=-1)
    if not np.any(inside):
        raise InputError("holds no micro-image", field="crop")
    columns, rows = (np.flatnonzero(np.any(inside, axis=axis)) for axis in (0, 1))
    first_k, first_l = int(columns[0]), int(rows[0])
    assert old.shifted_parity is not None
    before = {Arrangement.HEXAGONAL_ROWS: first_l, Arrangement.HEXAGONAL_COLUMNS: first_k}.get(old.arrangement, 0)
    lattice = replace(
        old,
        columns=int(columns[-1]) - first_k + 1,
        rows=int(rows[-1]) - first_l + 1,
        shifted_parity=(old.shifted_parity - before) % 2,
    )
    angle = grid.image_from_lattice.angle
    at_first = grid.center(first_k, first_l) - corner - PlanarPose(angle, np.zeros(2))(lattice.node(0, 0))
    types = (
        grid.type_pattern if not grid.type_pattern.size else np.roll(grid.type_pattern, (-first_l, -first_k), (0, 1))
    )
    return MicroImageArray(lattice, PlanarPose(angle, at_first), types), (first_k, first_l)


def _part_of_sensor(sensor: Sensor, corner: tuple[int, int], size: tuple[int, int]) -> Sensor:
    """The image is the sensor turned by 180°: what is cut off after the crop is cut off before the sensor's corner."""
    after = np.array([sensor.width, sensor.height]) - corner - size
    position = sensor.position + [*(after * sensor.pixel_size), 0.0]
    return replace(
        sensor, width=size[0], height=size[1], position=position, bayer=_part_of_pattern(sensor.bayer, corner)
    )


def _part_of_pattern(bayer: str | None, corner: tuple[int, int]) -> str | None:
    """The colour filters that a crop begins with."""
    if bayer is None:
        return None
    return "".join(bayer[2 * ((row + corner[1]) % 2) + (column + corner[0]) % 2] for row in (0, 1) for column in (0, 1))
