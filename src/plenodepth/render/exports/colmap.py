"""A COLMAP workspace: pictures, a sparse model as text, and depth maps as COLMAP's stereo writes them.

Metres. The middle of the first pixel is at (½, ½); x right, y down, z forwards. The world is the camera frame.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.render.exports.pixels import ColoredPoints, MetricView, colored_points, write_picture

MOST_POINTS = 20_000
SAME_SURFACE = 0.02  # of the depth: a point this much off a view's own is not seen by it
MODEL = Path("sparse/0")
DEPTH_MAPS = Path("stereo/depth_maps")


def write_colmap(views: list[MetricView], folder: Path) -> None:
    """images/, sparse/0/{cameras,images,points3D}.txt and stereo/depth_maps/NAME.png.geometric.bin."""
    for inner in (Path("images"), MODEL, DEPTH_MAPS):
        (folder / inner).mkdir(parents=True)
    middle = views[len(views) // 2]
    found = colored_points(middle, max(1, int(np.ceil(np.sqrt(middle.depth.size / MOST_POINTS)))))
    places = [_seen(view, found.points) for view in views]
    cameras, images = [], []
    for number, (view, place) in enumerate(zip(views, places, strict=True), 1):
        write_picture(view, folder / "images" / f"{view.name}.png")
        _write_depth(view.depth, folder / DEPTH_MAPS / f"{view.name}.png.geometric.bin")
        (width, height), eye = view.size, view.pinhole
        numbers = (eye.fx, eye.fy, eye.cx + 0.5, eye.cy + 0.5)
        cameras.append(f"{number} PINHOLE {width} {height} " + " ".join(f"{value:.17g}" for value in numbers))
        away = " ".join(f"{-value / 1000:.17g}" for value in eye.center)
        images.append(f"{number} 1 0 0 0 {away} {number} {view.name}.png")
        seen = np.flatnonzero(np.isfinite(place[:, 0]))
        images.append(" ".join(f"{place[i, 0] + 0.5:.3f} {place[i, 1] + 0.5:.3f} {i + 1}" for i in seen))
    (folder / MODEL / "cameras.txt").write_text("\n".join(cameras) + "\n")
    (folder / MODEL / "images.txt").write_text("\n".join(images) + "\n")
    (folder / MODEL / "points3D.txt").write_text(_points(found, places))


def _seen(view: MetricView, points: NDArray[np.float32]) -> NDArray[np.float64]:
    """Column and row (n, 2) of points (n, 3) mm in a view; NaN for those that it does not see."""
    place = view.pinhole.places(points)
    width, height = view.size
    inside = np.all((place > -0.5) & (place < np.array([width, height]) - 0.5), axis=1)
    column, row = np.rint(np.where(np.asarray(inside)[:, None], place, 0)).astype(int).T
    depth = points[:, 2] - view.pinhole.center[2]
    with np.errstate(invalid="ignore"):
        shown = inside & (np.abs(view.depth[row, column] - depth) <= SAME_SURFACE * depth)
    return np.where(shown[:, None], place, np.nan)


def _points(found: ColoredPoints, places: list[NDArray[np.float64]]) -> str:
    """Number, x, y, z, colour, error and track of every point; a track holds an image and its point's index there."""
    shown = np.isfinite(np.stack([place[:, 0] for place in places]))  # (views, n)
    index = np.cumsum(shown, axis=1) - 1
    rows = []
    for i, (point, color) in enumerate(zip(found.points / 1000, found.colors, strict=True)):
        track = [f"{image + 1} {index[image, i]}" for image in np.flatnonzero(shown[:, i])]
        x, y, z = (f"{value:.9g}" for value in point.tolist())
        rows.append(f"{i + 1} {x} {y} {z} {color[0]} {color[1]} {color[2]} 0 {' '.join(track)}")
    return "\n".join(rows) + "\n"


def _write_depth(depth: NDArray[np.float32], path: Path) -> None:
    """COLMAP's matrix: width&height&channels& and float32 row by row; metres, 0: none."""
    height, width = depth.shape
    metres = np.ascontiguousarray(np.nan_to_num(depth / np.float32(1000)), "<f4")
    path.write_bytes(f"{width}&{height}&1&".encode() + metres.tobytes())
