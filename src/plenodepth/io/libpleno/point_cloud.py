"""Point clouds in libpleno's archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.libpleno.archive import Archive, check_end, write_archive

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


def is_point_cloud(archive: Archive) -> bool:
    """Whether an archive starts as a cloud's: the sizes n, 1, 3. No other archive does."""
    start = archive.read(0, 3 * _SIZE.itemsize)
    sizes = np.frombuffer(start, _SIZE) if len(start) == 3 * _SIZE.itemsize else np.zeros(3)
    return bool(sizes[1] == 1 and sizes[2] == 3)


def read_point_cloud(path: Path | str) -> PointCloudArchive:
    """Reads a cloud from `.bin` or `.bin.gz`."""
    archive = Archive(path)
    if not is_point_cloud(archive):
        raise InputError("is no archive of a point cloud", file=path, fix="check that the file is of the expected kind")
    points, offset = _vectors(archive, 0, 3, "points")
    pixels, offset = _vectors(archive, offset, 2, "pixels")
    (count,) = _sizes(archive, offset, 1, "colors")
    offset += _SIZE.itemsize
    colors = _reals(archive, offset, 4 * count, "colors").reshape(count, 4)[:, :3]
    check_end(archive, offset + 4 * count * _REAL.itemsize)
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


def _vectors(archive: Archive, offset: int, size: int, field: str) -> tuple[Float64, int]:
    """A list of vectors (n, size) that starts at a byte, and the byte after it."""
    count, one, length = _sizes(archive, offset, 3, field)
    if (one, length) != (1, size):
        message = f"have the size {one} × {length}, not 1 × {size}"
        raise InputError(message, file=archive.path, field=field, fix="check that the file is a point cloud")
    start = offset + 3 * _SIZE.itemsize
    values = _reals(archive, start, count * size, field)
    return values.reshape(count, size), start + count * size * _REAL.itemsize


def _sizes(archive: Archive, offset: int, count: int, field: str) -> list[int]:
    return [int(size) for size in np.frombuffer(_numbers(archive, offset, count, field), _SIZE)]


def _reals(archive: Archive, offset: int, count: int, field: str) -> Float64:
    return np.frombuffer(_numbers(archive, offset, count, field), _REAL).astype(np.float64)


def _numbers(archive: Archive, offset: int, count: int, field: str) -> bytes:
    """`count` numbers of 8 bytes; a file that ends before them is refused."""
    data = archive.read(offset, 8 * count)
    if len(data) < 8 * count:
        message = f"cannot be read: {count} numbers announced, the file has room for {len(data) // 8}"
        fix = "the file is truncated or of another kind: copy it again"
        raise InputError(message, file=archive.path, field=field, fix=fix)
    return data
