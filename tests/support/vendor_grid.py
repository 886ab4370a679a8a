"""A vendor's grid file: hexagonal lattices at any rotation, with one or three lens types."""

from __future__ import annotations

import numpy as np

TYPES = ((0, 0), (1, 0), (-1, 0))  # steps along the base vectors from the grid's origin to lenses of types 0, 1, 2


def grid_xml(
    *,
    rotation: float = np.pi / 2,
    diameter: float = 23.2,
    offset: tuple[float, float] = (13.0, -20.5),
    types: tuple[tuple[int, int], ...] = TYPES,
    base_angle: float = np.pi / 3,
) -> str:
    """``base_angle`` is the angle from the first base vector, which runs along the lens rows, to the second one."""
    base = np.array([[np.cos(a), np.sin(a)] for a in (rotation, rotation + base_angle)])
    lens_types = "".join(
        f'<lens_type id="{index}">{_point("offset", *(steps @ base), "lens")}'
        f"<depth_range><min>{1 + index}</min><max>{3 + index}</max></depth_range></lens_type>"
        for index, steps in enumerate(np.array(types, dtype=float))
    )
    return (
        f'<RayCalibData version="1.0">{_point("offset", *offset, "pix")}<diameter>{diameter!r}</diameter>'
        f"<rotation>{rotation!r}</rotation><lens_border>1</lens_border><tcp>2.2</tcp>"
        f"{_point('lens_base_x', *base[0], 'lens')}{_point('lens_base_y', *base[1], 'lens')}"
        f"{_point('sub_grid_base', 3.0, 3**0.5, 'lens')}<distortion><function>constant</function></distortion>"
        f"{lens_types}</RayCalibData>"
    )


def _point(name: str, x: float, y: float, units: str) -> str:
    return f'<{name} units="{units}"><x>{float(x)!r}</x><y>{float(y)!r}</y></{name}>'
