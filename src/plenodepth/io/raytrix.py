"""Files of the Raytrix software: the lens grid beside its images (`RayCalibData` XML) and a pose of RxLive (.mat)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.libpleno.poses import rotation_fault
from plenodepth.io.reading import quoted, read_bytes, to_number
from plenodepth.io.text_tables import TextLines
from plenodepth.io.xml_nodes import FloatArray, XmlNode, read_xml

RAYTRIX_ROOT = "RayCalibData"
_POSE_HEADER_LINES = 5
LONGEST_ID = 9  # digits
MOST_LENS_TYPES = 100


@dataclass(frozen=True, eq=False)
class RaytrixLensType:
    """One focal length of the micro-lens array."""

    id: int
    offset: FloatArray  # (2,) of its sub-grid from the grid's origin, in lens diameters, y up
    depth_range: tuple[float, float]  # virtual depths (min, max) between which it is in focus


@dataclass(frozen=True, eq=False)
class RaytrixDistortion:
    """How the centres are said to deviate from the lattice, as the file gives it."""

    function: str  # "Brown"; "constant" or "" is none
    parameters: FloatArray  # (n,)
    offset: FloatArray  # (2,) [px], of its centre, y up


@dataclass(frozen=True, eq=False)
class RaytrixGrid:
    """The grid of micro-images as the file gives it: x to the right, y UP (image rows run the other way)."""

    offset_from_centre: FloatArray  # (2,) [px], of the grid's origin from the image centre
    diameter: float  # [px], of a micro-image
    rotation: float  # [rad], of the lens rows; pi/2: they run vertically
    lens_border: float  # [px], rim of a micro-image that is not to be used
    total_covering_plane: float  # "tcp", virtual depth from which every point is seen in focus by some lens
    lens_base_x: FloatArray  # (2,) first step of the hexagonal grid, in lens diameters, rotation included
    lens_base_y: FloatArray  # (2,) second step
    sub_grid_base: FloatArray  # (2,) period of the lenses of one type, in lens diameters
    lens_types: tuple[RaytrixLensType, ...]  # in the order of the file
    distortion: RaytrixDistortion


def read_raytrix_grid(path: Path | str) -> RaytrixGrid:
    """Reads the vendor's grid file."""
    node = read_xml(path)
    if node.element.tag != RAYTRIX_ROOT:
        raise InputError(
            f"its root element is <{node.element.tag}>, not <{RAYTRIX_ROOT}>", file=path, fix="give a Raytrix grid file"
        )
    return RaytrixGrid(
        offset_from_centre=node.point("offset", "pix"),
        diameter=node.positive("diameter", "pix"),
        rotation=node.number("rotation", "rad"),
        lens_border=node.number("lens_border", "pix"),
        total_covering_plane=node.number("tcp", "virtual_depth"),
        lens_base_x=node.point("lens_base_x", "lens"),
        lens_base_y=node.point("lens_base_y", "lens"),
        sub_grid_base=node.point("sub_grid_base", "lens"),
        lens_types=_lens_types(node),
        distortion=_distortion(node),
    )


@dataclass(frozen=True, eq=False)
class RaytrixPose:
    """rotation (3, 3) and translation (3,) mm as stored; the file does not say from which frame to which."""

    rotation: FloatArray
    translation: FloatArray


def read_raytrix_pose(path: Path | str) -> RaytrixPose:
    """Reads a .mat file: five lines of header, then [R | t] in three lines of four numbers; the rest is not read."""
    lines = TextLines(read_bytes(path), path)
    rows = np.array([lines.numbers(_POSE_HEADER_LINES + row, 4, "a row of [R | t]") for row in range(3)])
    fault = rotation_fault(rows[:, :3])
    if fault:
        raise InputError(
            fault[0], file=path, field=f"lines {_POSE_HEADER_LINES + 1} … {_POSE_HEADER_LINES + 3}", fix=fault[1]
        )
    return RaytrixPose(rows[:, :3].copy(), rows[:, 3].copy())


def _distortion(root: XmlNode) -> RaytrixDistortion:
    """The first <distortion>. Parameters may be one <parameter> each or several numbers in one; a count is not read."""
    element = root.element.find("distortion")
    if element is None:
        return RaytrixDistortion("", np.zeros(0), np.zeros(2))
    node = XmlNode(element, root.file, "distortion.")
    words = " ".join(" ".join(part.itertext()) for part in element.findall("parameter")).replace(",", " ").split()
    try:
        parameters = np.array([to_number(word) for word in words])
    except ValueError as error:
        raise node.error("parameter", str(error), "give finite numbers") from None
    offset = np.zeros(2) if element.find("offset") is None else node.point("offset", "pix")
    return RaytrixDistortion((element.findtext("function") or "").strip(), parameters, offset)


def _lens_types(root: XmlNode) -> tuple[RaytrixLensType, ...]:
    types: list[RaytrixLensType] = []
    elements = root.element.findall("lens_type")
    if len(elements) > MOST_LENS_TYPES:
        raise root.error("lens_type", f"is there {len(elements)} times", "give one for each focal length")
    for index, element in enumerate(elements):
        node = XmlNode(element, root.file, f"lens_type.{index}.")
        text = element.get("id", "")
        if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID):
            raise node.error("id", f"is not a whole number: {quoted(text)}", "number the lens types from 0")
        if int(text) in (known.id for known in types):
            raise node.error("id", f"{text} is there twice", "give each lens type its own id")
        span = node.child("depth_range", "virtual_depth")
        depth_range = (span.number("min"), span.number("max"))
        if depth_range[0] >= depth_range[1]:
            raise node.error("depth_range", "is empty: min is not below max", "exchange them")
        types.append(RaytrixLensType(int(text), node.point("offset", "lens"), depth_range))
    if not types:
        raise root.error("lens_type", "is missing", "give at least one lens type")
    return tuple(types)
