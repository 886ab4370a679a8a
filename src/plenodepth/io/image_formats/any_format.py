"""One front door to images and sequences of any format, told by the first bytes, or by the suffix if they tell nothing.

PNG, TIFF, JPEG, BMP, PGM, PPM and OpenEXR; camera raws (with the extra `raw`) and Lytro's containers; YUV 4:2:0 and
video (with the extra `video`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from plenodepth.errors import InputError
from plenodepth.io.image_formats.camera_raw import CAMERA_RAW_SUFFIXES, camera_raw_size, read_camera_raw
from plenodepth.io.image_formats.exr import EXR, exr_size, read_exr_image
from plenodepth.io.image_formats.files import open_binary, part
from plenodepth.io.image_formats.lytro import LYTRO, lytro_size, read_lytro
from plenodepth.io.image_formats.png import PNG, png_size, read_png
from plenodepth.io.image_formats.pnm import PNM, pnm_size, read_pnm
from plenodepth.io.image_formats.still import (
    BMP,
    JPEG,
    bmp_size,
    jpeg_size,
    read_bmp,
    read_jpeg,
)
from plenodepth.io.image_formats.stored import StoredImage, Wanted
from plenodepth.io.image_formats.tiff import TIFF, is_dng, read_tiff, tiff_count, tiff_size
from plenodepth.io.image_formats.video import VIDEO_SUFFIXES, read_video, video_count, video_packets, video_size
from plenodepth.io.image_formats.yuv import read_yuv, yuv_count, yuv_size

_MATROSKA, _AVI = b"\x1a\x45\xdf\xa3", b"AVI "
_NO_VIDEO = (b"avif", b"crx ", b"heic", b"heix", b"mif1")  # pictures in the container of MP4


def _one(file: BinaryIO, path: Path | str, wanted: Wanted) -> int | None:
    return 1


@dataclass(frozen=True)
class _Format:
    read: Callable[[BinaryIO, Path | str, Wanted], Iterator[StoredImage]]
    size: Callable[[BinaryIO, Path | str, Wanted], tuple[int, int]]  # (width, height)
    count: Callable[[BinaryIO, Path | str, Wanted], int | None] = _one  # of frames; None: not known before the end


_CAMERA_RAW = _Format(read_camera_raw, camera_raw_size)
_TIFF_PAGES = _Format(read_tiff, tiff_size, tiff_count)
_VIDEO = _Format(read_video, video_size, video_count)
_YUV = _Format(read_yuv, yuv_size, yuv_count)
_BY_START = {
    PNG: _Format(read_png, png_size),
    JPEG: _Format(read_jpeg, jpeg_size),
    BMP: _Format(read_bmp, bmp_size),
    EXR: _Format(read_exr_image, exr_size),
    LYTRO: _Format(read_lytro, lytro_size),
    **dict.fromkeys(PNM, _Format(read_pnm, pnm_size)),
}


def read_images(
    path: Path | str,
    *,
    frames: slice | None = None,
    size: tuple[int, int] | None = None,
    bits: int | None = None,
) -> Iterator[StoredImage]:
    """The image of a file, or the frames of a sequence (a TIFF of several pages, YUV, video), one at a time.

    `frames` are those to read, counted from 0. `size` (width, height) and `bits` (8 to 16) describe a .yuv file whose
    name does not. Errors come when the frame that they concern is read.

    Numbers are given as stored, uint8, uint16 or float32, but for the YUV of videos, which becomes RGB of uint16 with
    the full scale 65535; its gamma is not undone, and the frame's `warning` says so. A mosaic is not demosaiced.

    A file that is missing or damaged, or a frame that takes more memory than `io.budget` allows, is an `InputError`.

    >>> for image in plenodepth.io.image_formats.read_images("clip.mkv", frames=slice(0, 20, 10)):
    ...     print(image.name, image.pixels.shape)
    clip-00000 (2048, 2048, 3)
    clip-00010 (2048, 2048, 3)
    """
    wanted = Wanted(frames, size, bits)
    with open_binary(path) as file:
        yield from _format_of(file, path).read(file, path, wanted)


def is_sequence(path: Path | str, *, size: tuple[int, int] | None = None, bits: int | None = None) -> bool:
    """Whether a file may hold more than one frame; every video may."""
    return frame_count(path, size=size, bits=bits) != 1 or Path(path).suffix.lower() in VIDEO_SUFFIXES


def frame_count(path: Path | str, *, size: tuple[int, int] | None = None, bits: int | None = None) -> int | None:
    """The number of frames in a file; None for a video that does not tell it."""
    with open_binary(path) as file:
        return _format_of(file, path).count(file, path, Wanted(size=size, bits=bits))


def counted_frames(path: Path | str, *, size: tuple[int, int] | None = None, bits: int | None = None) -> int:
    """The number of frames in a file; a video that does not tell it is read through, without being decoded."""
    count = frame_count(path, size=size, bits=bits)
    if count is not None:
        return count
    with open_binary(path) as file:
        return video_packets(file, path, Wanted(size=size, bits=bits))


def image_size_of(path: Path | str, *, size: tuple[int, int] | None = None, bits: int | None = None) -> tuple[int, int]:
    """(width, height) of an image or of the first frame of a sequence, from the header: no pixel is decoded."""
    with open_binary(path) as file:
        return _format_of(file, path).size(file, path, Wanted(size=size, bits=bits))


def _format_of(file: BinaryIO, path: Path | str) -> _Format:
    start, suffix = part(file, 0, 16), Path(path).suffix.lower()
    if not start:
        raise InputError("is empty", file=path, fix="give an image file")
    if suffix == ".yuv":  # it begins with pixels, which may look like anything
        return _YUV
    if suffix in CAMERA_RAW_SUFFIXES:  # most of them are TIFF files to the eye
        return _CAMERA_RAW
    if start.startswith(TIFF):
        return _CAMERA_RAW if is_dng(file) else _TIFF_PAGES
    for magic, known in _BY_START.items():
        if start.startswith(magic):
            return known
    container = start[4:8] == b"ftyp" and start[8:12] not in _NO_VIDEO
    if suffix in VIDEO_SUFFIXES or container or start.startswith(_MATROSKA) or start[8:12] == _AVI:
        return _VIDEO
    formats = "PNG, TIFF, JPEG, BMP, PGM, PPM, EXR, DNG, LFP, YUV or video"
    raise InputError("is not a PNG, TIFF, JPEG or other known image", file=path, fix=f"give {formats}")
