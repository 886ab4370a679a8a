"""OpenEXR files for tests, packed byte by byte as the format's description says."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np

NONE, RLE, ZIPS, ZIP = range(4)
LINES = {NONE: 1, RLE: 1, ZIPS: 1, ZIP: 16}


def exr_bytes(channels: dict[str, np.ndarray], packing: int = ZIP, first_row: int = 0) -> bytes:
    """A file of one part in scan lines; channels (h, w) of float32 or float16."""
    height, width = next(iter(channels.values())).shape
    names = sorted(channels)
    kinds = {name: 2 if channels[name].dtype == np.float32 else 1 for name in names}
    listed = b"".join(name.encode() + b"\0" + struct.pack("<iIii", kinds[name], 0, 1, 1) for name in names) + b"\0"
    window = struct.pack("<4i", 0, first_row, width - 1, first_row + height - 1)
    header = b"\x76\x2f\x31\x01" + struct.pack("<I", 2)
    for name, kind, value in (
        ("channels", "chlist", listed),
        ("compression", "compression", bytes([packing])),
        ("dataWindow", "box2i", window),
    ):
        header += name.encode() + b"\0" + kind.encode() + b"\0" + struct.pack("<I", len(value)) + value
    header += b"\0"
    blocks = []
    for row in range(0, height, LINES[packing]):
        rows = range(row, min(row + LINES[packing], height))
        raw = b"".join(channels[name][line].tobytes() for line in rows for name in names)
        packed = pack(raw, packing)
        blocks.append(struct.pack("<iI", first_row + row, len(packed)) + packed)
    start = len(header) + 8 * len(blocks)
    offsets = [start]
    for block in blocks:
        offsets.append(offsets[-1] + len(block))
    return header + struct.pack(f"<{len(blocks)}Q", *offsets[:-1]) + b"".join(blocks)


def pack(raw: bytes, packing: int) -> bytes:
    if packing == NONE:
        return raw
    apart = raw[0::2] + raw[1::2]
    steps = bytes([apart[0]]) + bytes((b - a + 128) % 256 for a, b in pairwise(apart))
    packed = zlib.compress(steps) if packing in (ZIPS, ZIP) else runs(steps)
    return packed if len(packed) < len(raw) else raw


def runs(data: bytes) -> bytes:
    """Run lengths: count − 1 ≥ 0 and a byte to repeat, or −count and bytes as they are."""
    packed, place = b"", 0
    while place < len(data):
        same = place
        while same < len(data) and data[same] == data[place] and same - place < 128:
            same += 1
        if same - place >= 3:
            packed += bytes([same - place - 1, data[place]])
            place = same
        else:
            part = data[place : place + 2]
            packed += bytes([256 - len(part)]) + part
            place += len(part)
    return packed
