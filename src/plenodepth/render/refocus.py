"""Pictures focused at a chosen depth, with the blur of an aperture: the view in focus everywhere, blurred by depth.

The view is cut into layers of equal blur, which are laid over each other from the farthest to the nearest. Each layer
goes on beneath the nearer ones, so that blurred outlines show what lies behind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import fft, ndimage

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.errors import InputError
from plenodepth.render.places import shift_per_offset
from plenodepth.render.surface import pupil_radius
from plenodepth.render.view import RenderedView
from plenodepth.threads import thread_count

Float32 = NDArray[np.float32]

STEPS = 0.5, 0.12  # px, and part of the radius: how much the blur of neighbouring layers differs
LARGEST = 0.25  # of the view's shorter side: no disc is larger
LEAST_COVER = 1e-3
LEVELS = 4  # of nearness, for what goes on beneath a blurred foreground
FINE = 6.0  # px: larger discs are blurred at a lower resolution


def refocused(
    view: RenderedView,
    camera: PlenopticCamera | GridCamera,
    depths: Sequence[float],
    *,
    aperture: float = 1.0,
    threads: int | None = None,
) -> Iterator[RenderedView]:
    """A view in focus everywhere (`all_in_focus`), focused at each of some depths, mm or virtual.

    `aperture`: times the diameter of the camera's own; 0 leaves everything sharp.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> image = plenodepth.load_raw("raw.png", camera, white="white.png")
    >>> depth = plenodepth.estimate_depth(image, camera, dense=plenodepth.DenseSettings(enabled=True))
    >>> sharp = plenodepth.all_in_focus(depth)
    >>> [picture.name for picture in plenodepth.refocused(sharp, camera, [700, 900])]
    ['raw-700mm', 'raw-900mm']
    """
    if not (math.isfinite(aperture) and aperture >= 0):
        raise InputError(f"is {aperture:g}, needs a number ≥ 0", field="aperture")
    for depth in depths:
        if not (math.isfinite(depth) and (depth > 0 or not view.metric) and depth != 0):
            raise InputError(f"is {depth:g}, needs a number > 0", field="at")
    radius = aperture * pupil_radius(camera)
    return (_focused(view, camera, depth, radius, thread_count(threads)) for depth in depths)


def _focused(
    view: RenderedView, camera: PlenopticCamera | GridCamera, depth: float, radius: float, threads: int
) -> RenderedView:
    unit = "mm" if view.metric else ""
    blur = radius * shift_per_offset(camera, view.depth, depth, view.scale)  # px; > 0: farther than the focus
    most = LARGEST * min(view.depth.shape)
    sign = -1 if isinstance(camera, GridCamera) and depth < 0 else 1  # Keplerian: depths nearer to 0 are farther
    discs = np.asarray(sign * np.clip(np.nan_to_num(blur, nan=most), -most, most), np.float32)
    return replace(view, light=blurred_by_depth(view.light, discs, threads), name=f"{view.name}-{depth:g}{unit}")


def blurred_by_depth(light: Float32, blur: Float32, threads: int = 1) -> Float32:
    """Light (h, w, channels) with discs of a radius of |blur| (h, w) px; larger values lie farther."""
    edges = layer_edges(float(blur.min()), float(blur.max()))
    out, cover = np.zeros_like(light), np.zeros(blur.shape, np.float32)
    known = np.nan_to_num(light)
    # From the nearest to the farthest: what is covered already lets nothing through.
    for low, high in pairwise(edges):
        own = (blur >= low) & (blur < high)
        if not own.any():
            continue
        share = own.astype(np.float32)
        stack = np.concatenate([known * share[..., None], share[..., None], (blur >= low)[..., None]], axis=2)
        stack = _discs(stack.astype(np.float32), abs(low + high) / 2, threads)
        share, seen = stack[..., -2], stack[..., -1]
        there = share > LEAST_COVER
        # Beneath nearer layers this one is as dense as beside them.
        dense = np.clip(share / np.maximum(seen, LEAST_COVER), 0, 1)
        free = np.where(there, (1 - cover) * dense, 0).astype(np.float32)
        out += (free / np.maximum(share, LEAST_COVER))[..., None] * stack[..., :-2]
        cover += free
    # A layer spreads beneath nearer ones as far as its own blur; beyond that, what lies next to them goes on.
    left = np.maximum(1 - cover, 0)[..., None]
    for low, high in pairwise(np.linspace(edges[0], -STEPS[0] / 2, LEVELS + 1)):
        hidden, behind = (blur >= low) & (blur < high), blur >= high
        if high <= low or not hidden.any() or not behind.any():
            continue
        nearest = ndimage.distance_transform_edt(~behind, return_distances=False, return_indices=True)
        out[hidden] += (left * known[tuple(nearest)])[hidden]
        cover[hidden] = 1
    covered = cover > LEAST_COVER
    return np.asarray(np.where(covered[..., None], out / np.where(covered, cover, 1)[..., None], light), np.float32)


def layer_edges(lowest: float, highest: float) -> NDArray[np.float64]:
    """Where layers of blur begin and end, px, ascending; one has no blur in its middle."""
    edges = [STEPS[0] / 2]
    while edges[-1] <= max(highest, -lowest):
        edges.append(edges[-1] + max(STEPS[0], STEPS[1] * edges[-1]))
    both = np.array([-edge for edge in reversed(edges)] + edges)
    first, last = np.searchsorted(both, lowest, side="right") - 1, np.searchsorted(both, highest, side="right")
    return np.asarray(both[max(first, 0) : last + 1])


def _discs(planes: Float32, radius: float, threads: int) -> Float32:
    """Planes (h, w, n) convolved with a disc; those of large discs at a lower resolution."""
    import cv2

    if radius < STEPS[0]:
        return planes
    factor = max(1, int(2 ** np.floor(np.log2(radius / FINE))))
    height, width, count = planes.shape
    smaller = -(-width // factor), -(-height // factor)
    reach = int(radius / factor) + 2
    size = [fft.next_fast_len(side + 2 * reach, real=True) for side in smaller[::-1]]
    disc = fft.rfft2(_disc(radius / factor, size))
    found = np.empty_like(planes)
    for number in range(count):
        plane = np.ascontiguousarray(planes[..., number])
        if factor > 1:
            plane = np.asarray(cv2.resize(plane, smaller, interpolation=cv2.INTER_AREA), np.float32)
        spectrum = fft.rfft2(plane, s=size, workers=threads) * disc
        plane = fft.irfft2(spectrum, s=size, workers=threads)[: smaller[1], : smaller[0]].astype(np.float32)
        found[..., number] = plane if factor == 1 else cv2.resize(plane, (width, height))
    return found


def _disc(radius: float, size: list[int]) -> Float32:
    """A disc of the sum 1 about pixel (0, 0), its edge soft over a pixel."""
    row, column = (np.fft.fftfreq(side) * side for side in size)
    disc = np.clip(radius + 0.5 - np.hypot(row[:, None], column), 0, 1)
    return np.asarray(disc / disc.sum(), np.float32)
