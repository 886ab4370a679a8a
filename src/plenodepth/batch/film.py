"""A video of a sequence: the dense view, all in focus, and its depth beside it, in the same colours in all frames."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.batch.manifest import Entry
from plenodepth.errors import InputError
from plenodepth.io import atomic_path, read_float_map, read_image
from plenodepth.io.image_formats.files import extra_package
from plenodepth.metric.picture import MISSING, color_index, color_table, depth_colors

LOOKED_AT = 20  # frames, for the ends of the colours
VALUES = 10_000  # of each
CODEC, QUALITY = "libx264", "18"  # constant rate factor: no loss that the eye sees
SUFFIXES = (".mp4", ".mkv", ".mov")

RGB = NDArray[np.uint8]


def require_film(path: Path, *, dense: bool) -> None:
    """Refuse a film that cannot be made: before the frames are, not after."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"ends in '{path.suffix}'", file=path, field="--video", fix=f"give {', '.join(SUFFIXES)}")
    if not dense:
        raise InputError("shows the dense view, which is not made", field="--video", fix="give --dense, too")
    extra_package("av", "video", path)


def write_film(entries: Sequence[Entry], folder: Path, path: Path, *, rate: float = 30.0) -> None:
    """Write a video (H.264) of the frames of a batch, in their order; one that failed is dark.

    Near is bright. The ends of the colours are quantiles of all depths, so that a colour is a depth, in every frame.
    """
    av = extra_package("av", "video", path)
    made = [entry for entry in entries if not entry.error]
    if not made:
        raise InputError("has no frame to show", file=path)
    sample = [
        _depth(made[index], folder) for index in np.linspace(0, len(made) - 1, min(len(made), LOOKED_AT), dtype=int)
    ]
    values = np.concatenate([some[np.isfinite(some)][:: max(1, some.size // VALUES)] for some in sample])
    ends = depth_colors(values) if values.size else {"vmin": 0.0, "vmax": 1.0}
    height, width = (2 * (side // 2) for side in sample[0].shape)  # H.264 halves the colours
    with atomic_path(path) as temporary, av.open(str(temporary), "w") as container:
        stream = container.add_stream(CODEC, rate=Fraction(rate).limit_denominator(1001), options={"crf": QUALITY})
        stream.width, stream.height, stream.pix_fmt = 2 * width, height, "yuv420p"
        for entry in entries:
            picture = np.zeros((height, 2 * width, 3), np.uint8)
            if not entry.error:
                shown = _side_by_side(entry, folder, ends)
                rows, columns = min(height, shown.shape[0]), min(width, shown.shape[1] // 2)
                picture[:rows, :columns] = shown[:rows, :columns]
                picture[:rows, width : width + columns] = shown[:rows, shown.shape[1] // 2 :][:, :columns]
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def _side_by_side(entry: Entry, folder: Path, ends: dict[str, float]) -> RGB:
    """The view and its depth in colours (h, 2 w, 3)."""
    depth = _depth(entry, folder)
    colors = color_table(near_is_low="median_z_mm" in entry.statistics)[color_index(depth, ends)]
    colors[~np.isfinite(depth)] = tuple(bytes.fromhex(MISSING[1:]))
    view: Any = read_image(_file(entry, folder, "view.png"))
    if view.ndim == 2:
        view = view[..., None].repeat(3, axis=2)
    return np.concatenate([np.asarray(view, np.uint8), colors], axis=1)


def _depth(entry: Entry, folder: Path) -> NDArray[np.float32]:
    return read_float_map(_file(entry, folder, "dense.tiff"))


def _file(entry: Entry, folder: Path, suffix: str) -> Path:
    return folder / entry.frame / f"{entry.frame.rsplit('/', 1)[-1]}.{suffix}"
