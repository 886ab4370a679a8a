"""The numbers a user asks of a camera first: where it sees sharply, how far, and how precisely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plenodepth.camera.blur import blur_line
from plenodepth.camera.depth import (
    VIRTUAL_RANGE,
    depth_of_field,
    depth_precision,
    depth_resolution,
    focus_planes,
    infinity_virtual_depth,
    usable_depth_range,
    usable_virtual_range,
    virtual_from_metric,
)
from plenodepth.camera.micro_lenses import configuration, lens_distances, pitch_ratio
from plenodepth.camera.model import Array, GridCamera, PlenopticCamera

BLUR_LIMIT = 0.5  # px of radius: a disc one pixel wide
DISPARITY_PRECISION = 0.1  # px
FARTHEST_SHOWN = 100  # focal lengths; a range to infinity is shown up to here,
LEAST_SPAN = 2  # or up to this many times its near end, if that is farther


@dataclass(frozen=True, eq=False)
class DepthTable:
    """What the camera does at some distances, (n,) each."""

    depth: Array  # mm
    virtual_depth: Array
    resolution: Array  # dz/dv, mm
    precision: Array  # expected standard deviation of z, mm
    blur: Array  # (n, I) signed blur radius per lens type, px; (n, 0) for pinholes


@dataclass(frozen=True, eq=False)
class CameraSummary:
    """Quantities derived from a camera's parameters; depths in mm, per lens type where there is a list."""

    camera: PlenopticCamera
    virtual_range: tuple[float, float]
    depth_range: tuple[float, float]
    focus_planes: Array  # (I,)
    depth_of_field: tuple[Array, Array]  # near, far, (I,) each
    blur_limit: float
    disparity_precision: float
    table: DepthTable

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON; an infinite depth is None."""
        camera, lattice = self.camera, self.camera.micro_images.lattice
        center = lens_distances(camera)
        corner = lens_distances(camera, lattice.columns - 1, lattice.rows - 1)
        return {
            "configuration": str(configuration(camera)),
            "lens_types": camera.type_count,
            "distances": {
                "array_center": {"D": float(center.to_main_lens), "d": float(center.to_sensor)},
                "corner_lens": {"D": float(corner.to_main_lens), "d": float(corner.to_sensor)},
            },
            "pitch_ratio": float(pitch_ratio(camera)),
            "principal_point": camera.sensor.principal_point.tolist(),
            "aperture_diameter": camera.main_lens.aperture_diameter,
            "lens_diameter": camera.micro_lenses.lens_diameter,
            "virtual_depth_of_infinity": float(infinity_virtual_depth(camera)),
            "virtual_depth_range": list(self.virtual_range),
            "depth_range": _finite(self.depth_range),
            "focus_planes": _finite(self.focus_planes),
            "blur_limit": self.blur_limit,
            "depth_of_field": [_finite(pair) for pair in zip(*self.depth_of_field, strict=True)],
            "disparity_precision": self.disparity_precision,
            "table": [
                {"depth": z, "virtual_depth": v, "resolution": slope, "precision": sigma, "blur": blur}
                for z, v, slope, sigma, blur in zip(
                    self.table.depth.tolist(),
                    self.table.virtual_depth.tolist(),
                    self.table.resolution.tolist(),
                    self.table.precision.tolist(),
                    self.table.blur.tolist(),
                    strict=True,
                )
            ],
        }


def _finite(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def depth_table(depths: Array, camera: PlenopticCamera, disparity_precision: float = DISPARITY_PRECISION) -> DepthTable:
    """The table of a camera at `depths` (n,) mm."""
    v = virtual_from_metric(depths, camera)
    types = np.arange(camera.type_count)
    blur = blur_line(camera).radius(v[:, None], types) if camera.type_count else np.zeros((len(v), 0))
    return DepthTable(
        depths, v, depth_resolution(v, camera), depth_precision(depths, camera, disparity_precision), blur
    )


def shown_depths(camera: PlenopticCamera, count: int, virtual_range: tuple[float, float] = VIRTUAL_RANGE) -> Array:
    """`count` depths over the usable range, evenly spaced in 1/z as virtual depth nearly is."""
    near, far = usable_depth_range(camera, virtual_range)
    farthest = min(float(far), max(FARTHEST_SHOWN * camera.main_lens.focal_length, LEAST_SPAN * float(near)))
    return np.asarray(1 / np.linspace(1 / near, 1 / farthest, count))


def summarise(
    camera: PlenopticCamera,
    *,
    virtual_range: tuple[float, float] = VIRTUAL_RANGE,
    blur_limit: float = BLUR_LIMIT,
    disparity_precision: float = DISPARITY_PRECISION,
    rows: int = 12,
) -> CameraSummary:
    """Derive a camera's summary; a virtual range with no real object in it is an error."""
    depth_range = usable_depth_range(camera, virtual_range)
    empty = np.zeros(0)
    field = depth_of_field(camera, blur_limit) if camera.type_count else (empty, empty)
    return CameraSummary(
        camera,
        usable_virtual_range(camera, virtual_range),
        (float(depth_range.near), float(depth_range.far)),
        focus_planes(camera) if camera.type_count else empty,
        (field[0], field[1]),
        blur_limit,
        disparity_precision,
        depth_table(shown_depths(camera, rows, virtual_range), camera, disparity_precision),
    )


def summarise_grid(camera: GridCamera) -> dict[str, Any]:
    """What is known of a camera without optics, as plain numbers and lists."""
    return {
        "configuration": None if camera.configuration is None else str(camera.configuration),
        "lens_types": camera.micro_images.type_count,
        "virtual_depth_ranges": camera.virtual_depth_ranges.tolist(),
    }
