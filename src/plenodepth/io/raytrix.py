"""Files of the Raytrix software: the lens grid beside its images (`RayCalibData` XML) and a pose of RxLive (.mat)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.poses import rotation_fault
from plenodepth.io.reading import read_bytes, to_number
from plenodepth.io.text_tables import TextLines

FloatArray = npt.NDArray[np.float64]

_ROOT = "RayCalibData"
_POSE_HEADER_LINES = 5


@dataclass(frozen=True, eq=False)
class RaytrixLensType:
    """One focal length of the micro-lens array."""

    id: int
    offset: FloatArray  # (2,) of its sub-grid from the grid's origin, in lens diameters, y up
    depth_range: tuple[float, float]  # virtual depths (min, max) between which it is in focus


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
    distortion: str  # kind of the grid's distortion; "constant" or "" is none


def read_raytrix_grid(path: Path | str) -> RaytrixGrid:
    """Reads the vendor's grid file."""
    root = _parse(path)
    node = _Node(root, str(path), "")
    if root.tag != _ROOT:
        raise InputError(f"its root element is <{root.tag}>, not <{_ROOT}>", file=path, fix="give a Raytrix grid file")
    diameter = node.number("diameter", "pix")
    if diameter <= 0:
        raise node.error("diameter", f"is not positive: {diameter:g}", "give pixels > 0")
    return RaytrixGrid(
        offset_from_centre=node.point("offset", "pix"),
        diameter=diameter,
        rotation=node.number("rotation", "rad"),
        lens_border=node.number("lens_border", "pix"),
        total_covering_plane=node.number("tcp", "virtual_depth"),
        lens_base_x=node.point("lens_base_x", "lens"),
        lens_base_y=node.point("lens_base_y", "lens"),
        sub_grid_base=node.point("sub_grid_base", "lens"),
        lens_types=_lens_types(node),
        distortion=(root.findtext("distortion/function") or "").strip(),
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


@dataclass(frozen=True)
class _Node:
    """An element and its place in the file, for error messages."""

    element: ET.Element
    file: str
    prefix: str

    def error(self, name: str, message: str, fix: str | None = None) -> InputError:
        return InputError(message, file=self.file, field=self.prefix + name, fix=fix)

    def child(self, name: str, units: str | None = None) -> _Node:
        found = self.element.findall(name)
        if len(found) != 1:
            raise self.error(name, "is missing" if not found else "is there more than once", "give it once")
        given = found[0].get("units")
        if units is not None and given is not None and given != units:
            raise self.error(name, f"is in {given!r}", f"give it in {units!r}")
        return _Node(found[0], self.file, f"{self.prefix}{name}.")

    def number(self, name: str, units: str | None = None) -> float:
        try:
            return to_number(self.child(name, units).element.text or "")
        except ValueError as error:
            raise self.error(name, str(error), "give a finite number") from None

    def point(self, name: str, units: str) -> FloatArray:
        node = self.child(name, units)
        return np.array([node.number("x"), node.number("y")])


def _lens_types(root: _Node) -> tuple[RaytrixLensType, ...]:
    types: list[RaytrixLensType] = []
    for index, element in enumerate(root.element.findall("lens_type")):
        node = _Node(element, root.file, f"lens_type.{index}.")
        text = element.get("id", "")
        if not (text.isascii() and text.isdecimal()):
            raise node.error("id", f"is not a whole number: {text!r}", "number the lens types from 0")
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


class _NoDoctype(ET.TreeBuilder):
    """Refuses a document type declaration: grid files have none, and it is how an XML file can grow without bound."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("has a DOCTYPE, which a grid file never has", fix="remove the <!DOCTYPE ...> declaration")


def _parse(path: Path | str) -> ET.Element:
    parser = ET.XMLParser(target=_NoDoctype())
    try:
        parser.feed(read_bytes(path))
        root = parser.close()
    except InputError as error:
        raise error.in_file(path) from None
    except ET.ParseError as error:
        line, column = error.position
        raise InputError(
            f"is not valid XML: {str(error).split(':')[0]}",
            file=path,
            field=f"line {line}, column {column + 1}",
            fix="complete or repair the file",
        ) from None
    except (ValueError, LookupError):  # an encoding that the parser does not know
        raise InputError("is not XML in a known encoding", file=path, fix="save it as UTF-8") from None
    assert isinstance(root, ET.Element)
    return root
