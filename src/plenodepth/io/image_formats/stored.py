"""What every image format gives, what a caller may ask of it, and what no file may ask of the memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.budget import require_memory

Image = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.float32]

TRUNCATED = "the file is damaged or truncated: copy it again"
# Deflate packs at most 1 : 1032, LZW about 1 : 1400; a header that promises more is damaged, and would fill the memory.
LARGEST_PACKING = 10_000


@dataclass(frozen=True, eq=False)
class StoredImage:
    """One image, or one frame of a sequence, with what its file says about the numbers.

    What is None the file does not say.
    """

    pixels: Image  # (h, w), or (h, w, 3) in the order red, green, blue
    name: str  # the stem of the file; in a sequence with the frame, counted from 0: clip-00012
    bayer: str | None = None  # the colour filters of a mosaic (h, w): "GRBG" are the first two of row 0 and of row 1
    black_level: float | None = None  # what the sensor counts without light, as a part of full scale
    full_scale: float | None = None  # the largest number that a pixel can hold
    warning: str = ""  # what a user should know, to follow the name of the file: "is a JPEG, …"


@dataclass(frozen=True)
class Wanted:
    """What the caller of a reader asks for."""

    frames: slice | None = None
    size: tuple[int, int] | None = None  # (width, height), of files that do not tell it
    bits: int | None = None  # of one number, of files that do not tell it

    def numbers(self, count: int, path: Path | str) -> range:
        """The frames to read of `count`; none at all is an error."""
        numbers = range(count)[self.frames or slice(None)]
        if not numbers:
            frames = f"has {count} frame{'s' if count > 1 else ''}, none of which was asked for"
            raise InputError(frames, file=path, field="frames", fix="the first frame is 0")
        return numbers


def frame_name(path: Path | str, number: int) -> str:
    """The name of a frame of a sequence."""
    return f"{Path(path).stem}-{number:05d}"


def check_size(width: int, height: int, path: Path | str, *, stored: int | None, pixel_bytes: int) -> None:
    """Refuse a header that promises more pixels than `stored` bytes can hold, or more memory than a file may take.

    A pixel takes `pixel_bytes` of the memory. `stored` is None where the size of the file says nothing, as of a video.
    """
    if width < 1 or height < 1:
        raise InputError(f"says that it is {width} × {height}", file=path, field="size", fix=TRUNCATED)
    if stored is not None and width * height > LARGEST_PACKING * stored:
        message = f"ends before its last pixel: {width} × {height} do not fit into {stored} bytes"
        raise InputError(message, file=path, fix=TRUNCATED)
    require_memory(width * height * pixel_bytes, path, stored=stored or 0, field=f"size {width} × {height}")


def tidy(image: npt.NDArray[Any], path: Path | str) -> Image:
    """The numbers without alpha, in this machine's byte order; what is not 8 or 16 bits nor float is refused."""
    if image.ndim == 3:  # gray with alpha, RGB, RGB with alpha
        image = image[..., 0] if image.shape[2] < 3 else image[..., :3]
    if image.dtype.kind == "f":
        return np.ascontiguousarray(as_float32(image, path, field="pixels"))
    if image.dtype not in (np.uint8, np.uint16):
        message = f"holds {image.dtype}, not 8 or 16 bits without sign"
        raise InputError(message, file=path, field="pixels", fix="convert it to 8 or 16 bits")
    return np.ascontiguousarray(image, image.dtype.newbyteorder("="))


def as_float32(values: npt.NDArray[Any], path: Path | str, *, field: str = "map") -> npt.NDArray[np.float32]:
    """Numbers as float32; one beyond its range is refused."""
    if values.dtype == np.float32:  # also in another byte order
        return values.astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
    if np.isinf(single).any() and not np.array_equal(np.isinf(single), np.isinf(values)):
        raise InputError("holds a number beyond the range of float32", file=path, field=field, fix="change the unit")
    return single
