"""The grid of a TSPC camera: `TSPCCalibData` XML with the centres of its four corner micro-images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plenodepth.errors import InputError
from plenodepth.io.xml_nodes import FloatArray, read_xml

TSPC_ROOT = "TSPCCalibData"
_CORNERS = ("ltop", "rtop", "lbot", "rbot")


@dataclass(frozen=True, eq=False)
class TspcGrid:
    """The grid as the file gives it. It does not hold the size of the image."""

    diameter: float  # [px], nominal, of a micro-image
    rotation: float  # [rad], of the lens rows; pi/2: they run vertically
    corners: FloatArray  # (4, 2) [px], centres of the left top, right top, left bottom and right bottom micro-image


def read_tspc_grid(path: Path | str) -> TspcGrid:
    """Reads the grid file of a TSPC camera."""
    node = read_xml(path)
    if node.element.tag != TSPC_ROOT:
        raise InputError(
            f"its root element is <{node.element.tag}>, not <{TSPC_ROOT}>", file=path, fix="give a TSPC grid file"
        )
    centers = node.child("centers")
    return TspcGrid(
        diameter=node.positive("diameter", "pix"),
        rotation=node.number("rotation", "rad"),
        corners=np.array([centers.point(name) for name in _CORNERS]),
    )
