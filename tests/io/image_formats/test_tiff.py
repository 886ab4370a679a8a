from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from plenodepth.errors import InputError
from plenodepth.io.image_formats import is_sequence, read_images
from plenodepth.io.images import read_image

RNG = np.random.default_rng(2)
GRAY = RNG.integers(0, 65536, (37, 53)).astype(np.uint16)
RGB = RNG.integers(0, 65536, (37, 53, 3)).astype(np.uint16)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [{}, {"tile": (16, 16)}, {"bigtiff": True, "byteorder": ">"}, {"tile": (16, 32), "compression": "zlib"}],
    ids=["strips", "tiles", "big", "packed tiles"],
)
def test_floats_become_float32(tmp_path: Path, kind: Any, options: dict[str, Any]) -> None:
    values = RNG.normal(size=(37, 53)).astype(kind)
    values[3, 4] = np.nan
    tifffile.imwrite(tmp_path / "image.tif", values, **options)
    read = read_image(tmp_path / "image.tif")
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, values.astype(np.float32))


def test_a_float_beyond_float32_is_refused(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "image.tif", np.full((4, 4), 1e300))
    with pytest.raises(InputError, match=r"image\.tif: pixels: holds a number beyond the range of float32"):
        read_image(tmp_path / "image.tif")


@pytest.mark.parametrize("bits", [10, 12, 14])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("image", [GRAY, RGB], ids=["gray", "rgb"])
def test_packed_bits_are_unpacked_and_their_full_scale_is_told(
    tmp_path: Path, bits: int, compression: str | None, image: np.ndarray[Any, Any]
) -> None:
    numbers = image >> (16 - bits)
    flat = numbers.reshape(len(numbers), -1)
    ones = np.unpackbits(flat.astype(">u2").view(np.uint8), axis=1).reshape(*flat.shape, 16)[..., 16 - bits :]
    packed = np.packbits(ones.reshape(len(flat), -1), axis=1)
    samples = 1 if numbers.ndim == 2 else 3
    # tifffile writes such numbers only with another package: here their bytes, and then what the bytes mean.
    options = {"rowsperstrip": 8, "compression": compression, "metadata": None}
    tifffile.imwrite(tmp_path / "image.tif", packed, photometric="minisblack", **options)
    with tifffile.TiffFile(tmp_path / "image.tif", mode="r+") as file:
        tags = file.pages.first.tags
        tags["ImageWidth"].overwrite(numbers.shape[1])
        tags["BitsPerSample"].overwrite((bits,) * samples if samples > 1 else bits)
        tags["SamplesPerPixel"].overwrite(samples)
        tags["PhotometricInterpretation"].overwrite(2 if samples == 3 else 1)
    (read,) = read_images(tmp_path / "image.tif")
    np.testing.assert_array_equal(read.pixels, numbers)
    assert read.full_scale == 2**bits - 1


def test_previews_and_masks_are_no_frames(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "image.tif") as file:
        file.write(GRAY, metadata=None)
        file.write(GRAY[::4, ::4], metadata=None)
        file.write(GRAY, subfiletype=1, metadata=None)
    assert not is_sequence(tmp_path / "image.tif")
    (image,) = read_images(tmp_path / "image.tif")
    np.testing.assert_array_equal(image.pixels, GRAY)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw"])
def test_every_page_is_read_whoever_decodes_it(tmp_path: Path, compression: str) -> None:
    pages = [Image.fromarray((RGB >> shift).astype(np.uint8)) for shift in (8, 6, 4)]
    pages[0].save(tmp_path / "pages.tif", save_all=True, append_images=pages[1:], compression=compression)
    for read, page in zip(read_images(tmp_path / "pages.tif"), pages, strict=True):
        np.testing.assert_array_equal(read.pixels, np.array(page))
    (last,) = read_images(tmp_path / "pages.tif", frames=slice(-1, None))
    assert last.name == "pages-00002"


def test_a_jpeg_inside_is_warned_of(tmp_path: Path) -> None:
    Image.fromarray((RGB >> 8).astype(np.uint8)).save(tmp_path / "image.tif", compression="jpeg")
    (image,) = read_images(tmp_path / "image.tif")
    assert image.warning.startswith("holds a JPEG, compressed with loss")
