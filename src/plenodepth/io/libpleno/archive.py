"""The binary archive of libpleno files: `.bin`, or `.bin.gz` for the gzip of it.

Little endian, without header or names. A list of structures is a uint64 count followed by the packed elements.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.reading import read_bytes

Table = npt.NDArray[np.void]

_COUNT_SIZE = 8
_GZIP_MAGIC = b"\x1f\x8b"


def is_archive(path: Path | str) -> bool:
    """Whether the name ends as that of an archive."""
    return Path(path).name.lower().endswith((".bin", ".bin.gz"))


def read_archive(path: Path | str) -> bytes:
    """The bytes of the archive, decompressed."""
    _check_name(path)
    data = read_bytes(path)
    if not _is_compressed(path):
        return data
    if not data.startswith(_GZIP_MAGIC):
        raise InputError("is not compressed with gzip", file=path, fix="name an uncompressed archive .bin")
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"is damaged or truncated: {error}", file=path, fix="copy the file again") from None


def write_archive(data: bytes, path: Path | str) -> None:
    """Writes the archive, compressed if the name ends with `.gz`; the same data gives the same file."""
    _check_name(path)
    if _is_compressed(path):
        data = gzip.compress(data, compresslevel=6, mtime=0)  # no time stamp in the file
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def take_list(data: bytes, offset: int, dtype: np.dtype[np.void], *, file: Path | str, field: str) -> tuple[Table, int]:
    """The list of structures that starts at byte `offset` of `data`, as (n,) of `dtype`, and the offset after it."""
    start = offset + _COUNT_SIZE
    if start > len(data):
        raise _truncated(file, field, "the file ends before their count")
    count = int.from_bytes(data[offset:start], "little")
    end = start + count * dtype.itemsize
    if end > len(data):
        fit = (len(data) - start) // dtype.itemsize
        hint = "; the file is compressed, its name should end with .bin.gz" if data.startswith(_GZIP_MAGIC) else ""
        raise _truncated(file, field, f"{count} announced, the file has room for {fit}{hint}")
    return np.frombuffer(data, dtype, count, start).copy(), end


def put_list(table: Table) -> bytes:
    """A list of structures (n,) as the archive stores it."""
    return len(table).to_bytes(_COUNT_SIZE, "little") + table.tobytes()


def check_end(data: bytes, offset: int, *, file: Path | str) -> None:
    """Raises `InputError` unless `offset` is the end of `data`."""
    if offset != len(data):
        raise InputError(
            f"has {len(data) - offset} bytes too many", file=file, fix="check that the file is of the expected kind"
        )


def _truncated(file: Path | str, field: str, why: str) -> InputError:
    fix = "the file is truncated or of another kind: copy it again"
    return InputError(f"cannot be read: {why}", file=file, field=field, fix=fix)


def _is_compressed(path: Path | str) -> bool:
    return Path(path).name.lower().endswith(".gz")


def _check_name(path: Path | str) -> None:
    if not is_archive(path):
        raise InputError("is not the name of an archive", file=path, fix="use the suffix .bin or .bin.gz")
