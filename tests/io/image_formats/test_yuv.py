from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import frame_count, image_size_of, read_images
from plenodepth.io.image_formats.video_colors import light_from_luma, rgb_from_yuv
from plenodepth.io.images import read_image

RNG = np.random.default_rng(5)


def plane(value: float, bits: int, shape: tuple[int, int]) -> np.ndarray[Any, Any]:
    return np.full(shape, value * (1 << (bits - 8)), np.uint8 if bits == 8 else np.uint16)


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
def test_black_white_and_gray_are_what_limited_range_says(bits: int) -> None:
    middle = plane(128, bits, (2, 3))
    for value, expected in ((16, 0), (235, 65535), (125.5, 65535 / 2), (0, 0), (255, 65535)):
        rgb = rgb_from_yuv(plane(int(value), bits, (4, 6)), (middle, middle), bits=bits)
        assert (rgb.shape, rgb.dtype) == ((4, 6, 3), np.uint16)
        np.testing.assert_allclose(rgb, expected, atol=0 if value != 125.5 else 65535 * 0.5 / 219 + 1)
        np.testing.assert_allclose(light_from_luma(plane(int(value), bits, (4, 6)), bits=bits), rgb[..., 0], atol=1)


@pytest.mark.parametrize(("matrix", "red", "blue"), [("BT.709", 0.2126, 0.0722), ("BT.601", 0.299, 0.114)])
@pytest.mark.parametrize("full_range", [False, True])
def test_colours_come_back(matrix: Any, red: float, blue: float, full_range: bool) -> None:
    rgb = RNG.uniform(0, 1, (8, 8, 3))
    luma = rgb @ [red, 1 - red - blue, blue]
    to_blue, to_red = (rgb[..., 2] - luma) / 2 / (1 - blue), (rgb[..., 0] - luma) / 2 / (1 - red)
    low, span, color_span = (0, 65535, 65535) if full_range else (16 << 8, 219 << 8, 224 << 8)
    planes = [low + span * luma, (1 << 15) + color_span * to_blue, (1 << 15) + color_span * to_red]
    y, u, v = (np.clip(np.rint(numbers), 0, 65535).astype(np.uint16) for numbers in planes)
    again = rgb_from_yuv(y, (u, v), bits=16, matrix=matrix, full_range=full_range)
    np.testing.assert_allclose(again / 65535, rgb, atol=1e-4)


def test_colour_samples_stand_at_even_columns_and_between_rows() -> None:
    columns, rows = np.meshgrid(np.arange(8), np.arange(6))
    ramp = 20_000 + 1000 * (2.0 * columns) + 500 * (2 * rows + 0.5)  # what the picture has at those places
    gray = np.full((12, 16), 30_000, np.uint16)
    ramp_rgb = rgb_from_yuv(gray, (np.full((6, 8), 1 << 15, np.uint16), ramp.astype(np.uint16)), bits=16)
    fine = 20_000 + 1000.0 * np.arange(16) + 500.0 * np.arange(12)[:, None]
    fine_rgb = rgb_from_yuv(gray, (np.full((12, 16), 1 << 15, np.uint16), fine.astype(np.uint16)), bits=16)
    inside = np.s_[1:-1, :-2]
    np.testing.assert_allclose(ramp_rgb[inside].astype(float), fine_rgb[inside], atol=4)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("clip_46x30_10bit_yuv420p.yuv", 10),
        ("clip-46x30-yuv420p10le.yuv", 10),
        ("clip_46x30_25fps_420_12_.yuv", 12),
        ("clip_46x30.yuv", 8),
        ("clip_46x30_8bit_420.YUV", 8),
    ],
)
def test_the_name_tells_size_and_bits(tmp_path: Path, write: Any, name: str, bits: int) -> None:
    kind = np.uint8 if bits == 8 else np.dtype("<u2")
    frames = [
        tuple(RNG.integers(0, 1 << bits, shape).astype(kind) for shape in ((30, 46), (15, 23), (15, 23)))
        for _ in range(2)
    ]
    write.yuv(tmp_path / name, frames)
    assert image_size_of(tmp_path / name) == (46, 30)
    assert frame_count(tmp_path / name) == 2
    for image, (luma, to_blue, to_red) in zip(read_images(tmp_path / name), frames, strict=True):
        np.testing.assert_array_equal(image.pixels, rgb_from_yuv(luma, (to_blue, to_red), bits=bits))
        assert image.full_scale == 65535
        assert "gamma-encoded" in image.warning


def test_size_and_bits_may_be_given_and_odd_sizes_round_up(tmp_path: Path, write: Any) -> None:
    write.yuv(tmp_path / "clip.yuv", [tuple(plane(128, 10, shape) for shape in ((5, 7), (3, 4), (3, 4)))])
    (image,) = read_images(tmp_path / "clip.yuv", size=(7, 5), bits=10)
    assert (image.name, image.pixels.shape) == ("clip", (5, 7, 3))
    assert image_size_of(tmp_path / "clip.yuv", size=(7, 5), bits=10) == (7, 5)


def test_ffmpeg_sees_the_same_colours(tmp_path: Path, write: Any) -> None:
    smooth = np.linspace(40, 200, 64 * 64 * 3 // 2).reshape(96, 64).astype(np.uint8)
    frame = av.VideoFrame.from_ndarray(smooth, format="yuv420p")
    expected = frame.reformat(format="rgb24", src_colorspace="ITU709", dst_colorspace="ITU709").to_ndarray()
    (tmp_path / "clip_64x64.yuv").write_bytes(smooth.tobytes())
    read = read_image(tmp_path / "clip_64x64.yuv") / 257.0
    assert np.abs(read - expected).mean() < 1.5


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("clip.yuv", None, "size: does not tell its size"),
        ("clip_8x8_10bit.yuv", None, "size: of 96 bytes is no whole number of frames of 8 × 8 in 10 bits"),
        ("clip_8x8_7bit.yuv", None, "bits: is said to have 7 bits"),
        ("clip_8x8_yuv444p.yuv", None, "is not planar 4:2:0"),
        ("clip_8x8_nv12.yuv", None, "is not planar 4:2:0"),
        ("clip_4x4_yuv420p10be.yuv", None, "is not planar 4:2:0 with the lower byte first"),
        ("clip_4x4_10bit.yuv", None, "pixels: holds no 4 × 4 numbers of 10 bits in frame 0"),
        ("clip.yuv", (0, 8), "size: says that it is 0 × 8"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, name: str, size: Any, message: str) -> None:
    (tmp_path / name).write_bytes(b"\xff" * 96)
    with pytest.raises(InputError, match=f"{name}: {message}"):
        list(read_images(tmp_path / name, size=size))
