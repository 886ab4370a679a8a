"""Files made a little wrong: some bytes of a good one changed, as damage or malice would."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from random import Random

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
NUMBERS = [
    *(
        b"0",
        b"-1",
        b"1",
        b"2",
        b"255",
        b"256",
        b"65535",
        b"65536",
        b"99999",
        b"2147483647",
        b"2147483648",
        b"4294967295",
    ),
    *(
        b"-2147483649",
        b"9223372036854775807",
        b"18446744073709551616",
        b"1e9",
        b"1e308",
        b"1e309",
        b"-1e400",
        b"1e-400",
    ),
    *(
        b"nan",
        b"-inf",
        b"Infinity",
        b"0x7f",
        b"1_000",
        b"0.1.2",
        b"1:59:59",
        b"2001-99-99",
        b"9" * 30,
        b"9" * 400,
        b"9" * 5000,
    ),
]
WORDS = [
    *(
        b"",
        b"null",
        b"~",
        b"true",
        b"yes",
        b"[]",
        b"{}",
        b"[[[[",
        b"]]",
        b"}}",
        b'""',
        b"'",
        b'"',
        b"\\u0000",
        b"\\ud800",
        b"*a",
    ),
    *(
        b"&a ",
        b"!!int ''",
        b"!!binary aaaa",
        b"!!set {a}",
        b"<<: ",
        b"? ",
        b"- ",
        b": ",
        b"---\n",
        b"%YAML 9\n",
        b"|\n",
        b">9\n",
    ),
    *(
        b"<!DOCTYPE a>",
        b"<![CDATA[",
        b"&amp;",
        b"&#0;",
        b"<a>",
        b"</",
        b"../../../etc/passwd",
        b"/dev/zero",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
    ),
    *(
        b"\0",
        b"\r",
        b"\n\n",
        b"\t",
        b"#",
        b",",
        b";",
        b"list",
        b"end_header\n",
        b"element vertex 9\n",
        b"property float x\n",
    ),
]
EDGES = [
    0,
    1,
    2,
    7,
    8,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    2**64 - 1,
]
MOST_REPEATS, LONGEST = 2000, 1 << 17  # bytes of a repeated part


def mutated(data: bytes, rng: Random) -> bytes:
    """The data with one to eight changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5, 8))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _place(data: bytes, rng: Random) -> int:
    """Somewhere, half of the time near the beginning, where headers are."""
    end = len(data) if rng.random() < 0.5 else min(len(data), 200)
    return rng.randrange(end) if end else 0


def _bit(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]


def _byte(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _integer(data: bytes, rng: Random) -> bytes:
    kind = rng.choice(("<H", ">H", "<I", ">I", "<Q", ">Q"))
    size = struct.calcsize(kind)
    at = _place(data, rng)
    at -= at % rng.choice((1, 2, 4))
    return data[:at] + struct.pack(kind, rng.choice(EDGES) % (1 << 8 * size)) + data[at + size :]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: _place(data, rng)]


def _without(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + rng.choice((1, 2, 4, 16, 100, 1000)) :]


def _twice(data: bytes, rng: Random) -> bytes:
    at, size = _place(data, rng), rng.choice((1, 4, 16, 64, 400))
    part = data[at : at + size]
    times = min(rng.choice((1, 2, 10, MOST_REPEATS)), LONGEST // max(1, len(part)))
    return data[:at] + part * times + data[at:]


def _noise(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.randbytes(rng.choice((1, 2, 4, 30))) + data[at:]


def _moved(data: bytes, rng: Random) -> bytes:
    start, end, size = _place(data, rng), _place(data, rng), rng.choice((1, 8, 50))
    return data[:end] + data[start : start + size] + data[end + size :]


def _number(data: bytes, rng: Random) -> bytes:
    found = [match.span() for match in NUMBER.finditer(data[:20_000])]
    if not found:
        return _integer(data, rng)
    start, end = rng.choice(found)
    return data[:start] + rng.choice(NUMBERS) + data[end:]


def _word(data: bytes, rng: Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(WORDS) + data[at + rng.choice((0, 0, 1, 3)) :]


CHANGES = [_bit, _byte, _integer, _cut, _without, _twice, _noise, _moved, _number, _number, _word, _word]


def png_unpacked(data: bytes) -> bytes:
    """A PNG of one IDAT whose pixels are not packed, to be changed and packed by `png_packed`."""
    chunks = list(_chunks(data))
    pixels = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    body = b"".join(_chunk(kind, body) for kind, body in chunks if kind == b"IHDR")
    return data[:8] + body + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def png_packed(data: bytes) -> bytes:
    """A PNG whose pixels are packed and whose chunks have the right checksums, so that what is in them is looked at."""
    chunks = (_chunk(kind, zlib.compress(body, 1) if kind == b"IDAT" else body) for kind, body in _chunks(data))
    return data[:8] + b"".join(chunks)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 8
    while position + 8 <= len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        yield data[position + 4 : position + 8], data[position + 8 : position + 8 + size]
        position += 12 + size


def _chunk(kind: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
