"""What the viewer shows as points: a cloud in mm, or the relief of a map of virtual depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.io import read_cloud, read_ply
from plenodepth.view.browser.folder import require_readable_size

Float32 = NDArray[np.float32]
UInt8 = NDArray[np.uint8]

RELIEF_DEPTH = 0.5  # of the map's width lies between the ends of a relief's depths
ENDS = (0.01, 0.99)  # quantiles at the ends of colours and reliefs
SAMPLE = 200_000  # values are enough to tell a quantile


@dataclass(frozen=True, eq=False)
class ShownCloud:
    """n points, and of each what is known; a column is None where the file does not hold it."""

    points: Float32  # (n, 3) mm in the camera frame; of a relief: px of the map, and depth as height
    depth: Float32  # (n,) mm, or virtual depth
    colors: UInt8 | None  # (n, 3) sRGB
    confidence: Float32 | None  # (n,)
    sigma: Float32 | None  # (n,) of the depth
    metric: bool  # whether the points are in mm
    error: Float32 | None = None  # (n,) mm against a truth; NaN where the truth says nothing
    shape: tuple[int, int] | None = None  # (h, w) of the map that is a relief

    def __len__(self) -> int:
        return len(self.points)

    @property
    def unit(self) -> str:
        """Of depth and σ."""
        return "mm" if self.metric else "virtual depth"

    def column(self, name: str) -> Float32 | None:
        """A column by its name: depth, confidence, sigma or error."""
        values: Float32 | None = getattr(self, name)
        return values

    @cached_property
    def levels(self) -> UInt8:
        """The level (n,) of each point: half of all have 0 alone, a quarter reach 1, an eighth 2, and so on.

        Evenly spread and the same in every run, so that a thinned cloud keeps its points when it is thinned further.
        """
        bits = np.random.default_rng(0).integers(1, 1 << 16, len(self), dtype=np.uint16)
        lowest = bits & (~bits + np.uint16(1))  # the lowest bit that is set
        return np.asarray(np.round(np.log2(lowest, dtype=np.float32)), np.uint8)

    @cached_property
    def ends(self) -> dict[str, tuple[float, float]]:
        """Low and high quantile of the finite values of each column that there is."""
        found = {}
        for name in ("depth", "confidence", "sigma", "error"):
            values = self.column(name)
            if values is not None and (ends := quantiles(values, ENDS)) is not None:
                found[name] = ends
        return found

    def part(self, index: NDArray[Any]) -> ShownCloud:
        """The points with these indices."""

        def of(values: NDArray[Any] | None) -> Any:
            return None if values is None else values[index]

        return replace(
            self,
            points=self.points[index],
            depth=self.depth[index],
            colors=of(self.colors),
            confidence=of(self.confidence),
            sigma=of(self.sigma),
            error=of(self.error),
        )


def quantiles(values: NDArray[Any], which: tuple[float, float]) -> tuple[float, float] | None:
    """Two quantiles of the finite values; None where there are none."""
    thinned = values[:: max(1, len(values) // SAMPLE)]
    thinned = thinned[np.isfinite(thinned)]
    if not thinned.size:
        return None
    low, high = np.quantile(thinned, which)
    return float(low), float(high)


def load_shown_cloud(path: Path) -> ShownCloud:
    """The cloud of a file, in mm: a .ply with its columns, or any other cloud with its colours."""
    require_readable_size(path)
    if path.suffix.lower() != ".ply":
        cloud = read_cloud(path)
        points = cloud.points.astype(np.float32)
        return ShownCloud(points, points[:, 2].copy(), cloud.colors, None, None, metric=True)
    vertices = read_ply(path)
    points = vertices["points"].astype(np.float32)
    if not len(points):
        raise InputError("holds no points", file=path, fix="give a cloud with points")
    confidence, sigma = (
        vertices[name].astype(np.float32, copy=False) if name in vertices else None for name in ("confidence", "sigma")
    )
    return ShownCloud(points, points[:, 2].copy(), vertices.get("colors"), confidence, sigma, metric=True)


def relief(depth: Float32, *, colors: UInt8 | None, confidence: Float32 | None, sigma: Float32 | None) -> ShownCloud:
    """A map (h, w) of virtual depth as points: its pixels, and the depth as height behind them.

    Virtual depth has no unit: the depths between their ends take half the map's width. The highest is the nearest, in
    Galilean cameras (v > 0) as in Keplerian ones (v < 0).
    """
    there = np.isfinite(depth)
    row, column = np.nonzero(there)
    if not row.size:
        raise InputError("has no depth", field="virtual depth", fix="choose another frame")
    values = depth[there]
    found = quantiles(values, ENDS)
    low, high = found if found is not None else (0.0, 1.0)
    width = depth.shape[1]
    part = (values - np.float32(low)) / np.float32(max(high - low, 1e-6))
    height = RELIEF_DEPTH * width * (1 - part)
    points = np.stack([column - width / 2, row - depth.shape[0] / 2, width + height], axis=1).astype(np.float32)

    def of(values: NDArray[Any] | None) -> Any:
        return None if values is None else values[there]

    return ShownCloud(points, values, of(colors), of(confidence), of(sigma), metric=False, shape=depth.shape)
