"""Where pixels lie in their micro-images, and samples of many micro-images at the same places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, MicroImageArray, PlenopticCamera
from plenodepth.camera.model import image_size

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_PIXELS = 2_000_000  # of a sample
FEWEST_LENSES = 200


def pixel_offsets(micro_images: MicroImageArray, rows: slice, width: int) -> tuple[NDArray[np.float32], Indices]:
    """For a band of rows: squared distance (px²) to the nearest micro-image centre, and its lens type (0 for pinholes).

    The type is −1 beyond the array. Both are (rows, width).
    """
    lattice, lattice_from_image = micro_images.lattice, micro_images.image_from_lattice.inverse()
    v = np.arange(rows.start, rows.stop, dtype=np.float64)
    u = np.arange(width, dtype=np.float64)
    rotation, shift = lattice_from_image.rotation, lattice_from_image.translation
    points = np.empty((2, len(v), width))
    for axis in (0, 1):
        np.add.outer(rotation[axis, 1] * v + shift[axis], rotation[axis, 0] * u, out=points[axis])
    k, l = lattice.nearest(np.moveaxis(points, 0, -1))
    nodes = lattice.node(k, l)
    distance = (nodes[..., 0] - points[0]) ** 2 + (nodes[..., 1] - points[1]) ** 2
    types = np.maximum(micro_images.lens_type(k, l), 0)
    types[~lattice.contains(k, l)] = -1
    return distance.astype(np.float32), types


def enough_lenses(most: int, reach: float) -> int:
    """How many micro-images to sample, at most `most`: fewer, where each has many pixels within `reach` px."""
    return min(most, max(FEWEST_LENSES, int(MOST_PIXELS / (np.pi * reach**2))))


def sampled_micro_images(camera: PlenopticCamera | GridCamera, most: int, reach: float) -> tuple[Indices, Indices]:
    """Indices k, l, each (n,), of at most `most` micro-images, evenly spread, whose `reach` px lie in the image."""
    micro_images = camera.micro_images
    k, l = (index.ravel() for index in micro_images.lattice.indices())
    center = micro_images.center(k, l)
    margin = int(reach) + 0.5  # centres are rounded
    inside = (center >= margin).all(axis=1) & (center <= np.array(image_size(camera)) - 1 - margin).all(axis=1)
    # A step that shares no factor with the period of the types, so that each type keeps its share.
    chosen = np.flatnonzero(inside)
    step = max(1, -(-len(chosen) // most))
    while step > 1 and any(np.gcd(step, period) > 1 for period in (2, *micro_images.type_pattern.shape) if period):
        step += 1
    return k[chosen[::step]], l[chosen[::step]]


def patch_pixels(micro_images: MicroImageArray, k: Indices, l: Indices, reach: float) -> tuple[Indices, Indices, Array]:
    """Columns u and rows v, each (n, p), of the p pixels within `reach` px of each of n rounded centres.

    With them their distances (n, p) in px from the exact centres.
    """
    center = micro_images.center(k, l)
    nearest = np.rint(center).astype(np.int64)
    side = np.arange(-int(reach), int(reach) + 1)
    dv, du = (step.ravel() for step in np.meshgrid(side, side, indexing="ij"))
    near = du**2 + dv**2 <= reach**2
    u, v = nearest[:, :1] + du[near], nearest[:, 1:] + dv[near]
    return u, v, np.hypot(u - center[:, :1], v - center[:, 1:])


def patches(
    image: NDArray[np.generic], micro_images: MicroImageArray, k: Indices, l: Indices, reach: float
) -> tuple[NDArray[np.generic], Array]:
    """Values (n, p) or (n, p, 3) of those pixels, and their distances (n, p).

    The micro-images are of `sampled_micro_images`, so that the pixels lie in the image.
    """
    u, v, distance = patch_pixels(micro_images, k, l, reach)
    return image[v, u], distance
