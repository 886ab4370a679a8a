from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plenodepth.errors import InputError
from plenodepth.io.image_formats import image_size_of, read_images
from plenodepth.io.images import read_image

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize(("shape", "suffix"), [((5, 7), "pgm"), ((5, 7, 3), "ppm")])
@pytest.mark.parametrize("binary", [0, 1], ids=["text", "binary"])
def test_what_opencv_writes_is_read(tmp_path: Path, kind: Any, shape: Any, suffix: str, binary: int) -> None:
    image = RNG.integers(0, np.iinfo(kind).max, shape, endpoint=True).astype(kind)
    path = tmp_path / f"image.{suffix}"
    stored = image[..., ::-1] if image.ndim == 3 else image
    assert cv2.imwrite(str(path), stored, [cv2.IMWRITE_PXM_BINARY, binary])
    read = read_image(path)
    assert read.dtype == kind
    np.testing.assert_array_equal(read, image)


@given(
    numbers=arrays.arrays(np.uint16, (3, 4), elements=st.integers(0, 1023)),
    gap=st.sampled_from([b" ", b"\n", b"\n# a comment\n", b" \t\r\n#\n#\n"]),
)
def test_any_header_is_read_and_tells_the_full_scale(
    tmp_path_factory: pytest.TempPathFactory, numbers: np.ndarray[Any, Any], gap: bytes
) -> None:
    path = tmp_path_factory.mktemp("pnm") / "image.pgm"
    path.write_bytes(gap.join([b"P5", b"4", b"3", b"1023"]) + b"\n" + numbers.astype(">u2").tobytes())
    (image,) = read_images(path)
    np.testing.assert_array_equal(image.pixels, numbers)
    assert image.full_scale == 1023
    assert image_size_of(path) == (4, 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"P5 4 3 70000\n" + bytes(99), "header: says that it is 4 × 3 of numbers up to 70000"),
        (b"P5 0 3 255\n" + bytes(99), "header: says that it is 0 × 3"),
        (b"P5 four 3 255\n" + bytes(99), "has no readable header"),
        (b"P5 4 3 100\n" + b"\xff" * 12, "pixels: holds a number beyond 100"),
        (b"P5 4 3 255\n" + bytes(11), "ends before its last pixel"),
        (b"P2 2 2 255\n1 2 3", "ends before its last pixel"),
        (b"P2 2 2 255\n1 2 3 four", "pixels: holds what is no number"),
        (b"P2 2 2 255\n1 2 3 256", "pixels: holds a number beyond 255"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "image.pgm").write_bytes(data)
    with pytest.raises(InputError, match=f"image.pgm: {message}"):
        read_image(tmp_path / "image.pgm")
