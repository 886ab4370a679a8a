"""Scenes in libpleno files: checkerboards to calibrate with, plates to render, constellations for the lidar."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.io.libpleno.poses import pose_content, read_pose
from plenodepth.io.libpleno.property_tree import PropertyTree, as_column, read_tree, write_tree

FloatArray = npt.NDArray[np.float64]

# A plate of negative size takes that of its texture, 1 mm for each pixel.
SIZE_OF_TEXTURE = -1.0


@dataclass(frozen=True, eq=False)
class LibplenoBoard:
    """A board of `columns` x `rows` INNER corners. Its frame: origin at corner 0, x along columns, y along rows."""

    columns: int  # "x_grid"
    rows: int  # "y_grid"
    square: float  # side of a square [mm], "lph"
    rotation: FloatArray  # (3, 3), of the board in the scene
    translation: FloatArray  # (3,) [mm]

    def corners(self) -> FloatArray:
        """The inner corners (rows * columns, 3) [mm] in the board frame; corner (k, l) is at l * columns + k."""
        l, k = np.divmod(np.arange(self.rows * self.columns), self.columns)
        return self.square * np.stack([k, l, np.zeros_like(k)], axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LibplenoPlate:
    """A textured rectangle. Its frame: origin at one corner, x along the width, y along the height."""

    width: float  # [mm]; negative: the size of the texture, 1 mm for each pixel
    height: float  # [mm]
    scale: float  # [mm] of one texture pixel
    texture: str  # path of an image
    rotation: FloatArray  # (3, 3), of the plate in the camera frame
    translation: FloatArray  # (3,) [mm]


@dataclass(frozen=True, eq=False)
class LibplenoScene:
    """What a "scene" file holds; a constellation is an array (n, 3) of target points [mm] in the lidar frame."""

    checkerboards: tuple[LibplenoBoard, ...] = ()
    plates: tuple[LibplenoPlate, ...] = ()
    constellations: tuple[FloatArray, ...] = ()


def read_scene(path: Path | str) -> LibplenoScene:
    """Reads a "scene" file. A missing pose is the identity, a missing list is empty."""
    tree = read_tree(path)
    return LibplenoScene(
        tuple(_read_checkerboard(entry) for entry in _optional_list(tree, "checkerboards")),
        tuple(_read_plate(entry) for entry in _optional_list(tree, "plates")),
        tuple(entry.vectors("points", 3) for entry in _optional_list(tree, "constellations")),
    )


def write_scene(scene: LibplenoScene, path: Path | str) -> None:
    """Writes a "scene" file."""
    boards = [
        {
            "lph": board.square,
            "pose": pose_content(board.rotation, board.translation, file=path, field=f"checkerboards.{index}.pose"),
            "x_grid": board.columns,
            "y_grid": board.rows,
        }
        for index, board in enumerate(scene.checkerboards)
    ]
    plates = [
        {
            "height": plate.height,
            "pose": pose_content(plate.rotation, plate.translation, file=path, field=f"plates.{index}.pose"),
            "scale": plate.scale,
            "texture": plate.texture,
            "width": plate.width,
        }
        for index, plate in enumerate(scene.plates)
    ]
    constellations = [{"points": [as_column(point) for point in points]} for points in scene.constellations]
    write_tree({"checkerboards": boards, "plates": plates, "constellations": constellations}, path)


def _optional_list(tree: PropertyTree, path: str) -> list[PropertyTree]:
    return tree.subtrees(path) if tree.has(path) else []


def _read_checkerboard(tree: PropertyTree) -> LibplenoBoard:
    columns, rows, square = tree.integer("x_grid"), tree.integer("y_grid"), tree.number("lph")
    for path, value in (("x_grid", columns), ("y_grid", rows), ("lph", square)):
        if value <= 0:
            raise tree.error(path, f"is not positive: {value:g}", "give a number > 0")
    return LibplenoBoard(columns, rows, square, *read_pose(tree, "pose", required=False))


def _read_plate(tree: PropertyTree) -> LibplenoPlate:
    scale = tree.number("scale", default=1.0)
    if scale <= 0:
        raise tree.error("scale", f"is not positive: {scale:g}", "give the millimetres of one texture pixel")
    return LibplenoPlate(
        tree.number("width", default=SIZE_OF_TEXTURE),
        tree.number("height", default=SIZE_OF_TEXTURE),
        scale,
        tree.text("texture", default=""),
        *read_pose(tree, "pose", required=False),
    )
