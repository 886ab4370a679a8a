"""Small XML files of other programs: elements that hold numbers, and errors that name them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.reading import read_bytes, to_number

FloatArray = npt.NDArray[np.float64]

UNIT_ATTRIBUTES = ("units", "unit")  # of the vendor's files, of TSPC's


@dataclass(frozen=True)
class XmlNode:
    """An element and its place in the file, for error messages."""

    element: ET.Element
    file: str
    prefix: str = ""

    def error(self, name: str, message: str, fix: str | None = None) -> InputError:
        """An error of the child of that name."""
        return InputError(message, file=self.file, field=self.prefix + name, fix=fix)

    def child(self, name: str, units: str | None = None) -> XmlNode:
        """The one child of that name; where it tells its units, they are these."""
        found = self.element.findall(name)
        if len(found) != 1:
            raise self.error(name, "is missing" if not found else "is there more than once", "give it once")
        given = next((found[0].get(word) for word in UNIT_ATTRIBUTES if found[0].get(word) is not None), None)
        if units is not None and given is not None and given != units:
            raise self.error(name, f"is in {given!r}", f"give it in {units!r}")
        return XmlNode(found[0], self.file, f"{self.prefix}{name}.")

    def number(self, name: str, units: str | None = None) -> float:
        """The number in a child."""
        try:
            return to_number(self.child(name, units).element.text or "")
        except ValueError as error:
            raise self.error(name, str(error), "give a finite number") from None

    def positive(self, name: str, units: str) -> float:
        """The number in a child, > 0 px."""
        value = self.number(name, units)
        if value <= 0:
            raise self.error(name, f"is not positive: {value:g}", "give pixels > 0")
        return value

    def point(self, name: str, units: str | None = None) -> FloatArray:
        """The numbers x and y (2,) in a child."""
        node = self.child(name, units)
        return np.array([node.number("x"), node.number("y")])


class _NoDoctype(ET.TreeBuilder):
    """Refuses a document type declaration: grid files have none, and it is how an XML file can grow without bound."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("has a DOCTYPE, which a grid file never has", fix="remove the <!DOCTYPE ...> declaration")


def read_xml(path: Path | str) -> XmlNode:
    """The root element of an XML file."""
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
    return XmlNode(root, str(path))
