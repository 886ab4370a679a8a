"""Point clouds as files: PLY, LAS or LAZ, and E57."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.io import atomic_path, write_ply
from plenodepth.metric.cloud import PointCloud

MM_PER_METRE = 1000.0
FINEST_LAS_STEP = 1e-3  # mm
LARGEST_LAS_COUNT = 2**30


def write_cloud(cloud: PointCloud, path: Path | str) -> None:
    """Write .ply, .laz, .las or .e57 by the suffix.

    PLY and LAS/LAZ: mm, with `confidence` and `sigma` (mm) beside each point. E57: metres, as that standard demands,
    with the confidence as `intensity` and without sigma, for which it has no field.
    """
    match Path(path).suffix.lower():
        case ".ply":
            write_ply(cloud.points, path, colors=cloud.colors, confidence=cloud.confidence, sigma=cloud.sigma)
        case ".las" | ".laz":
            _write_las(cloud, path)
        case ".e57":
            _write_e57(cloud, path)
        case suffix:
            raise InputError(f"has the suffix '{suffix}'", file=path, fix="use .ply, .laz, .las or .e57")


def _write_las(cloud: PointCloud, path: Path | str) -> None:
    laspy = _extra_package("laspy", path)
    header = laspy.LasHeader(version="1.4", point_format=6 if cloud.colors is None else 7)
    header.add_extra_dims(
        [
            laspy.ExtraBytesParams("confidence", np.float32, "in [0, 1]"),
            laspy.ExtraBytesParams("sigma", np.float32, "of z, mm"),
        ]
    )
    lowest, span = np.zeros(3), 0.0
    if len(cloud):
        lowest = np.floor(cloud.points.min(axis=0))
        span = float((cloud.points - lowest).max())
    # Coordinates are whole numbers of steps: a micrometre, coarser (by powers of ten) where they would not fit.
    steps = np.ceil(np.log10(max(span / FINEST_LAS_STEP / LARGEST_LAS_COUNT, 1.0)))
    header.offsets, header.scales = lowest, np.full(3, FINEST_LAS_STEP * 10.0**steps)
    las = laspy.LasData(header)
    las.x, las.y, las.z = cloud.points.T
    las.confidence, las.sigma = cloud.confidence, cloud.sigma
    if cloud.colors is not None:
        las.red, las.green, las.blue = cloud.colors.T.astype(np.uint16) * 257  # 16 bits in this format
    with atomic_path(path) as temporary:
        las.write(str(temporary))


def _write_e57(cloud: PointCloud, path: Path | str) -> None:
    pye57 = _extra_package("pye57", path)
    if not len(cloud):
        raise InputError("has no points, which E57 cannot hold", file=path, field="points", fix="write a PLY")
    columns: dict[str, NDArray[Any]] = {
        f"cartesian{axis}": np.ascontiguousarray(values)
        for axis, values in zip("XYZ", cloud.points.T / MM_PER_METRE, strict=True)
    }
    columns["intensity"] = np.ascontiguousarray(cloud.confidence)
    if cloud.colors is not None:
        for name, values in zip(("Red", "Green", "Blue"), cloud.colors.T, strict=True):
            columns[f"color{name}"] = np.ascontiguousarray(values)
    with atomic_path(path) as temporary:
        file = pye57.E57(str(temporary), mode="w")
        try:
            file.write_scan_raw(columns, name="plenodepth")
        finally:
            file.close()


def _extra_package(name: str, path: Path | str) -> Any:
    """A package of the extra `clouds`, loaded only when such a file is written."""
    try:
        return import_module(name)
    except ImportError:
        message = f"{Path(path).suffix} files need the package {name}"
        raise InputError(message, file=path, fix='pip install "plenodepth[clouds]", or write a .ply') from None
