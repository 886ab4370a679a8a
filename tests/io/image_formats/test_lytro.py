from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import image_size_of, read_images
from plenodepth.io.images import read_image

RNG = np.random.default_rng(7)
Describe = Callable[..., dict[str, Any]]


def packed_12(numbers: np.ndarray[Any, Any]) -> bytes:
    """Two numbers in three bytes, bit by bit."""
    text = "".join(f"{number:012b}" for number in numbers.ravel().tolist())
    return int(text, 2).to_bytes(len(text) // 8, "big")


def packed_10(numbers: np.ndarray[Any, Any]) -> bytes:
    """Four numbers in five bytes: the upper 8 bits of each, then the lower 2 of all."""
    groups = numbers.reshape(-1, 4).tolist()
    return b"".join(
        bytes([*(number >> 2 for number in four), sum((number & 3) << 2 * i for i, number in enumerate(four))])
        for four in groups
    )


def test_the_first_camera(tmp_path: Path, write: Any, describe_lytro: Describe) -> None:
    numbers = RNG.integers(0, 4096, (6, 10))
    write.lytro(tmp_path / "IMG.lfp", packed_12(numbers), describe_lytro(10, 6, illum=False), illum=False)
    (image,) = read_images(tmp_path / "IMG.lfp")
    assert image.pixels.dtype == np.uint16
    np.testing.assert_array_equal(image.pixels, numbers)
    assert (image.name, image.bayer, image.full_scale, image.warning) == ("IMG", "BGGR", 4095, "")
    assert image.black_level == pytest.approx(168 / 4095)
    assert image_size_of(tmp_path / "IMG.lfp") == (10, 6)


def test_the_illum(tmp_path: Path, write: Any, describe_lytro: Describe) -> None:
    numbers = RNG.integers(0, 1024, (6, 12))
    write.lytro(tmp_path / "IMG.lfr", packed_10(numbers), describe_lytro(12, 6, illum=True), illum=True)
    (image,) = read_images(tmp_path / "IMG.lfr")
    np.testing.assert_array_equal(image.pixels, numbers)
    assert (image.bayer, image.full_scale) == ("GRBG", 1023)
    assert image.black_level == pytest.approx(64 / 1023)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"representation": "jpeg"}, r"metadata: does not describe a raw image .*jpeg"),
        ({"width": 1_000_000}, "ends before its last pixel: 1000000 × 6 do not fit into 90 bytes"),
        ({"width": 11}, "image: ends before its last pixel"),
        ({"width": "wide"}, "metadata: does not describe a raw image"),
        ({"width": 0}, "size: says that it is 0 × 6"),
        ({"rawDetails": {}}, "metadata: does not describe a raw image .*pixelFormat"),
        ({"rawDetails": None}, "metadata: does not describe a raw image"),
    ],
)
def test_metadata_that_do_not_fit_are_refused(
    tmp_path: Path, write: Any, describe_lytro: Describe, change: dict[str, Any], message: str
) -> None:
    described = describe_lytro(10, 6, illum=False) | change
    write.lytro(tmp_path / "IMG.lfp", packed_12(np.zeros((6, 10), int)), described, illum=False)
    with pytest.raises(InputError, match=rf"IMG\.lfp: {message}"):
        read_image(tmp_path / "IMG.lfp")


def test_a_changed_byte_is_found(tmp_path: Path, write: Any, describe_lytro: Describe) -> None:
    path = tmp_path / "IMG.lfp"
    write.lytro(path, packed_12(RNG.integers(0, 4096, (6, 10))), describe_lytro(10, 6, illum=False), illum=False)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"IMG\.lfp: has a damaged section"):
        read_image(path)


def test_a_container_without_sections_is_refused(tmp_path: Path) -> None:
    (tmp_path / "IMG.lfp").write_bytes(b"\x89LFP\r\n\x1a\n" + bytes(8))
    with pytest.raises(InputError, match=r"IMG\.lfp: holds no metadata"):
        read_image(tmp_path / "IMG.lfp")
