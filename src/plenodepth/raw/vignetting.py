"""How the light falls off within a micro-image: predicted by the optics, or found in the image itself.

A pixel at x mm from its micro-image's centre receives light through the points y of the micro-lens with
|y − c| ≤ R, where c = x (D/d)/g, R = (A/2)/|g|, g = 1 + D (1/d − 1/f): the rest of the lens sees the rim of the main
lens' aperture A = F/N. So the light is the common area of two discs, a function of |x| and of the lens type alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from plenodepth.camera import GridCamera, MicroImageArray, PlenopticCamera, lens_distances
from plenodepth.errors import InputError
from plenodepth.raw.offsets import patch_pixels, patches, pixel_offsets, sampled_micro_images

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]

TABLE_SIZE = 4096  # entries over the squared radius: 0.002 px apart at the rim of an R12's micro-image
LENSES_SAMPLED = 3000
BIN = 0.5  # px, of the radius, for the estimate from the image


def common_area(radius: ArrayLike, other: ArrayLike, distance: ArrayLike) -> Array:
    """Area of the intersection of two discs whose centres lie `distance` apart; broadcasts."""
    a, b, d = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (radius, other, distance)))
    small, large = np.minimum(a, b), np.maximum(a, b)
    area = np.where(d <= large - small, np.pi * small**2, 0.0)
    cut = (d > large - small) & (d < large + small)
    a, b, d = a[cut], b[cut], d[cut]
    # Two circular segments on either side of the common chord, which lies at x from the first centre.
    x = (d**2 + a**2 - b**2) / (2 * d)
    chord = np.sqrt(np.maximum(a**2 - x**2, 0))
    first = a**2 * np.arccos(np.clip(x / a, -1, 1))
    second = b**2 * np.arccos(np.clip((d - x) / b, -1, 1))
    area[cut] = first + second - d * chord
    return area


@dataclass(frozen=True, eq=False)
class RadialVignetting:
    """Light relative to that at a micro-image's centre, by lens type and squared distance (px²) from the centre.

    `table` (types, TABLE_SIZE) holds it at squared radii 0 … `largest`.
    """

    table: Float32
    largest: float

    def at(self, squared_radius: NDArray[np.float32], types: NDArray[np.int64]) -> Float32:
        """Light at each pixel; 0 for type −1."""
        size = self.table.shape[1]
        index = np.minimum((squared_radius * np.float32((size - 1) / self.largest) + np.float32(0.5)), size - 1)
        flat = types * size + index.astype(np.int64)
        light: Float32 = self.table.ravel()[np.maximum(flat, 0)]
        light[types < 0] = 0
        return light

    def band(self, micro_images: MicroImageArray, rows: slice, width: int) -> Float32:
        """Light at each pixel of a band of rows, (rows, width)."""
        return self.at(*pixel_offsets(micro_images, rows, width))


def table_radii(micro_images: MicroImageArray) -> tuple[Array, float]:
    """Radii (TABLE_SIZE,) in px of the entries of a table, and the largest, squared: no pixel lies farther off."""
    largest = float((0.8 * micro_images.lattice.pitch.max()) ** 2)  # half the diagonal of a square cell is 0.71 pitches
    return np.sqrt(np.linspace(0, largest, TABLE_SIZE)), largest


def require_aperture(camera: PlenopticCamera | GridCamera) -> PlenopticCamera:
    """The camera, if the optics and the f-number that predict the vignetting are known."""
    if not isinstance(camera, PlenopticCamera):
        raise InputError(
            f"camera '{camera.name}' has no optics to predict the vignetting",
            field="devignetting",
            fix="give a white image, or use 'self'",
        )
    if camera.main_lens.f_number is None:
        raise InputError(
            f"camera '{camera.name}' has no f-number to predict the vignetting",
            field="devignetting",
            fix="add main_lens.f_number, give a white image, or use 'self'",
        )
    return camera


def predicted_vignetting(camera: PlenopticCamera) -> RadialVignetting:
    """The vignetting of the optics, averaged over the pixel; 1 at the centre in the mean of the lens types.

    D and d are those of the middle of the array: tilt changes them by parts in a thousand.
    """
    aperture = require_aperture(camera).main_lens.aperture_diameter
    assert aperture is not None
    main, sensor = lens_distances(camera)
    radius = camera.micro_lenses.lens_diameter / 2
    focal = camera.micro_lenses.focal_lengths if camera.type_count else np.array([np.inf])
    g = 1 + main * (1 / sensor - 1 / focal[:, None])
    g = np.maximum(np.abs(g), 1e-6)  # 0: the lens images the pixel onto the main lens, all of it or nothing is open
    radii, largest = table_radii(camera.micro_images)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    light = np.zeros((len(focal), TABLE_SIZE))
    for du, wu in zip(nodes / 2, weights / 2, strict=True):
        for dv, wv in zip(nodes / 2, weights / 2, strict=True):
            x = np.hypot(radii + du, dv) * camera.sensor.pixel_size
            light += wu * wv * common_area(radius, aperture / 2 / g, x * (main / sensor) / g)
    light /= light[:, 0].mean()
    return RadialVignetting(light.astype(np.float32), largest)


def estimated_vignetting(
    gray: Float32, saturated: NDArray[np.bool_], camera: PlenopticCamera | GridCamera
) -> RadialVignetting | None:
    """The vignetting as the image shows it: mean brightness by lens type and radius; None if that cannot be told.

    It takes for granted that over many micro-images all radii see the same scene. A mean, not a high quantile: noise
    and the slope within a bin would lift a quantile at the rim. Micro-images with a saturated pixel are left out.
    """
    micro_images = camera.micro_images
    reach = micro_images.radius * 1.15
    k, l = sampled_micro_images(camera, LENSES_SAMPLED, reach)
    if not len(k):
        return None
    (found, distance), (full, _) = (patches(image, micro_images, k, l, reach) for image in (gray, saturated))
    values = np.asarray(found, dtype=np.float64)
    whole = np.isfinite(values).all(axis=1) & ~full.any(axis=1)
    owned = _owned(micro_images, k, l, reach)  # the rest is the neighbours' light
    types = np.maximum(micro_images.lens_type(k, l), 0)
    radii, largest = table_radii(micro_images)
    profiles = np.empty((max(micro_images.type_count, 1), TABLE_SIZE))
    for index in range(len(profiles)):
        mine = whole & (types == index)
        if not mine.any():
            return None
        at, profile = falling_profile(values[mine][owned[mine]], distance[mine][owned[mine]])
        if not profile[0] > 0:
            return None
        profiles[index] = np.interp(radii, at, profile)
    return RadialVignetting((profiles / profiles[:, 0].mean()).astype(np.float32), largest)


def _owned(
    micro_images: MicroImageArray, k: NDArray[np.int64], l: NDArray[np.int64], reach: float
) -> NDArray[np.bool_]:
    """Which of the pixels of `patches` lie nearest to the centre that they were taken around, (n, p)."""
    u, v = patch_pixels(micro_images, k, l, reach)
    nearest_k, nearest_l = micro_images.owner(np.stack([u, v], axis=-1))
    return np.asarray((nearest_k == k[:, None]) & (nearest_l == l[:, None]))


def falling_profile(values: Array, distance: Array) -> tuple[Array, Array]:
    """Mean distance and mean value, each (rings,), of values (n,) in rings of width BIN around micro-image centres.

    `distance` (n,) in px. The values rise nowhere: noise brightens no rim.
    """
    # The few pixels at the very centre are one ring: no aperture darkens anything within a pixel of it.
    ring = np.maximum(np.floor(distance / BIN).astype(np.int64) - int(1 / BIN) + 1, 0)
    count = np.bincount(ring)
    some = count > 0
    count = count[some]
    at = np.bincount(ring, distance)[some] / count
    profile = np.bincount(ring, values)[some] / count
    return at, np.asarray(isotonic_regression(profile, weights=count, increasing=False).x)
