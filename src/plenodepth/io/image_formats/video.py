"""Video through PyAV: whatever FFmpeg decodes, as H.264, FFV1 or VVC, one frame in memory at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from plenodepth.errors import InputError
from plenodepth.io.budget import memory_per_file
from plenodepth.io.image_formats.files import extra_package, size_of
from plenodepth.io.image_formats.stored import TRUNCATED, Image, StoredImage, Wanted, check_size, frame_name, tidy
from plenodepth.io.image_formats.video_colors import (
    FULL_SCALE,
    GAMMA,
    RGB_OF_16_BITS,
    Matrix,
    light_from_luma,
    rgb_from_yuv,
)
from plenodepth.io.image_formats.video_frames import NO_REPAIR, decodable, video_frames

# Elementary streams have no header that tells them apart.
STREAMS = {
    **dict.fromkeys((".vvc", ".266", ".h266"), "vvc"),
    **dict.fromkeys((".hevc", ".265", ".h265"), "hevc"),
    **dict.fromkeys((".264", ".h264", ".avc"), "h264"),
}
CONTAINERS = (".avi", ".ivf", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mxf", ".nut", ".ogv", ".ts")
VIDEO_SUFFIXES = (*STREAMS, *CONTAINERS, ".webm", ".wmv", ".y4m")

_PLANAR = re.compile(r"yuvj?4(?:20|22|40|44)p(?:(\d+)le)?")
_GRAY = re.compile(r"gray(?:(\d+)le)?")
_MOSAIC = re.compile(r"bayer_([bgr]{4})(8|16)(?:le)?")
_MATRICES: dict[int, Matrix] = {5: "BT.601", 6: "BT.601", 9: "BT.2020"}  # FFmpeg's numbers; all others are BT.709
_LIMITED, _FULL = 1, 2  # ranges
_ANY_ENDING = 1 << 62


class _Numbers(NamedTuple):
    pixels: Image
    full_scale: float
    bayer: str | None = None
    gamma: bool = False


def read_video(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[StoredImage]:
    """The frames of a video, without rotation.

    YUV becomes RGB (h, w, 3) uint16, where 65535 is full scale, by the matrix and the range that the video names, else
    by BT.709 of limited range; its gamma is not undone. RGB, gray and mosaics are given as they are stored.
    A damage that shows is an error: see `video_frames`.
    """
    first, last, step = _steps(wanted.frames, path)
    with _open_video(file, path, wanted) as (container, stream):
        lossy = bool(stream.codec_context.codec.lossy)
        number, given = -1, 0
        for number, frame in enumerate(video_frames(file, container, stream, path)):
            if number >= last:
                break
            if number < first or (number - first) % step:
                continue
            check_size(frame.width, frame.height, path, stored=None, pixel_bytes=RGB_OF_16_BITS)
            numbers = _numbers(frame, path)
            warning = GAMMA if numbers.gamma else "is video" if lossy else ""
            warning += ", and compressed with loss" if lossy else ""
            yield StoredImage(
                numbers.pixels,
                frame_name(path, number),
                bayer=numbers.bayer,
                full_scale=numbers.full_scale,
                warning=warning,
            )
            given += 1
            if number + step >= last:
                break  # what follows need not be in order
    if number < 0:
        raise InputError("holds no frame that can be decoded", file=path, fix=TRUNCATED)
    if not given:
        wanted.numbers(number + 1, path)  # which says what is wrong


def video_size(file: BinaryIO, path: Path | str, wanted: Wanted) -> tuple[int, int]:
    """(width, height) from the header."""
    with _open_video(file, path, wanted) as (_, stream):
        return int(stream.codec_context.width), int(stream.codec_context.height)


def video_count(file: BinaryIO, path: Path | str, wanted: Wanted) -> int | None:
    """The number of frames, where the container tells it."""
    with _open_video(file, path, wanted) as (_, stream):
        return int(stream.frames) or None


def video_packets(file: BinaryIO, path: Path | str, wanted: Wanted) -> int:
    """The number of frames, by counting the packets that hold one: the whole file is read, and nothing decoded."""
    with _open_video(file, path, wanted) as (container, stream), decodable(path):
        return sum(1 for packet in container.demux(stream) if packet.size and not packet.is_discard)


def _steps(frames: slice | None, path: Path | str) -> tuple[int, int, int]:
    """First frame, the one after the last, and step; a video is read forwards and does not tell where it ends."""
    asked = frames or slice(None)
    first, step = asked.start or 0, 1 if asked.step is None else asked.step
    last = _ANY_ENDING if asked.stop is None else asked.stop
    if first < 0 or last < 0 or step < 1:
        message = "is a video, whose frames are counted from the first one"
        raise InputError(message, file=path, field="frames", fix="give numbers from 0 on, and a step from 1 on")
    return first, last, step


@contextmanager
def _open_video(file: BinaryIO, path: Path | str, wanted: Wanted) -> Iterator[tuple[Any, Any]]:
    av = extra_package("av", "video", path)
    size_of(file)
    with decodable(path):
        # The open file, not its name: FFmpeg takes some names for addresses.
        container = av.open(file, format=STREAMS.get(Path(path).suffix.lower()))
    with container:
        if not container.streams.video:
            raise InputError("holds no video", file=path, fix="give a video")
        stream = container.streams.video[0]
        context = stream.codec_context
        if context is None:
            raise InputError("is coded in a way that FFmpeg does not know", file=path, fix="convert it to FFV1")
        check_size(context.width, context.height, path, stored=None, pixel_bytes=RGB_OF_16_BITS)
        context.options = {"max_pixels": str(memory_per_file() // RGB_OF_16_BITS), **NO_REPAIR}
        yield container, stream


def _numbers(frame: Any, path: Path | str) -> _Numbers:
    name = frame.format.name
    bits = max(component.bits for component in frame.format.components)
    if name in ("nv12", "nv21"):  # the same numbers in another order, as hardware gives them
        frame, name = frame.reformat(format="yuv420p"), "yuv420p"
    if mosaic := _MOSAIC.fullmatch(name):
        depth = int(mosaic.group(2))
        return _Numbers(tidy(_plane(frame, 0, depth).copy(), path), 2.0**depth - 1, bayer=mosaic.group(1).upper())
    if _GRAY.fullmatch(name):
        luma = _plane(frame, 0, bits)
        if frame.color_range == _LIMITED:
            return _Numbers(light_from_luma(luma, bits=bits), FULL_SCALE, gamma=True)
        return _Numbers(tidy(luma.copy(), path), 2.0**bits - 1)
    if frame.format.is_rgb or name == "pal8":
        with decodable(path):
            planar = re.fullmatch(r"gbrp\d+le", name) is not None  # of these, red, green and blue are given as they are
            pixels = frame.to_ndarray() if planar else frame.to_ndarray(format="rgb24" if bits <= 8 else "rgb48le")
        return _Numbers(tidy(pixels, path), 2.0**bits - 1 if planar or bits <= 8 else FULL_SCALE)
    if not _PLANAR.fullmatch(name):
        with decodable(path):
            frame, bits = frame.reformat(format="yuv444p16le"), 16
    luma, to_blue, to_red = (_plane(frame, number, bits) for number in range(3))
    matrix = _MATRICES.get(int(frame.colorspace), "BT.709")
    full = frame.color_range == _FULL or name.startswith("yuvj")
    pixels = rgb_from_yuv(luma, (to_blue, to_red), bits=bits, matrix=matrix, full_range=full)
    return _Numbers(pixels, FULL_SCALE, gamma=True)


def _plane(frame: Any, number: int, bits: int) -> npt.NDArray[Any]:
    """The numbers (h, w) of a plane, in the memory of FFmpeg, which needs them for other frames; rows may be longer."""
    plane = frame.planes[number]
    numbers = np.frombuffer(plane, np.uint8 if bits <= 8 else np.dtype("<u2"))
    return numbers.reshape(plane.height, -1)[:, : plane.width]
