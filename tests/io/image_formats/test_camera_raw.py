from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import image_size_of, read_images
from plenodepth.io.images import read_image

MOSAIC = np.random.default_rng(8).integers(64, 1024, (64, 96)).astype(np.uint16)
RED, GREEN, BLUE = range(3)


@pytest.mark.parametrize(
    ("filters", "bayer"),
    [
        ((GREEN, RED, BLUE, GREEN), "GRBG"),
        ((RED, GREEN, GREEN, BLUE), "RGGB"),
        ((BLUE, GREEN, GREEN, RED), "BGGR"),
        ((GREEN, BLUE, RED, GREEN), "GBRG"),
    ],
)
def test_a_dng_gives_its_mosaic_and_what_it_says_of_it(
    tmp_path: Path, write: Any, filters: tuple[int, ...], bayer: str
) -> None:
    write.dng(tmp_path / "image.dng", MOSAIC, filters)
    (image,) = read_images(tmp_path / "image.dng")
    np.testing.assert_array_equal(image.pixels, MOSAIC)
    assert (image.bayer, image.full_scale, image.warning) == (bayer, 1023, "")
    assert image.black_level == pytest.approx(64 / 1023)
    assert image_size_of(tmp_path / "image.dng") == (96, 64)


def test_a_dng_that_is_called_tiff_is_a_dng(tmp_path: Path, write: Any) -> None:
    write.dng(tmp_path / "image.tif", MOSAIC)
    (image,) = read_images(tmp_path / "image.tif")
    assert image.bayer == "GRBG"


@pytest.mark.parametrize("name", ["image.dng", "image.nef", "image.CR3"])
def test_what_is_no_camera_raw_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"hello " * 99)
    with pytest.raises(InputError, match=f"{name}: is no readable camera raw: "):
        read_image(tmp_path / name)


def test_what_the_library_says_of_a_truncated_file_is_in_the_error_only(
    tmp_path: Path, write: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    write.dng(tmp_path / "image.dng", MOSAIC)
    (tmp_path / "image.dng").write_bytes((tmp_path / "image.dng").read_bytes()[:6000])
    with pytest.raises(InputError, match=r"image\.dng: is no readable camera raw: Input/output error"):
        read_image(tmp_path / "image.dng")
    assert capfd.readouterr() == ("", "")
