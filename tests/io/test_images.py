from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from damage import damaged
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from plenodepth.errors import InputError
from plenodepth.io import read_float_map, read_image, write_float_map, write_image

RNG = np.random.default_rng(1)
GRAY = RNG.integers(0, 256, (13, 17)).astype(np.uint8)
RGB = RNG.integers(0, 256, (13, 17, 3)).astype(np.uint8)
GRAY16 = RNG.integers(0, 65536, (13, 17)).astype(np.uint16)
RGB16 = RNG.integers(0, 65536, (13, 17, 3)).astype(np.uint16)

PIXELS = arrays.array_shapes(min_dims=2, max_dims=2, max_side=5).flatmap(
    lambda hw: st.sampled_from([np.uint8, np.uint16]).flatmap(
        lambda kind: arrays.arrays(kind, hw) | arrays.arrays(kind, (*hw, 3))
    )
)


@settings(deadline=None)  # writes files
@given(image=PIXELS, suffix=st.sampled_from([".png", ".tif", ".TIFF"]))
def test_every_image_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, image: np.ndarray[Any, Any], suffix: str
) -> None:
    path = tmp_path_factory.mktemp("image") / f"image{suffix}"
    write_image(image, path)
    read = read_image(path)
    assert (read.dtype, read.shape) == (image.dtype, image.shape)
    np.testing.assert_array_equal(read, image)


def test_another_program_sees_the_same_colours(tmp_path: Path) -> None:
    for name in ("image.png", "image.tif"):
        write_image(RGB, tmp_path / name)
        with Image.open(tmp_path / name) as image:
            np.testing.assert_array_equal(np.array(image), RGB)


def test_the_same_image_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.png", "b.png", "a.tif", "b.tif"):
        write_image(RGB16, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.tif").read_bytes() == (tmp_path / "b.tif").read_bytes()


@pytest.mark.parametrize("suffix", ["png", "bmp", "tif"])
@pytest.mark.parametrize("image", [GRAY, RGB, np.dstack([RGB, GRAY])], ids=["gray", "rgb", "rgba"])
def test_images_of_another_program_are_read_and_alpha_is_dropped(
    tmp_path: Path, suffix: str, image: np.ndarray[Any, Any]
) -> None:
    Image.fromarray(image).save(tmp_path / f"image.{suffix}")
    np.testing.assert_array_equal(
        read_image(tmp_path / f"image.{suffix}"), image[..., :3] if image.ndim == 3 else image
    )


def test_gray_with_alpha_is_gray(tmp_path: Path) -> None:
    Image.fromarray(np.dstack([GRAY, 255 - GRAY])).save(tmp_path / "gray.png")
    np.testing.assert_array_equal(read_image(tmp_path / "gray.png"), GRAY)


def test_a_palette_becomes_its_colours(tmp_path: Path) -> None:
    few = Image.fromarray(RGB).quantize(16)
    for name in ("few.png", "few.tif", "few.bmp"):
        few.save(tmp_path / name)
        np.testing.assert_array_equal(read_image(tmp_path / name), np.array(few.convert("RGB")))


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_tiffs_of_all_usual_compressions_are_read(tmp_path: Path, compression: str) -> None:
    for image in (RGB, GRAY16):
        Image.fromarray(image).save(tmp_path / "image.tif", compression=compression)
        np.testing.assert_array_equal(read_image(tmp_path / "image.tif"), image)


@pytest.mark.parametrize(
    ("stored", "options", "expected"),
    [
        (np.moveaxis(RGB16, 2, 0), {"photometric": "rgb", "planarconfig": "separate"}, RGB16),
        (
            RGB16,
            {"photometric": "rgb", "byteorder": ">", "bigtiff": True, "predictor": 2, "compression": "zlib"},
            RGB16,
        ),
        (RGB16, {"photometric": "rgb", "tile": (16, 16), "compression": "zlib"}, RGB16),
        (GRAY, {"photometric": "miniswhite"}, 255 - GRAY),
    ],
    ids=["planes", "big-endian", "tiles", "white-is-zero"],
)
def test_tiffs_of_unusual_layouts_are_read(
    tmp_path: Path, stored: np.ndarray[Any, Any], options: dict[str, Any], expected: np.ndarray[Any, Any]
) -> None:
    tifffile.imwrite(tmp_path / "image.tif", stored, **options)
    read = read_image(tmp_path / "image.tif")
    np.testing.assert_array_equal(read, expected)
    assert read.dtype.isnative


def test_a_jpeg_is_not_turned_by_its_orientation_tag(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn me by 90°"
    smooth = np.broadcast_to(np.arange(0, 170, 10, dtype=np.uint8)[None, :, None], (13, 17, 3))
    Image.fromarray(np.ascontiguousarray(smooth)).save(tmp_path / "image.jpg", exif=exif, quality=98)
    read = read_image(tmp_path / "image.jpg")
    assert read.shape == smooth.shape
    assert np.abs(read.astype(int) - smooth).max() < 4


def encoded(tmp_path: Path, kind: str) -> bytes:
    path = tmp_path / f"whole.{kind.split('-')[0]}"
    options = {"jpg-progressive": {"progressive": True}, "tif-lzw": {"compression": "tiff_lzw"}}.get(kind, {})
    Image.fromarray(RGB).save(path, **options)
    return path.read_bytes()


KINDS = ["png", "jpg", "jpg-progressive", "bmp", "tif", "tif-lzw"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_image_is_refused(tmp_path: Path, kind: str) -> None:
    whole = encoded(tmp_path, kind)
    assert read_image(tmp_path / f"whole.{kind.split('-')[0]}").shape == RGB.shape
    for end in {*range(0, len(whole) - 1, len(whole) // 40), len(whole) - 1}:
        (tmp_path / "cut").write_bytes(whole[:end])
        with pytest.raises(InputError, match="cut: "):
            read_image(tmp_path / "cut")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_image_is_read_or_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    whole = encoded(tmp_path, kind)
    path = tmp_path / "damaged"

    @settings(deadline=None, max_examples=40)
    @given(data=damaged(whole))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            assert read_image(path).ndim in (2, 3)
            return
        except InputError as error:
            message = str(error)
        assert message.startswith(f"{path}: ")
        assert len(message.splitlines()) == 1

    check()


def promise_more_than_is_there(path: Path) -> None:
    tifffile.imwrite(path, GRAY, compression="zlib", rowsperstrip=100_000)
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages.first.tags["ImageWidth"].overwrite(60_000)
        file.pages.first.tags["ImageLength"].overwrite(60_000)


@pytest.mark.parametrize(
    ("read", "name", "store", "message"),
    [
        (read_image, "image.png", lambda path: None, "does not exist"),
        (read_image, "image.png", lambda path: path.write_bytes(b""), "is empty"),
        (
            read_image,
            "image.png",
            lambda path: path.write_bytes(b"hello"),
            "is not a PNG, TIFF, JPEG or other known image",
        ),
        (read_image, "image.png", lambda path: path.write_bytes(b"II*\0"), "is not a readable TIFF"),
        (read_image, "image.tif", promise_more_than_is_there, "ends before its last pixel"),
        (read_float_map, "image.tif", lambda path: write_image(GRAY, path), "pixels: holds uint8"),
        (read_float_map, "image.png", lambda path: write_image(GRAY, path), "is not a TIFF file"),
    ],
    ids=["missing", "empty", "text", "header alone", "too few pixels", "integers", "PNG"],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, read: Any, name: str, store: Any, message: str) -> None:
    store(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: {message}"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("write", "name", "image", "message"),
    [
        (write_image, "image.png", GRAY.astype(np.float32), r"image: is float32 \(give uint8 or uint16\)"),
        (write_image, "image.png", GRAY.astype(np.int16), "image: is int16"),
        (write_image, "image.png", np.zeros((2, 3, 4), np.uint8), r"image: has the shape \(2, 3, 4\)"),
        (write_image, "image.png", np.zeros((0, 3), np.uint8), r"image: has the shape \(0, 3\)"),
        (write_image, "image.jpg", GRAY, r"has the suffix '\.jpg' \(use \.png, \.tif or \.tiff\)"),
        (write_image, "missing/image.png", GRAY, "its folder does not exist"),
        (write_float_map, "map.tif", np.zeros(3), r"map: is float64 of the shape \(3,\)"),
        (write_float_map, "map.tif", np.full((2, 2), 1e300), "map: holds a number beyond the range of float32"),
        (write_float_map, "map.png", np.zeros((2, 2)), "has the suffix"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, write: Any, name: str, image: np.ndarray[Any, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"{name}: {message}"):
        write(image, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_map_comes_back_exactly_with_its_gaps(tmp_path: Path) -> None:
    depth = RNG.normal(size=(31, 23)).astype(np.float32)
    depth[3, 4], depth[0, 0] = np.nan, np.inf
    write_float_map(depth, tmp_path / "map.tif")
    read = read_float_map(tmp_path / "map.tif")
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, depth)


def test_other_programs_open_a_map(tmp_path: Path) -> None:
    depth = np.where(GRAY > 99, GRAY, np.nan).astype(np.float32)
    write_float_map(depth, tmp_path / "map.tif")
    with Image.open(tmp_path / "map.tif") as image:
        np.testing.assert_array_equal(np.array(image), depth)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "map.tif"), cv2.IMREAD_UNCHANGED), depth)
    with tifffile.TiffFile(tmp_path / "map.tif") as file:
        assert file.pages.first.predictor == 1  # ImageJ knows no other for floats


def test_a_map_with_the_float_predictor_is_read(tmp_path: Path) -> None:
    depth = GRAY.astype(np.float32) / 7
    options = [cv2.IMWRITE_TIFF_COMPRESSION, 8, cv2.IMWRITE_TIFF_PREDICTOR, 3]
    cv2.imwrite(str(tmp_path / "map.tif"), depth, options)
    np.testing.assert_array_equal(read_float_map(tmp_path / "map.tif"), depth)


def test_importing_the_formats_does_not_import_opencv() -> None:
    program = "import sys, plenodepth.io; sys.exit('cv2' in sys.modules or 'tifffile' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
