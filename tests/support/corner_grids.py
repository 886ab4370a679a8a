"""Grid files with the centres of four corner micro-images, and TLCT's calibrations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plenodepth.geometry import Arrangement, Lattice, PlanarPose

PLACES = ("LeftTop", "RightTop", "LeftBottom", "RightBottom")


def corners_of(
    arrangement: Arrangement, columns: int, rows: int, pitch: Sequence[float], angle: float = 0.0
) -> np.ndarray:
    """Centres (4, 2) of the corners of a lattice whose first micro-image lies at (40, 38), the top ones first."""
    lattice = Lattice(arrangement, columns, rows, np.array(pitch))
    node = lattice.node([0, columns - 1, 0, columns - 1], [0, 0, rows - 1, rows - 1])
    return PlanarPose(angle, np.array([40.0, 38.0]))(node - node[0])


def tspc_xml(corners: np.ndarray, *, diameter: float = 30.0, rotation: float = np.pi / 2) -> str:
    centers = "".join(
        f"<{name}><x>{float(x)!r}</x><y>{float(y)!r}</y></{name}>"
        for name, (x, y) in zip(("ltop", "rtop", "lbot", "rbot"), corners, strict=True)
    )
    return (
        f'<TSPCCalibData><diameter unit="pix">{diameter!r}</diameter><rotation unit="rad">{rotation!r}</rotation>'
        f"<centers>{centers}</centers></TSPCCalibData>"
    )


def tlct_text(
    *,
    corners: np.ndarray | None = None,
    offset: tuple[float, float] = (13.0, -20.5),
    size: tuple[int, int] = (640, 480),
    diameter: float = 23.2,
    direction: int = 1,
    kepler: int | None = 1,
    near: int | None = 0,
) -> str:
    values: dict[str, float | None] = {
        "IsKepler": kepler,
        "LensletWidth": size[0],
        "LensletHeight": size[1],
        "MIDiameter": diameter,
        "MLADirection": direction,
        "NearFocalLenType": near,
    }
    if corners is None:
        values |= {"CentralMIOffsetX": offset[0], "CentralMIOffsetY": offset[1]}
    else:
        for place, (x, y) in zip(PLACES, corners.tolist(), strict=True):
            values |= {f"{place}MICenterX": x, f"{place}MICenterY": y}
    return "".join(f"{key} : {value}\n" for key, value in values.items() if value is not None)
