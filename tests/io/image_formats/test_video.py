from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import frame_count, image_size_of, is_sequence, read_images
from plenodepth.io.image_formats.video_colors import rgb_from_yuv
from plenodepth.io.images import read_image

RNG = np.random.default_rng(6)
SIZE = (48, 64)


@pytest.mark.parametrize(
    ("pix_fmt", "bits", "channels"),
    [("gray", 8, 1), ("gray10le", 10, 1), ("gray16le", 16, 1), ("bgra", 8, 4), ("gbrp12le", 12, 3)],
)
def test_gray_and_rgb_of_a_lossless_video_are_exact(
    tmp_path: Path, write: Any, pix_fmt: str, bits: int, channels: int
) -> None:
    shape = SIZE if channels == 1 else (*SIZE, channels)
    kind = np.uint8 if bits == 8 else np.uint16
    frames = [RNG.integers(0, 1 << bits, shape).astype(kind) for _ in range(3)]
    write.video(tmp_path / "clip.mkv", frames, "ffv1", pix_fmt)
    for image, frame in zip(read_images(tmp_path / "clip.mkv"), frames, strict=True):
        assert image.pixels.dtype == kind
        np.testing.assert_array_equal(image.pixels, frame[..., 2::-1] if pix_fmt == "bgra" else frame)
        assert (image.full_scale, image.warning) == (2**bits - 1, "")
        assert image.pixels.flags.writeable


def test_a_mosaic_keeps_its_filters(tmp_path: Path, write: Any) -> None:
    mosaic = RNG.integers(0, 65536, SIZE).astype(np.uint16)
    write.video(tmp_path / "clip.nut", [mosaic], "rawvideo", "bayer_grbg16le")
    (image,) = read_images(tmp_path / "clip.nut")
    assert image.bayer == "GRBG"
    np.testing.assert_array_equal(image.pixels, mosaic)


@pytest.mark.parametrize(("pix_fmt", "bits"), [("yuv420p", 8), ("yuv420p10le", 10)])
def test_yuv_becomes_rgb_of_16_bits(tmp_path: Path, write: Any, pix_fmt: str, bits: int) -> None:
    height, width = SIZE
    stored = RNG.integers(0, 1 << bits, (height * 3 // 2, width)).astype(np.uint8 if bits == 8 else np.uint16)
    write.video(tmp_path / "clip.mkv", [stored], "ffv1", pix_fmt)
    (image,) = read_images(tmp_path / "clip.mkv")
    to_blue, to_red = stored[height:].reshape(2, height // 2, width // 2)
    np.testing.assert_array_equal(image.pixels, rgb_from_yuv(stored[:height], (to_blue, to_red), bits=bits))
    assert image.full_scale == 65535
    assert image.warning == "is video: its numbers are gamma-encoded, not proportional to the light"


@pytest.mark.parametrize("name", ["clip.mp4", "clip.mkv", "clip.h264", "clip.avi"])
def test_h264_is_near_what_was_recorded(tmp_path: Path, write: Any, name: str) -> None:
    height, width = SIZE
    luma = np.tile(np.linspace(30, 220, width).astype(np.uint8), (height, 1))
    gray = np.full((height // 2, width), 128, np.uint8)
    write.video(tmp_path / name, [np.vstack([luma, gray])] * 5, "libx264", "yuv420p", crf="5")
    images = list(read_images(tmp_path / name))
    assert len(images) == 5
    assert frame_count(tmp_path / name) in (5, None)
    assert is_sequence(tmp_path / name)
    assert image_size_of(tmp_path / name) == (width, height)
    expected = np.clip((luma - 16.0) / 219, 0, 1)
    for image in images:
        np.testing.assert_allclose(image.pixels / 65535, np.dstack([expected] * 3), atol=0.02)
        assert image.warning.endswith("gamma-encoded, not proportional to the light, and compressed with loss")


def test_one_frame_at_a_time_is_decoded(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write.video(tmp_path / "clip.mkv", [RNG.integers(0, 255, SIZE).astype(np.uint8)] * 9, "ffv1", "gray")
    made = []
    kept = "plenodepth.io.image_formats.video._numbers"
    from plenodepth.io.image_formats.video import _numbers

    monkeypatch.setattr(kept, lambda frame, path: made.append(frame) or _numbers(frame, path))
    for number, _ in enumerate(islice(read_images(tmp_path / "clip.mkv", frames=slice(2, None, 2)), 3)):
        assert len(made) == number + 1


@pytest.mark.parametrize("frames", [slice(-2, None), slice(0, -1), slice(None, None, -1), slice(0, 9, 0)])
def test_frames_from_the_end_are_refused(one_of_each: Path, frames: slice) -> None:
    with pytest.raises(InputError, match=r"clip\.mkv: frames: is a video, whose frames are counted from the first one"):
        list(read_images(one_of_each / "clip.mkv", frames=frames))


@pytest.mark.parametrize("name", ["clip.mp4", "clip.vvc", "clip.mkv", "clip.264"])
def test_what_is_no_video_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"hello " * 99)
    with pytest.raises(InputError, match=rf"{name}: .* \(the file is damaged or truncated"):
        read_image(tmp_path / name)


@pytest.mark.realdata
def test_the_vvc_of_the_r5_shows_what_its_first_frame_shows(real_data: Path) -> None:
    path = real_data / "r5" / "fujita2.vvc"
    assert image_size_of(path) == (2048, 2048)
    assert is_sequence(path)
    first, third = read_images(path, frames=slice(0, 3, 2))
    assert (first.name, third.name) == ("fujita2-00000", "fujita2-00002")
    assert (first.pixels.dtype, first.full_scale) == (np.uint16, 65535)
    assert "compressed with loss" in first.warning
    apart = first.pixels / 257.0 - read_image(real_data / "r5" / "fujita2-frame0.png")
    assert np.abs(apart).mean() < 2.5, "the PNG was compressed once more, and its colour matrix is not known"
    assert not np.array_equal(first.pixels, third.pixels)


@pytest.mark.realdata
@pytest.mark.slow
def test_a_frame_in_the_middle_of_the_vvc_of_another_make(real_data: Path) -> None:
    path = real_data / "tspc" / "boys2.vvc"
    assert image_size_of(path) == (3976, 2956)
    (image,) = read_images(path, frames=slice(20, 21))
    assert (image.name, image.pixels.shape) == ("boys2-00020", (2956, 3976, 3))
