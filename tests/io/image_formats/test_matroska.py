from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from plenodepth.io.image_formats import read_images
from plenodepth.io.image_formats.matroska import Checksums, is_matroska


@pytest.fixture
def data(tmp_path: Path, write: Any) -> bytes:
    frames = [np.random.default_rng(number).integers(0, 255, (48, 64)).astype(np.uint8) for number in range(4)]
    write.video(tmp_path / "clip.mkv", frames, "ffv1", "gray")
    return (tmp_path / "clip.mkv").read_bytes()


def words(data: bytes) -> str:
    return Checksums(io.BytesIO(data), len(data)).damage_before(len(data))


def test_what_was_written_agrees_with_its_checksums(data: bytes) -> None:
    assert is_matroska(io.BytesIO(data))
    assert words(data) == ""


def test_each_bit_that_is_turned_is_told(data: bytes) -> None:
    start = data.rindex(b"\x16\x54\xae\x6b")  # the tracks; before them, some bytes are void
    for place in np.random.default_rng(0).integers(start, len(data), 50):
        changed = bytearray(data)
        changed[place] ^= 4
        assert words(bytes(changed)) != "", place


def test_parts_are_looked_at_when_they_are_reached(data: bytes) -> None:
    changed = bytearray(data)
    changed[-100] ^= 1
    file = io.BytesIO(changed)
    file.seek(7)
    checks = Checksums(file, len(changed))
    assert checks.damage_before(300) == ""
    assert "wrong checksum" in checks.damage_before(len(changed))
    assert file.tell() == 7


@pytest.mark.parametrize("left", [100, 700, 5000])
def test_a_missing_end_is_told(data: bytes, left: int) -> None:
    assert words(data[:left]) == f"ends {len(data) - left} bytes too early"


def test_bytes_at_the_end_are_told(data: bytes) -> None:
    assert words(data + bytes(9)) == "has 9 bytes too many"


def test_what_is_no_matroska_is_left_to_others() -> None:
    assert not is_matroska(io.BytesIO(b"RIFF"))
    for other in (b"", b"\x1a\x45\xdf\xa3", bytes(99), b"\x1a\x45\xdf\xa3\x80" + bytes(50)):
        assert words(other) == ""


def test_a_file_without_checksums_or_sizes_is_not_doubted(tmp_path: Path) -> None:
    """As written to a pipe: FFmpeg goes back to nothing there, and leaves the sizes open."""
    for options in ({"write_crc32": "0"}, {"live": "1"}):
        with av.open(str(tmp_path / "clip.mkv"), "w", options=options) as container:
            stream = container.add_stream("ffv1", rate=25)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "gray"
            for number in range(3):
                frame = av.VideoFrame.from_ndarray(np.full((48, 64), 50 * number, np.uint8), format="gray")
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        assert words((tmp_path / "clip.mkv").read_bytes()) == ""
        assert [int(image.pixels[0, 0]) for image in read_images(tmp_path / "clip.mkv")] == [0, 50, 100]
