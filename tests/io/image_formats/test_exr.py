from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.io.image_formats import image_size_of, read_images
from plenodepth.io.images import read_image

RED, GREEN, BLUE = np.random.default_rng(4).normal(size=(3, 9, 14)).astype(np.float32)


def test_red_green_and_blue_are_one_image(tmp_path: Path, write: Any) -> None:
    write.exr(tmp_path / "image.exr", R=RED, G=GREEN, B=BLUE, A=np.ones_like(RED))
    (image,) = read_images(tmp_path / "image.exr")
    assert (image.pixels.dtype, image.full_scale) == (np.float32, None)
    np.testing.assert_array_equal(image.pixels, np.dstack([RED, GREEN, BLUE]))
    assert image_size_of(tmp_path / "image.exr") == (14, 9)


@pytest.mark.parametrize("name", ["Y", "Z", "light"])
def test_one_channel_is_gray(tmp_path: Path, write: Any, name: str) -> None:
    write.exr(tmp_path / "image.exr", **{name: RED})
    np.testing.assert_array_equal(read_image(tmp_path / "image.exr"), RED)


def test_halves_are_read(tmp_path: Path, write: Any) -> None:
    write.exr(tmp_path / "image.exr", Y=RED.astype(np.float16))
    np.testing.assert_array_equal(read_image(tmp_path / "image.exr"), RED.astype(np.float16).astype(np.float32))


def test_other_channels_are_refused(tmp_path: Path, write: Any) -> None:
    write.exr(tmp_path / "image.exr", R=RED, G=GREEN)
    with pytest.raises(InputError, match=r"image\.exr: channels: has the channels G, R"):
        read_image(tmp_path / "image.exr")
