"""The binary archive of libpleno files: `.bin`, or `.bin.gz` for the gzip of it.

Little endian, without header or names. A list of structures is a uint64 count followed by the packed elements.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.budget import require_memory
from plenodepth.io.inflating import LARGEST_PACKING, GzipBytes
from plenodepth.io.reading import read_bytes

Table = npt.NDArray[np.void]

_COUNT_SIZE = 8
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_COUNTED = 1 << 16  # of the bytes that follow the last list


def is_archive(path: Path | str) -> bool:
    """Whether the name ends as that of an archive."""
    return Path(path).name.lower().endswith((".bin", ".bin.gz"))


class Archive:
    """The bytes of an archive. Of a compressed one only those that are asked for are unpacked."""

    def __init__(self, path: Path | str) -> None:
        _check_name(path)
        self.path = path
        self._data = read_bytes(path)
        self._unpacked = GzipBytes(self._data) if _is_compressed(path) else None
        if self._unpacked is not None and not self._data.startswith(_GZIP_MAGIC):
            raise InputError("is not compressed with gzip", file=path, fix="name an uncompressed archive .bin")

    @property
    def has_gzip_inside(self) -> bool:
        """Whether the name does not say that the file is compressed."""
        return self._unpacked is None and self._data.startswith(_GZIP_MAGIC)

    def read(self, start: int, size: int) -> bytes:
        """`size` bytes from `start` on; fewer where the archive ends."""
        if self._unpacked is None:
            return self._data[start : start + size]
        end = min(start + size, LARGEST_PACKING * len(self._data))
        require_memory(end, self.path, stored=len(self._data))
        try:
            return bytes(memoryview(self._unpacked.upto(end))[start : start + size])
        except ValueError as error:
            raise InputError(f"is damaged or truncated: {error}", file=self.path, fix="copy the file again") from None


def write_archive(data: bytes, path: Path | str) -> None:
    """Writes the archive, compressed if the name ends with `.gz`; the same data gives the same file."""
    _check_name(path)
    if _is_compressed(path):
        data = gzip.compress(data, compresslevel=6, mtime=0)  # no time stamp in the file
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def take_list(archive: Archive, offset: int, dtype: np.dtype[np.void], *, field: str) -> tuple[Table, int]:
    """The list of structures that starts at byte `offset`, as (n,) of `dtype`, and the offset after it."""
    start = offset + _COUNT_SIZE
    stored = archive.read(offset, _COUNT_SIZE)
    if len(stored) < _COUNT_SIZE:
        raise _truncated(archive.path, field, "the file ends before their count")
    count = int.from_bytes(stored, "little")
    data = archive.read(start, count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        fit = len(data) // dtype.itemsize
        hint = "; the file is compressed, its name should end with .bin.gz" if archive.has_gzip_inside else ""
        raise _truncated(archive.path, field, f"{count} announced, the file has room for {fit}{hint}")
    return np.frombuffer(data, dtype, count).copy(), start + len(data)


def put_list(table: Table) -> bytes:
    """A list of structures (n,) as the archive stores it."""
    return len(table).to_bytes(_COUNT_SIZE, "little") + table.tobytes()


def check_end(archive: Archive, offset: int) -> None:
    """Raises `InputError` unless the archive ends at byte `offset`, and as its checksum says."""
    rest = len(archive.read(offset, _MOST_COUNTED))
    if rest:
        many = f"{rest} bytes" if rest < _MOST_COUNTED else f"{rest} bytes or more"
        raise InputError(f"has {many} too many", file=archive.path, fix="check that the file is of the expected kind")


def _truncated(file: Path | str, field: str, why: str) -> InputError:
    fix = "the file is truncated or of another kind: copy it again"
    return InputError(f"cannot be read: {why}", file=file, field=field, fix=fix)


def _is_compressed(path: Path | str) -> bool:
    return Path(path).name.lower().endswith(".gz")


def _check_name(path: Path | str) -> None:
    if not is_archive(path):
        raise InputError("is not the name of an archive", file=path, fix="use the suffix .bin or .bin.gz")
