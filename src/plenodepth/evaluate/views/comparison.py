"""Folders of rendered views against those of true ones, view by view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.files.views import VIEWS_FILE, ViewGeometry, load_views
from plenodepth.errors import InputError
from plenodepth.evaluate.views.edges import find_edges
from plenodepth.evaluate.views.sharpness import edge_sharpness
from plenodepth.evaluate.views.similarity import LUMINANCE, psnr, ssim
from plenodepth.io import read_float_map, read_image
from plenodepth.io.srgb import srgb_decoded, srgb_encoded
from plenodepth.progress import Progress, no_progress

Float32 = NDArray[np.float32]
Gain = Literal["none", "fit"]

LIGHT_SUFFIXES = (".light.tiff", ".tiff", ".png")  # linear light before what is coded for the eye
SAME_PIXELS = 0.01  # px: pinholes that differ by more do not see the same
SAME_PLACE = 0.001  # mm


@dataclass(frozen=True, eq=False)
class EdgeSharpness:
    """A straight edge of the true view: its middle in px, its depth in mm, and both views' MTF50 in cycles per px."""

    row: int
    column: int
    depth: float
    mtf50: float  # NaN where the view has a hole there, or no edge
    true_mtf50: float


@dataclass(frozen=True, eq=False)
class ViewComparison:
    """A rendered view against the true one; pixels without light do not count."""

    name: str
    psnr: float  # dB, of sRGB
    psnr_linear: float  # dB, of linear light
    ssim: float
    completeness: float  # share of the true view's pixels that have light
    edges: tuple[EdgeSharpness, ...]

    @property
    def mtf50(self) -> float:
        """Median over its edges, cycles per px; NaN without any."""
        values = [edge.mtf50 for edge in self.edges if math.isfinite(edge.mtf50)]
        return float(np.median(values)) if values else math.nan

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "name": self.name,
            "psnr_db": self.psnr,
            "psnr_linear_db": self.psnr_linear,
            "ssim": self.ssim,
            "completeness": self.completeness,
            "mtf50": self.mtf50,
            "edges": [vars(edge) for edge in self.edges],
        }


@dataclass(frozen=True, eq=False)
class ViewsComparison:
    """A folder of rendered views against a folder of true ones."""

    rendered: Path
    truth: Path
    views: tuple[ViewComparison, ...]
    gain: float  # that the rendered light was multiplied by; 1 unless it was to be fitted
    notes: tuple[str, ...]

    @property
    def mean_psnr(self) -> float:
        """Mean over the views, dB."""
        return float(np.mean([view.psnr for view in self.views]))

    def content(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "kind": "views",
            "rendered": str(self.rendered),
            "truth": str(self.truth),
            "gain": self.gain,
            "mean_psnr_db": self.mean_psnr,
            "mean_ssim": float(np.mean([view.ssim for view in self.views])),
            "views": [view.content() for view in self.views],
            "notes": list(self.notes),
        }


def compare_view(
    light: Float32, truth: Float32, depth: Float32 | None = None, *, name: str = "view", gain: float = 1.0
) -> ViewComparison:
    """Compare the linear light (h, w, 3 or 1) of a view, NaN where it has none, with the true light of the same pixels.

    `light` is multiplied by `gain` first; nothing else is fitted. `depth` (h, w) mm is the true view's: its outlines
    are not taken for straight edges.
    """
    found, true = _colors(light), _colors(truth)
    if light.shape[2] == 1:
        true = np.repeat(_gray(true)[..., None], 3, axis=2)
    found = np.where(np.isfinite(true), found * np.float32(gain), np.float32(np.nan))
    coded, true_coded = srgb_encoded(found), srgb_encoded(true)
    there, wanted = np.isfinite(found).all(axis=2), np.isfinite(true).all(axis=2)
    gray, true_gray = _gray(found), _gray(true)
    edges = []
    for edge in find_edges(true_gray, depth):
        best = edge_sharpness(true_gray[edge.window], edge.line)
        if best is None:
            continue
        measured = edge_sharpness(gray[edge.window], edge.line)
        middle = (edge.window[0].stop - edge.row) // 2
        mtf50 = math.nan if measured is None else measured.mtf50
        edges.append(EdgeSharpness(edge.row + middle, edge.column + middle, edge.depth, mtf50, best.mtf50))
    return ViewComparison(
        name,
        psnr(coded, true_coded),
        psnr(found, true),
        ssim(srgb_encoded(gray), srgb_encoded(true_gray)),
        float(there.sum() / max(1, wanted.sum())),
        tuple(edges),
    )


def compare_view_folders(
    rendered: Path | str, truth: Path | str, *, gain: Gain = "none", progress: Progress = no_progress
) -> ViewsComparison:
    """Compare rendered views with the true ones of the same names, or one view with one, whatever their names.

    Light is compared as it is stored. With `gain="fit"` all views' light is multiplied by one number first, the best in
    the least-squares sense; the result holds it.

    >>> plenodepth.evaluate.compare_view_folders("rendered", "truth").mean_psnr > 10
    True
    """
    rendered, truth = Path(rendered), Path(truth)
    notes: list[str] = []
    pairs = _pairs(rendered, truth, notes)
    factor = 1.0 if gain == "none" else _fitted_gain(rendered, truth, pairs, notes)
    views = []
    for number, (name, view) in enumerate(pairs):
        progress(number, len(pairs), name)
        light, true = _light(rendered, name, notes), _light(truth, view.name, notes)
        if light.shape[:2] != true.shape[:2]:
            sizes = " and ".join(f"{image.shape[1]} × {image.shape[0]}" for image in (light, true))
            raise InputError(f"are {sizes} px", file=rendered, field=name, fix="render the truth's pixels")
        depth = truth / f"{view.name}.depth.tiff"
        true_depth = read_float_map(depth) if depth.is_file() else None
        views.append(compare_view(light, true, true_depth, name=name, gain=factor))
    progress(len(pairs), len(pairs), "done")
    return ViewsComparison(rendered, truth, tuple(views), factor, tuple(dict.fromkeys(notes)))


def _pairs(rendered: Path, truth: Path, notes: list[str]) -> list[tuple[str, ViewGeometry]]:
    """Names of rendered views, each with its true view."""
    true = load_views(truth)
    if not rendered.is_dir():
        raise InputError("is no folder", file=rendered, fix="give the folder of rendered views")
    if not (rendered / VIEWS_FILE).is_file():
        names = [view for view in true if _file(rendered, view.name) is not None]
        if not names:
            raise InputError("is missing", file=rendered / VIEWS_FILE, fix="give a folder of rendered views")
        notes.append(f"{rendered} has no {VIEWS_FILE}: that its pinholes are the true ones is not known")
        return [(view.name, view) for view in names]
    found = load_views(rendered)
    known = {view.name: view for view in true}
    if len(found) == len(true) == 1:
        pairs = [(found[0], true[0])]
    else:
        pairs = [(view, known[view.name]) for view in found if view.name in known]
    if not pairs:
        message = f"has no view of {truth}: {', '.join(sorted(known)[:3])} …"
        raise InputError(message, file=rendered / VIEWS_FILE, fix="make the truth by simulate views --like")
    for view, other in pairs:
        _require_same(view, other, rendered)
    left = len(found) + len(true) - 2 * len(pairs)
    if left:
        notes.append(f"{left} views are in one of the folders only")
    return [(view.name, other) for view, other in pairs]


def _require_same(view: ViewGeometry, true: ViewGeometry, folder: Path) -> None:
    ours, theirs = view.pinhole, true.pinhole
    if ours is None or theirs is None:
        message = "has no pinhole: its camera is known by its lens grid only"
        raise InputError(message, file=folder / VIEWS_FILE, field=view.name, fix="render with a calibrated camera")
    # A focal length that differs moves pixels by their distance from the axis.
    stretch = max(abs(ours.fx / theirs.fx - 1), abs(ours.fy / theirs.fy - 1))
    moved = max(abs(ours.cx - theirs.cx), abs(ours.cy - theirs.cy)) + stretch * max(true.shape)
    apart = float(np.linalg.norm(ours.center - theirs.center))
    if view.shape != true.shape or moved > SAME_PIXELS or apart > SAME_PLACE:
        message = f"is not the true view: {view.width} × {view.height} px against {true.width} × {true.height}, "
        message += f"pixels {moved:.3g} px and pinholes {apart:.3g} mm apart"
        fix = f"make the truth by simulate views --like {folder}"
        raise InputError(message, file=folder / VIEWS_FILE, field=view.name, fix=fix)


def _file(folder: Path, name: str) -> Path | None:
    return next((path for suffix in LIGHT_SUFFIXES if (path := folder / f"{name}{suffix}").is_file()), None)


def _light(folder: Path, name: str, notes: list[str]) -> Float32:
    """Linear light (h, w, 3 or 1) of a view; black pixels of an 8-bit picture may be holes, and count as black."""
    path = _file(folder, name)
    if path is None:
        suffixes = " or ".join(LIGHT_SUFFIXES)
        raise InputError(f"is missing, as {suffixes}", file=folder / name, fix="write the light of every view")
    pixels = read_image(path)
    if pixels.dtype == np.uint8:
        notes.append(f"{folder}: 8-bit pictures are taken for sRGB")
        light = srgb_decoded(np.asarray(pixels, np.uint8))
    elif pixels.dtype == np.uint16:
        notes.append(f"{folder}: 16-bit pictures are taken for linear light")
        light = (pixels / np.float32(65535)).astype(np.float32)
    else:
        light = np.asarray(pixels, np.float32)
    return light if light.ndim == 3 else light[..., None]


def _fitted_gain(rendered: Path, truth: Path, pairs: Sequence[tuple[str, ViewGeometry]], notes: list[str]) -> float:
    products = squares = 0.0
    for name, view in pairs:
        light, true = _light(rendered, name, notes).astype(np.float64), _light(truth, view.name, notes)
        if light.shape[:2] != true.shape[:2]:
            continue  # said where they are compared
        products += float(np.nansum(light * true))
        squares += float(np.nansum(np.where(np.isfinite(true), light, np.nan) ** 2 * np.ones(true.shape[2])))
    return products / squares if squares else 1.0


def _colors(light: Float32) -> Float32:
    return np.repeat(light, 3, axis=2) if light.shape[2] == 1 else light


def _gray(light: Float32) -> Float32:
    return np.asarray(light @ LUMINANCE.astype(np.float32))
