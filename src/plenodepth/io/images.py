"""Images of 8 or 16 bits, and maps of floats. Arrays are (h, w) or (h, w, 3) in the order red, green, blue.

The format of a file that is read is told from its first bytes, that of a written one by its suffix.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.atomic import atomic_path
from plenodepth.io.image_formats import Image, read_images
from plenodepth.io.image_formats.files import open_binary, part
from plenodepth.io.image_formats.stored import Wanted, as_float32
from plenodepth.io.image_formats.tiff import TIFF, first_page

# OpenCV and tifffile are imported where they are used: a program that touches no image need not wait for them.

__all__ = ["FloatMap", "Image", "read_float_map", "read_image", "write_float_map", "write_image", "write_light"]

FloatMap = npt.NDArray[np.float32]

_TIFF_SUFFIXES = (".tif", ".tiff")


def read_image(path: Path | str) -> Image:
    """An image of any format that `read_images` knows, or the first frame of a sequence.

    It is uint8, uint16 or float32 as stored, (h, w) or (h, w, 3) RGB; video becomes RGB of uint16. Alpha is dropped,
    palettes are resolved, an orientation tag is ignored: a raw image stays as the sensor gave it.
    A file that is missing, truncated or no image is an `InputError`.
    """
    return next(read_images(path)).pixels


def write_image(image: Image, path: Path | str) -> None:
    """Writes uint8 or uint16 (h, w) or (h, w, 3) RGB without loss, as PNG or (deflated) TIFF by the suffix."""
    array = np.asarray(image)
    if array.dtype.type not in (np.uint8, np.uint16):
        raise InputError(f"is {array.dtype}", file=path, field="image", fix="give uint8 or uint16")
    color = array.ndim == 3 and array.shape[2] == 3
    if not (array.ndim == 2 or color) or not array.size:
        raise InputError(f"has the shape {array.shape}", file=path, field="image", fix="give (h, w) or (h, w, 3)")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    suffix = Path(path).suffix.lower()
    if suffix in _TIFF_SUFFIXES:
        _write_tiff(array, path, photometric="rgb" if color else "minisblack", compression="deflate")
    elif suffix == ".png":
        import cv2

        done, data = cv2.imencode(".png", np.ascontiguousarray(array[..., ::-1] if color else array))
        if not done:
            raise InputError(f"of {array.shape} cannot be made a PNG", file=path, field="image", fix="write a TIFF")
        with atomic_path(path) as temporary:
            temporary.write_bytes(data.tobytes())
    else:
        raise InputError(f"has the suffix '{suffix}'", file=path, fix="use .png, .tif or .tiff")


def read_float_map(path: Path | str) -> FloatMap:
    """A map (h, w) of float32 from a TIFF of floats; NaN, for missing, is kept."""
    with open_binary(path) as file:
        if not part(file, 0, 4).startswith(TIFF):
            raise InputError("is not a TIFF file", file=path, fix="give a map of floats, .tif")
        array = first_page(file, path, Wanted())
    if array.dtype.kind != "f" or array.ndim != 2:
        raise InputError(
            f"holds {array.dtype} of the shape {array.shape}", file=path, field="pixels", fix="give one float per pixel"
        )
    return np.ascontiguousarray(as_float32(array, path))


def write_float_map(array: npt.ArrayLike, path: Path | str, *, compressed: bool = True) -> None:
    """Writes a map (h, w) as a TIFF of float32; NaN means missing.

    Deflated without a predictor: ImageJ knows none for floats. Deflating takes ten times as long as writing.
    """
    values = np.asarray(array)
    if values.dtype.kind not in "fiu" or values.ndim != 2 or not values.size:
        raise InputError(
            f"is {values.dtype} of the shape {values.shape}", file=path, field="map", fix="give (h, w) numbers"
        )
    if Path(path).suffix.lower() not in _TIFF_SUFFIXES:
        raise InputError(f"has the suffix '{Path(path).suffix}'", file=path, fix="use .tif or .tiff")
    packing = "deflate" if compressed else None
    _write_tiff(as_float32(values, path), path, photometric="minisblack", compression=packing)


def write_light(light: npt.ArrayLike, path: Path | str) -> None:
    """Writes linear light (h, w, 3) as a TIFF of float32, or (h, w) or (h, w, 1) of gray; NaN means missing.

    `read_image` reads it again.
    """
    values = np.asarray(light)
    values = values[..., 0] if values.ndim == 3 and values.shape[2] == 1 else values
    color = values.ndim == 3 and values.shape[2] == 3
    if values.dtype.kind not in "fiu" or not (values.ndim == 2 or color) or not values.size:
        message = f"is {values.dtype} of the shape {values.shape}"
        raise InputError(message, file=path, field="light", fix="give (h, w), or (h, w, 3) in colour")
    if Path(path).suffix.lower() not in _TIFF_SUFFIXES:
        raise InputError(f"has the suffix '{Path(path).suffix}'", file=path, fix="use .tif or .tiff")
    _write_tiff(as_float32(values, path), path, photometric="rgb" if color else "minisblack", compression=None)


def _write_tiff(array: npt.NDArray[Any], path: Path | str, *, compression: str | None, **options: Any) -> None:
    import tifffile

    options |= {"metadata": None, "software": "plenodepth"}
    with atomic_path(path) as temporary:
        if compression is not None:
            tifffile.imwrite(temporary, array, compression=compression, **options)
            return
        # Room for the values first, then the values: tifffile would copy them, or let NumPy write them, whose errors do
        # not name a full disk.
        empty = {"shape": array.shape, "dtype": array.dtype, "returnoffset": True, **options}
        place = tifffile.imwrite(temporary, None, **empty)
        assert place is not None  # (offset, length), as asked for
        with temporary.open("r+b") as file:
            file.seek(place[0])
            file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
