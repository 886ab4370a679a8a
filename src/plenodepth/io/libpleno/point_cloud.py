"""Point clouds in libpleno's archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.archive import check_end, read_archive, write_archive

Float64 = npt.NDArray[np.float64]

_SIZE = np.dtype("<u8")
_REAL = np.dtype("<f8")
_OPAQUE = 255.0
NO_PIXEL = -1.0  # how the file says "unknown"; here it is NaN


@dataclass(frozen=True, eq=False)
class PointCloudArchive:
    """n points in the camera frame, mm."""

    points: Float64  # (n, 3)
    pixels: Float64  # (n, 2): u, v of the raw image, pixel centres at integers; NaN where unknown
    colors: npt.NDArray[np.uint8]  # (n, 3); (0, 3) for a cloud without colours


def is_point_cloud(data: bytes) -> bool:
    """Whether the bytes of an archive start as a cloud's: the sizes n, 1, 3. No other archive does."""
    sizes = np.frombuffer(data, _SIZE, 3) if len(data) >= 3 * _SIZE.itemsize else np.zeros(3)
    return bool(sizes[1] == 1 and sizes[2] == 3)


def read_point_cloud(path: Path | str) -> PointCloudArchive:
    """Reads a cloud from `.bin` or `.bin.gz`."""
    data = read_archive(path)
    if not is_point_cloud(data):
        raise InputError("is no archive of a point cloud", file=path, fix="check that the file is of the expected kind")
    points, offset = _vectors(data, 0, 3, "points", path)
    pixels, offset = _vectors(data, offset, 2, "pixels", path)
    (count,) = _sizes(data, offset, 1, "colors", path)
    offset += _SIZE.itemsize
    colors = _reals(data, offset, 4 * count, "colors", path).reshape(count, 4)[:, :3]
    check_end(data, offset + 4 * count * _REAL.itemsize, file=path)
    for name, part in (("pixels", pixels), ("colors", colors)):
        if len(part) not in (0, len(points)):
            raise InputError(f"{len(part)} of them for {len(points)} points", file=path, field=name)
    if not np.isfinite(points).all():
        raise InputError("holds a coordinate that is not finite", file=path, field="points", fix="repair the file")
    if not ((colors >= 0) & (colors <= _OPAQUE)).all():
        raise InputError("holds a number outside 0 … 255", file=path, field="colors", fix="repair the file")
    known = pixels if len(pixels) else np.full((len(points), 2), NO_PIXEL)
    # The file has pixel centres at halves.
    places = np.where(known == NO_PIXEL, np.nan, known - 0.5)
    return PointCloudArchive(points.copy(), places, np.rint(colors).astype(np.uint8))


def write_point_cloud(cloud: PointCloudArchive, path: Path | str) -> None:
    """Writes a cloud to `.bin` or `.bin.gz`."""
    pixels = np.where(np.isnan(cloud.pixels), NO_PIXEL, cloud.pixels + 0.5)
    colors = np.column_stack([cloud.colors, np.full(len(cloud.colors), _OPAQUE)])
    parts = [
        np.array([len(cloud.points), 1, 3], _SIZE).tobytes(),
        np.asarray(cloud.points, _REAL).tobytes(),
        np.array([len(pixels), 1, 2], _SIZE).tobytes(),
        np.asarray(pixels, _REAL).tobytes(),
        np.array([len(colors)], _SIZE).tobytes(),
        np.asarray(colors, _REAL).tobytes(),
    ]
    write_archive(b"".join(parts), path)


def _vectors(data: bytes, offset: int, size: int, field: str, path: Path | str) -> tuple[Float64, int]:
    """A list of vectors (n, size) that starts at a byte, and the byte after it."""
    count, one, length = _sizes(data, offset, 3, field, path)
    if (one, length) != (1, size):
        message = f"have the size {one} × {length}, not 1 × {size}"
        raise InputError(message, file=path, field=field, fix="check that the file is a point cloud")
    start = offset + 3 * _SIZE.itemsize
    values = _reals(data, start, count * size, field, path)
    return values.reshape(count, size), start + count * size * _REAL.itemsize


def _sizes(data: bytes, offset: int, count: int, field: str, path: Path | str) -> list[int]:
    _require_room(data, offset, count, field, path)
    return [int(size) for size in np.frombuffer(data, _SIZE, count, offset)]


def _reals(data: bytes, offset: int, count: int, field: str, path: Path | str) -> Float64:
    _require_room(data, offset, count, field, path)
    return np.frombuffer(data, _REAL, count, offset).astype(np.float64)


def _require_room(data: bytes, offset: int, count: int, field: str, path: Path | str) -> None:
    """Refuse a file that ends before `count` numbers of 8 bytes."""
    if offset + 8 * count > len(data):
        message = f"cannot be read: {count} numbers announced, the file has room for {max(0, len(data) - offset) // 8}"
        raise InputError(message, file=path, field=field, fix="the file is truncated or of another kind: copy it again")
