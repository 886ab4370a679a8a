"""Textures: noise that matching can hold on to, and pictures from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import tifffile
from damage import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.sim.scenes.textures import noise_image, noise_volume, read_texture, solid_noise

NOISE: dict[str, Any] = {"octaves": 5, "cell": 32.0, "seed": 3}


# --- noise on a picture -----------------------------------------------------------------------------------------


def test_every_channel_takes_all_values_equally_often() -> None:
    pixels = noise_image(400, 300, **NOISE).pixels
    assert pixels.shape == (300, 400, 3)
    assert pixels.min() >= 0.02 - 1e-6
    assert pixels.max() <= 0.98 + 1e-6
    levels = np.linspace(0.05, 0.95, 10)
    for channel in range(3):
        assert np.quantile(pixels[:, :, channel], levels) == pytest.approx(0.02 + 0.96 * levels, abs=0.01)


def test_noise_has_contrast_in_every_small_window() -> None:
    gray = noise_image(400, 300, octaves=6, cell=32, seed=1).pixels.mean(axis=2)
    windows = np.lib.stride_tricks.sliding_window_view(gray, (9, 9))[::5, ::5]
    assert np.quantile(windows.std(axis=(2, 3)), 0.01) > 0.03


def test_channels_differ_but_share_their_detail() -> None:
    channels = noise_image(400, 300, **NOISE).pixels.reshape(-1, 3).T
    correlation = np.corrcoef(channels)[np.triu_indices(3, 1)]
    assert (correlation > 0.3).all()
    assert (correlation < 0.95).all()


@given(width=st.integers(2, 60), height=st.integers(2, 60), seed=st.integers(0, 2**40))
@settings(max_examples=30, deadline=None)
def test_the_seed_decides_the_picture(width: int, height: int, seed: int) -> None:
    one, again, other = (noise_image(width, height, cell=8, seed=s).pixels for s in (seed, seed, seed + 1))
    assert one.tobytes() == again.tobytes()
    assert one.tobytes() != other.tobytes()


def test_octaves_below_a_pixel_are_left_out() -> None:
    deep, enough = (noise_image(50, 40, octaves=n, cell=8).pixels for n in (9, 4))
    np.testing.assert_array_equal(deep, enough)


def test_contrast_narrows_the_values_about_the_middle() -> None:
    pixels = noise_image(200, 100, contrast=0.5).pixels
    assert pixels.min() == pytest.approx(0.26, abs=1e-3)
    assert pixels.max() == pytest.approx(0.74, abs=1e-3)


def test_two_colors_bound_the_channels() -> None:
    dark, light = (0.1, 0.2, 0.3), (0.9, 0.4, 0.35)
    pixels = noise_image(200, 100, colors=(dark, light)).pixels.reshape(-1, 3)
    assert (pixels >= np.float32(dark)).all()
    assert (pixels <= np.float32(light)).all()
    assert np.ptp(pixels, axis=0) == pytest.approx(0.96 * np.subtract(light, dark), rel=1e-3)


def test_a_cell_far_larger_than_the_picture_gives_one_gray() -> None:
    assert noise_image(4, 4, octaves=1, cell=1e12).pixels.std() < 0.5


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"width": 1}, "texture.width"),
        ({"height": 10**6}, "texture.height"),
        ({"octaves": 0}, "texture.octaves"),
        ({"octaves": 17}, "texture.octaves"),
        ({"cell": 0.5}, "texture.cell"),
        ({"cell": float("nan")}, "texture.cell"),
        ({"contrast": 0.0}, "texture.contrast"),
        ({"contrast": 1.5}, "texture.contrast"),
        ({"seed": -1}, "texture.seed"),
    ],
)
def test_impossible_noise_is_refused(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        noise_image(**{"width": 20, "height": 20, **change})
    assert caught.value.field == field


# --- noise that fills space -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, 64])
def test_a_volume_takes_all_values_and_goes_on_across_its_borders(size: int) -> None:
    volume = noise_volume(size, 3, seed=5)
    assert volume.shape == (size, size, size)
    assert (volume.min(), volume.max()) == (0, 1)
    for axis in range(3):
        steps = np.abs(np.diff(volume, axis=axis, append=volume.take([0], axis=axis))).mean(
            axis=tuple({0, 1, 2} - {axis})
        )
        assert steps[-1] < 1.5 * np.median(steps)  # the step across the border is one like the others


def test_a_volume_depends_on_the_seed_alone() -> None:
    assert noise_volume(32, 4, 1).tobytes() == noise_volume(32, 4, 1).tobytes()
    assert noise_volume(32, 4, 1).tobytes() != noise_volume(32, 4, 2).tobytes()


def test_solid_noise_repeats_with_its_period() -> None:
    texture = solid_noise(40, 4, 2, (0.1, 0.1, 0.1), (0.5, 0.6, 0.7), size=32)
    assert (texture.period, texture.light) == (40, (0.5, 0.6, 0.7))
    assert texture.volume.shape == (32, 32, 32)


def test_a_period_must_be_a_length() -> None:
    with pytest.raises(InputError, match=r"texture\.period"):
        solid_noise(0.0, size=8)


# --- pictures from files ----------------------------------------------------------------------------------------


def picture(shape: tuple[int, ...], dtype: type, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def linear(srgb: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    code = srgb / 255
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_8_bit_colours_are_srgb(tmp_path: Path, suffix: str) -> None:
    rgb = picture((5, 7, 3), np.uint8)
    cv2.imwrite(str(tmp_path / f"a{suffix}"), rgb[:, :, ::-1])
    np.testing.assert_allclose(read_texture(tmp_path / f"a{suffix}").pixels, linear(rgb), atol=1e-6)


def test_16_bit_colours_are_linear(tmp_path: Path) -> None:
    rgb = picture((5, 7, 3), np.uint16)
    cv2.imwrite(str(tmp_path / "a.png"), rgb[:, :, ::-1])
    np.testing.assert_allclose(read_texture(tmp_path / "a.png").pixels, rgb / 65535, atol=1e-6)


def test_gray_becomes_three_equal_channels(tmp_path: Path) -> None:
    gray = picture((5, 7), np.uint8)
    cv2.imwrite(str(tmp_path / "a.png"), gray)
    expected = np.repeat(linear(gray)[:, :, None], 3, axis=2)
    np.testing.assert_allclose(read_texture(tmp_path / "a.png").pixels, expected, atol=1e-6)


def test_transparency_is_ignored(tmp_path: Path) -> None:
    rgba = picture((5, 7, 4), np.uint8)
    cv2.imwrite(str(tmp_path / "a.png"), rgba[:, :, [2, 1, 0, 3]])
    np.testing.assert_allclose(read_texture(tmp_path / "a.png").pixels, linear(rgba[:, :, :3]), atol=1e-6)


def test_a_jpeg_is_read(tmp_path: Path) -> None:
    rgb = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    cv2.imwrite(str(tmp_path / "a.jpg"), rgb[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, 100])
    np.testing.assert_allclose(read_texture(tmp_path / "a.jpg").pixels, linear(rgb), atol=0.02)


def test_a_missing_picture_and_one_that_is_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    tifffile.imwrite(tmp_path / "float.tif", np.zeros((4, 4, 3), np.float32), photometric="rgb")
    cv2.imwrite(str(tmp_path / "tiny.png"), np.zeros((1, 1, 3), np.uint8))
    for name, reason in {
        "missing.png": "does not exist",
        "text.png": "is not a PNG, TIFF",
        "empty.png": "is empty",
        "float.tif": "8 or 16 bits",
        "tiny.png": "h, w ≥ 2",
        "": "folder",
    }.items():
        with pytest.raises(InputError, match=reason) as caught:
            read_texture(tmp_path / name)
        assert caught.value.file == str(tmp_path / name)


WHOLE = cv2.imencode(".png", picture((6, 6, 3), np.uint8))[1].tobytes()


@given(data=damaged(WHOLE))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_picture_is_read_or_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    try:
        assert np.isfinite(read_texture(path).pixels).all()
        return
    except InputError as error:
        message = str(error)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
