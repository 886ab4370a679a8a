"""The checksums of a Matroska file (.mkv, .webm), which FFmpeg writes into every part and does not look at.

A file is a chain of elements: identifier, size, content. A CRC-32 of what follows is the first thing in an element that
has one. A program that writes none leaves nothing to check but the chain.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from plenodepth.io.image_formats.files import part

HEADER, SEGMENT, CHECKSUM, VOID = 0x1A45DFA3, 0x18538067, 0xBF, 0xEC
SEEK_HEAD, INFO, TRACKS, CLUSTER, CUES = 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1F43B675, 0x1C53BB6B
ATTACHMENTS, CHAPTERS, TAGS = 0x1941A469, 0x1043A770, 0x1254C367
OF_A_SEGMENT = {SEEK_HEAD, INFO, TRACKS, CLUSTER, CUES, ATTACHMENTS, CHAPTERS, TAGS, CHECKSUM, VOID}
LONGEST_START = 12  # bytes: of an identifier and a size
CHECKSUM_BYTES = 6  # with identifier and size
AT_ONCE = 1 << 20  # bytes


class _Element(NamedTuple):
    identifier: int
    start: int  # byte of the file where its content begins
    size: int | None  # bytes of the content; None: not known, as of a recording that was never finished


@dataclass
class Checksums:
    """Looks at the parts of a file of `length` bytes, in their order, each once.

    >>> checks = Checksums(file, 50_000)
    >>> checks.damage_before(20_000)  # up to that byte
    ''
    """

    file: BinaryIO
    length: int
    checked: int = field(default=0, init=False)  # bytes
    _words: Iterator[tuple[int, str]] = field(init=False)

    def __post_init__(self) -> None:
        self._words = _words_about(self.file, self.length)

    def damage_before(self, place: int) -> str:
        """What is wrong with the file up to the end of the part that holds a byte; empty if nothing is.

        The file stands where it stood.
        """
        stood = self.file.tell()
        try:
            while self.checked <= place:
                self.checked, wrong = next(self._words, (self.length + 1, ""))
                if wrong:
                    return wrong
        finally:
            self.file.seek(stood)
        return ""


def is_matroska(file: BinaryIO) -> bool:
    """Whether a file begins like one; it stands at its beginning after."""
    start = part(file, 0, 4)
    file.seek(0)
    return int.from_bytes(start, "big") == HEADER


def _words_about(file: BinaryIO, length: int) -> Iterator[tuple[int, str]]:
    """Where each part ends, and what is wrong with it, up to the first part that cannot be followed."""
    header = _element(file, 0)
    if header is None or header.size is None:
        return
    segment = _element(file, header.start + header.size)
    if segment is None or segment.identifier != SEGMENT:
        return
    end = length if segment.size is None else segment.start + segment.size
    if end > length:
        yield segment.start, f"ends {end - length} bytes too early"
        return
    place, checksums = segment.start, False
    while place < end:
        one = _element(file, place)
        if one is None or one.identifier not in OF_A_SEGMENT:
            if checksums:  # whoever writes these writes the rest as it should be, too
                yield end, f"has a part at byte {place} that is none"
            return
        if one.size is None:
            return
        place = one.start + one.size
        if place > end:
            yield end, f"has a part at byte {one.start} that ends {place - end} bytes too late"
            return
        agrees = _agrees(file, one)
        checksums = checksums or agrees is not None
        yield place, "" if agrees is not False else f"has a part at byte {one.start} with a wrong checksum"
    if checksums and end < length:
        yield length, f"has {length - end} bytes too many"


def _element(file: BinaryIO, place: int) -> _Element | None:
    """The element that begins at a byte; None if there is none."""
    data = part(file, place, LONGEST_START)
    first = _width(data[:1], 4)
    second = _width(data[first : first + 1], 8)
    if not first or not second or len(data) < first + second:
        return None
    bits = 7 * second
    size = int.from_bytes(data[first : first + second], "big") & ((1 << bits) - 1)
    unknown = size == (1 << bits) - 1
    return _Element(int.from_bytes(data[:first], "big"), place + first + second, None if unknown else size)


def _width(start: bytes, largest: int) -> int:
    """The bytes of a number of variable width, by its first; 0: it is no such number."""
    width = 9 - start[0].bit_length() if start else 0
    return width if width <= largest else 0


def _agrees(file: BinaryIO, element: _Element) -> bool | None:
    """Whether the checksum of an element of known size is right; None if it has none."""
    if element.size is None or element.size < CHECKSUM_BYTES or element.identifier in (CHECKSUM, VOID):
        return None
    start = part(file, element.start, CHECKSUM_BYTES)
    if start[:2] != bytes([CHECKSUM, 0x84]):
        return None
    left, total = element.size - CHECKSUM_BYTES, 0
    while left and (data := file.read(min(left, AT_ONCE))):
        total, left = zlib.crc32(data, total), left - len(data)
    return not left and total == int.from_bytes(start[2:], "little")
