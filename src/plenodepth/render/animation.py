"""Views as an animation: GIF, or MP4 by PyAV."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.io import atomic_path

FORMATS = (".gif", ".mp4")
COLORS = 256


def sweep_places(count: int, span: float) -> dict[str, tuple[float, float]]:
    """Places on a circle about the pupil's middle, in its radii, by the names of their views."""
    if count < 2:
        raise InputError(f"is {count}, needs at least 2", field="count")
    if not 0 < span <= 1:
        raise InputError(f"is {span:g}, which is not within the pupil", field="span", fix="give 0 … 1 radii")
    angles = 2 * math.pi * np.arange(count) / count
    return {f"view-{n:03d}": (span * math.cos(a), span * math.sin(a)) for n, a in enumerate(angles.tolist())}


def require_format(path: Path) -> None:
    """Refuse what cannot be written, before any view is rendered."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"ends in '{path.suffix}'", file=path, fix=f"use {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".mp4":
        try:
            import av  # noqa: F401
        except ImportError:
            raise InputError(
                "needs PyAV to be written", file=path, fix="install plenodepth[video], or write a .gif"
            ) from None


def write_animation(pictures: Iterable[NDArray[np.uint8]], path: Path, *, rate: float = 12.0) -> None:
    """Write pictures (h, w, 3), sRGB, as an animation that goes on for ever (GIF) or plays once (MP4, H.264)."""
    require_format(path)
    if path.suffix.lower() == ".gif":
        _write_gif([np.asarray(picture) for picture in pictures], path, rate)
    else:
        _write_mp4(pictures, path, rate)


def _write_gif(pictures: list[NDArray[np.uint8]], path: Path, rate: float) -> None:
    from PIL import Image

    frames = [Image.fromarray(picture).quantize(COLORS) for picture in pictures]
    with atomic_path(path) as unfinished:
        first, *others = frames
        first.save(unfinished, format="GIF", save_all=True, append_images=others, duration=round(1000 / rate), loop=0)


def _write_mp4(pictures: Iterable[NDArray[np.uint8]], path: Path, rate: float) -> None:
    import av

    with atomic_path(path) as unfinished, av.open(str(unfinished), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=round(rate))
        stream.pix_fmt, stream.options = "yuv420p", {"crf": "18"}
        for picture in pictures:
            even = np.ascontiguousarray(picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2])
            if not stream.codec_context.is_open:
                stream.height, stream.width = even.shape[:2]
            for packet in stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
