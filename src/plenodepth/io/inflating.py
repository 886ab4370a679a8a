"""Unpacking what deflate has packed, never more of it than is asked for."""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import Any

LARGEST_PACKING = 1040  # bytes that a packed byte can stand for; the format's limit is 1032
_GZIP = 31  # of zlib's window sizes: a header and a checksum of gzip's
_PIECE = 1 << 16  # bytes to unpack at a time
_MOST_MEMBERS = 1000  # of gzip, one after another; each costs time, however short


def inflater() -> Any:
    """The module zlib, or one that does the same in half the time."""
    try:
        return import_module("isal.isal_zlib")
    except ImportError:  # a machine for which that is not built
        return zlib


def inflated(packed: bytes, size: int) -> bytes:
    """At most `size` bytes of what deflate has packed; a `ValueError` where the stream is damaged."""
    module = inflater()
    try:
        return bytes(module.decompressobj().decompress(packed, size)) if size else b""
    except module.error as error:
        raise ValueError(str(error)) from None


class GzipBytes:
    """The bytes that a gzip file holds, unpacked as far as they are asked for."""

    def __init__(self, packed: bytes) -> None:
        self._packed, self._fed, self._members = packed, 0, 1
        self._stream = zlib.decompressobj(_GZIP)
        self._known = bytearray()

    def upto(self, end: int) -> bytearray:
        """The first `end` bytes, or all where the file has fewer; a `ValueError` where it is damaged or cut."""
        try:
            while len(self._known) < end and self._next(end - len(self._known)):
                pass
        except zlib.error as error:
            raise ValueError(str(error)) from None
        return self._known

    def _next(self, most: int) -> bool:
        """Unpack a piece; whether there may be another."""
        if self._stream.eof:
            self._fed -= len(self._stream.unused_data)
            while self._packed[self._fed : self._fed + 1] == b"\0":  # filling, as gzip allows
                self._fed += 1
            if self._fed == len(self._packed):
                return False
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise ValueError(f"more than {_MOST_MEMBERS} members")
            self._stream = zlib.decompressobj(_GZIP)
        piece = self._stream.unconsumed_tail
        if not piece:
            piece = self._packed[self._fed : self._fed + _PIECE]
            self._fed += len(piece)
        if not piece:
            raise ValueError("the compressed stream ends early")
        self._known += self._stream.decompress(piece, most)
        return True
