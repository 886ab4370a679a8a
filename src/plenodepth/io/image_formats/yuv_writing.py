"""Planar YUV 4:2:0 files without a header, BT.709 of limited range, frame after frame."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

RED, BLUE = 0.2126, 0.0722  # parts of luma, BT.709
BLACK, WHITE, MIDDLE = 16, 219, 128  # of 8 bits: black, from there to white, no colour
COLORS = 224  # range of the colour differences

Value = TypeVar("Value", bound=np.generic)


def yuv_planes(picture: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """Luma (h, w) and the differences to blue and to red (h/2, w/2) of a picture (h, w, 3) with even sides.

    Samples of colour stand at even columns and between two rows, as in MPEG-2 and all that followed.
    """
    red, green, blue = (picture[..., channel].astype(np.float32) / 255 for channel in range(3))
    luma = RED * red + (1 - RED - BLUE) * green + BLUE * blue
    to_blue, to_red = _half((blue - luma) / (2 * (1 - BLUE))), _half((red - luma) / (2 * (1 - RED)))
    planes: list[NDArray[Any]] = [BLACK + WHITE * luma, MIDDLE + COLORS * to_blue, MIDDLE + COLORS * to_red]
    return [np.clip(np.rint(plane), 0, 255).astype(np.uint8) for plane in planes]


def _half(plane: NDArray[Any]) -> NDArray[np.float32]:
    rows = (plane[::2] + plane[1::2]) / 2
    beside = np.pad(rows, ((0, 0), (1, 1)), mode="edge")
    return np.asarray((beside[:, :-2] + 2 * rows + beside[:, 2:])[:, ::2] / 4, np.float32)


class YuvWriter:
    """A file that takes frames one after the other; pictures lose their last row or column where that is odd."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "wb")  # noqa: SIM115  closed by `__exit__`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._file.close()

    def add(self, picture: NDArray[np.uint8]) -> None:
        """A frame (h, w, 3) of 8 bits."""
        for plane in yuv_planes(_even(picture)):
            self._file.write(plane.tobytes())

    def add_gray(self, values: NDArray[np.uint16]) -> None:
        """A frame (h, w) of 16 bits, the lower byte first, without colour."""
        luma = _even(values)
        self._file.write(luma.astype("<u2").tobytes())
        self._file.write(np.full(luma.size // 2, 1 << 15, "<u2").tobytes())


def _even(picture: NDArray[Value]) -> NDArray[Value]:
    return picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]


def even_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Width and height of the frames of pictures (h, w, …)."""
    return shape[1] // 2 * 2, shape[0] // 2 * 2
