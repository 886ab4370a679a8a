"""PNG files of all filters, as any program may write them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from plenodepth.errors import InputError
from plenodepth.io import read_image

RNG = np.random.default_rng(7)
NONE, SUB, UP, AVERAGE, PAETH = range(5)
Pixels = NDArray[np.uint8] | NDArray[np.uint16]


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def paeth(left: int, above: int, corner: int) -> int:
    """The predictor as the specification of PNG has it."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def filtered(image: Pixels, kinds: list[int]) -> bytes:
    """The rows of an image with the filter of each, in the words of the specification."""
    height, size = len(image), image.dtype.itemsize
    step = size * (1 if image.ndim == 2 else image.shape[2])
    rows = image.astype(image.dtype.newbyteorder(">")).reshape(height, -1).view(np.uint8).astype(int)
    out = bytearray()
    for y, kind in enumerate(kinds):
        out.append(kind)
        for x, value in enumerate(rows[y]):
            left = rows[y, x - step] if x >= step else 0
            above = rows[y - 1, x] if y else 0
            corner = rows[y - 1, x - step] if y and x >= step else 0
            out.append((value - (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind]) % 256)
    return bytes(out)


def png_bytes(
    image: NDArray[np.uint8] | NDArray[np.uint16], kinds: list[int], *, cut: int = 0, more: bytes = b""
) -> bytes:
    """A PNG with the filter `kinds` of its rows, in several IDAT chunks; `cut` bytes of its rows are left out."""
    color_type, bits = (0 if image.ndim == 2 else 2), 8 * image.dtype.itemsize
    rows = filtered(image, kinds) + more
    packed = zlib.compress(rows[: len(rows) - cut])
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], bits, color_type, 0, 0, 0)
    body = b"".join(chunk(b"IDAT", packed[start : start + 100]) for start in range(0, len(packed), 100))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", [NONE, SUB, UP, AVERAGE, PAETH, "mixed"])
@pytest.mark.parametrize("shape", [(11, 13), (11, 13, 3), (6, 1, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_every_filter_is_undone(
    tmp_path: Path, kind: int | str, shape: tuple[int, ...], dtype: type[np.uint8] | type[np.uint16]
) -> None:
    image = RNG.integers(0, np.iinfo(dtype).max, shape, endpoint=True, dtype=dtype)
    kinds = [y % 5 if kind == "mixed" else int(kind) for y in range(shape[0])]
    path = tmp_path / "image.png"
    path.write_bytes(png_bytes(image, kinds))
    read = read_image(path)
    assert read.dtype == dtype
    np.testing.assert_array_equal(read, image)


@pytest.mark.parametrize("mode", ["P", "1", "LA", "RGBA"])
def test_kinds_that_raw_images_do_not_have_are_what_opencv_decodes(tmp_path: Path, mode: str) -> None:
    image = Image.fromarray(RNG.integers(0, 255, (9, 10, 3), dtype=np.uint8)).convert(mode)
    image.save(tmp_path / "image.png")
    expected = cv2.imread(str(tmp_path / "image.png"), cv2.IMREAD_UNCHANGED)
    assert expected is not None
    read = read_image(tmp_path / "image.png")
    if mode == "LA":  # OpenCV makes it colour
        expected = expected[..., 0]
    elif expected.ndim == 3:
        expected = expected[..., 2::-1]
    np.testing.assert_array_equal(read, expected)


GRAY = RNG.integers(0, 255, (40, 30), dtype=np.uint8)


@pytest.mark.parametrize("cut", [1, 31, 40 * 31])
def test_rows_that_are_missing_are_said(tmp_path: Path, cut: int) -> None:
    (tmp_path / "image.png").write_bytes(png_bytes(GRAY, [SUB] * 40, cut=cut))
    with pytest.raises(InputError, match=r"image\.png: ends before its last pixel"):
        read_image(tmp_path / "image.png")


def test_bytes_after_the_last_row_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(png_bytes(GRAY, [UP] * 40, more=bytes(10_000_000)))
    np.testing.assert_array_equal(read_image(tmp_path / "image.png"), GRAY)


def test_a_wrong_checksum_of_the_pixels_is_damage(tmp_path: Path) -> None:
    packed = bytearray(zlib.compress(filtered(GRAY, [NONE] * 40)))
    packed[-1] ^= 1
    header = struct.pack(">IIBBBBB", 30, 40, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", bytes(packed)) + chunk(b"IEND", b"")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
    with pytest.raises(InputError, match=r"image\.png: has a damaged chunk b'IDAT'"):
        read_image(tmp_path / "image.png")


def test_an_unknown_filter_is_damage(tmp_path: Path) -> None:
    rows = bytearray(filtered(GRAY, [NONE] * 40))
    rows[31] = 5
    header = struct.pack(">IIBBBBB", 30, 40, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b"")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + parts)
    with pytest.raises(InputError, match=r"image\.png: has a damaged chunk b'IDAT'"):
        read_image(tmp_path / "image.png")


def test_a_machine_without_the_faster_inflater_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plenodepth.io.image_formats.png.inflater", lambda: zlib)
    (tmp_path / "image.png").write_bytes(png_bytes(GRAY, [PAETH] * 40))
    np.testing.assert_array_equal(read_image(tmp_path / "image.png"), GRAY)
    (tmp_path / "cut.png").write_bytes(png_bytes(GRAY, [PAETH] * 40, cut=1))
    with pytest.raises(InputError, match=r"cut\.png: ends before its last pixel"):
        read_image(tmp_path / "cut.png")
