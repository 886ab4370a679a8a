from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from damage import damaged
from hypothesis import given, settings

from plenodepth.errors import InputError
from plenodepth.io.image_formats import frame_count, image_size_of, is_sequence, read_images
from plenodepth.io.images import read_image

ONE = ["image.png", "image.jpg", "image.bmp", "image.ppm", "image.pgm", "image.tif", "image.exr", "image.dng"]
ONE += ["image.lfp", "image.lfr"]
SEQUENCES = ["pages.tif", "clip_48x32_10bit_yuv420p.yuv", "clip.mkv", "clip.mp4"]
ALL = [*ONE, *SEQUENCES]


@pytest.mark.parametrize("name", ONE)
def test_an_image_is_one_frame_with_the_name_of_its_file(one_of_each: Path, name: str) -> None:
    path = one_of_each / name
    (image,) = read_images(path)
    assert image.name == "image"
    assert not is_sequence(path)
    assert frame_count(path) == 1
    assert (image.warning != "") == (name == "image.jpg")


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_gives_numbered_frames(one_of_each: Path, name: str) -> None:
    path = one_of_each / name
    images = list(read_images(path))
    assert [image.name for image in images] == [f"{path.stem}-0000{number}" for number in range(3)]
    assert is_sequence(path)
    assert frame_count(path) in (3, None)
    np.testing.assert_array_equal(read_image(path), images[0].pixels)
    (last,) = read_images(path, frames=slice(2, None))
    np.testing.assert_array_equal(last.pixels, images[2].pixels)
    assert [image.name[-1] for image in read_images(path, frames=slice(0, 3, 2))] == ["0", "2"]


@pytest.mark.parametrize("name", ALL)
def test_the_size_is_told_without_decoding(one_of_each: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    height, width = read_image(one_of_each / name).shape[:2]
    for module in ("still.opencv_image", "still.whole", "tiff.whole", "tiff._page_array", "lytro._unpacked"):
        monkeypatch.setattr(f"plenodepth.io.image_formats.{module}", None)
    assert image_size_of(one_of_each / name) == (width, height) == (48, 32)


@pytest.mark.parametrize("name", ALL)
def test_frames_that_are_not_there_are_refused(one_of_each: Path, name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: frames: has [13] frames?, none of which was asked for"):
        list(read_images(one_of_each / name, frames=slice(7, 9)))


@pytest.mark.parametrize("name", ALL)
def test_more_memory_than_allowed_is_refused(one_of_each: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLENODEPTH_MEMORY_PER_FILE", "1K")
    monkeypatch.setattr("plenodepth.io.budget.TIMES_ITS_SIZE", 0)
    with pytest.raises(
        InputError, match=f"{name}: size 48 × 32: needs .* KiB of memory, of which a file may take 1 KiB"
    ):
        list(read_images(one_of_each / name))


@pytest.mark.parametrize("name", ALL)
def test_a_damaged_file_is_read_or_refused_in_one_line(
    one_of_each: Path, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, whole = tmp_path / name, (one_of_each / name).read_bytes()

    @settings(deadline=None, max_examples=40)
    @given(data=damaged(whole))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        for use in (lambda: [image.pixels.ndim for image in read_images(path)], lambda: image_size_of(path)):
            try:
                assert use()
                continue
            except InputError as error:
                message = str(error)
            assert message.startswith(f"{path}: ")
            assert len(message.splitlines()) == 1

    check()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith((".mkv", ".mp4"))])
def test_a_truncated_file_is_refused(one_of_each: Path, name: str, tmp_path: Path) -> None:
    whole = (one_of_each / name).read_bytes()
    path = tmp_path / name
    for end in range(1, len(whole) * 7 // 8, len(whole) // 12):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=f"{name}: "):
            list(read_images(path))


@pytest.mark.parametrize("name", ["image.png", "image.dng", "clip.mkv", "clip_4x4.yuv", "image.lfp", "image.exr"])
def test_what_is_missing_a_folder_or_empty_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for use in (lambda: list(read_images(path)), lambda: image_size_of(path), lambda: is_sequence(path)):
        with pytest.raises(InputError, match=f"{name}: does not exist"):
            use()
    path.mkdir()
    with pytest.raises(InputError, match=f"{name}: is a folder"):
        read_image(path)
    path.rmdir()
    path.touch()
    with pytest.raises(InputError, match=f"{name}: is empty"):
        read_image(path)


@pytest.mark.parametrize(("name", "package", "extra"), [("image.dng", "rawpy", "raw"), ("clip.mkv", "av", "video")])
def test_a_missing_package_is_named(
    one_of_each: Path, name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    message = rf'{name}: cannot be read without the package {package} \(pip install "plenodepth\[{extra}\]"\)'
    with pytest.raises(InputError, match=message):
        read_image(one_of_each / name)


def test_importing_the_formats_imports_none_of_their_packages() -> None:
    packages = {"av", "cv2", "OpenEXR", "rawpy", "tifffile"}
    program = f"import sys, plenodepth.io.image_formats; sys.exit(bool({packages} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_file_without_a_suffix_is_known_by_its_first_bytes(one_of_each: Path, tmp_path: Path) -> None:
    for name in ("image.png", "pages.tif", "image.dng", "image.lfp", "clip.mkv", "clip.mp4"):
        (tmp_path / "nameless").write_bytes((one_of_each / name).read_bytes())
        np.testing.assert_array_equal(read_image(tmp_path / "nameless"), read_image(one_of_each / name))


def promise_png(path: Path) -> None:
    size = (200_000).to_bytes(4, "big")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes([0, 0, 0, 13]) + b"IHDR" + size + size + bytes(20))


def promise_tiff(path: Path) -> None:
    tifffile.imwrite(path, np.zeros((8, 8), np.uint8), compression="zlib", rowsperstrip=100_000)
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages.first.tags["ImageWidth"].overwrite(60_000)
        file.pages.first.tags["ImageLength"].overwrite(60_000)


@pytest.mark.parametrize(
    ("name", "store"),
    [
        ("image.png", promise_png),
        ("image.tif", promise_tiff),
        ("image.pgm", lambda path: path.write_bytes(b"P5 90000 90000 255\n" + bytes(99))),
        ("image.jpg", lambda path: path.write_bytes(b"\xff\xd8\xff\xc0\0\x11\x08" + b"\xff" * 4 + bytes(40))),
        ("clip_90000x90000.yuv", lambda path: path.write_bytes(bytes(99))),
    ],
)
def test_a_header_that_promises_more_than_the_file_holds_is_refused(tmp_path: Path, name: str, store: Any) -> None:
    store(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: ends before its last pixel"):
        read_image(tmp_path / name)


def test_a_bmp_whose_header_says_an_unknown_compression_is_one_line(
    one_of_each: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = bytearray((one_of_each / "image.bmp").read_bytes())
    data[30] = 200
    (tmp_path / "odd.bmp").write_bytes(data)
    with pytest.raises(InputError, match="cannot be decoded"):
        list(read_images(tmp_path / "odd.bmp"))
    assert capfd.readouterr() == ("", "")
