"""How the light falls off within a micro-image: predicted by the optics, or found in the image itself.

The light of a pixel is the open area of its micro-lens (`aperture.clipping`): a function of the distance from the
micro-image's centre and of the lens type alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, MicroImageArray, PlenopticCamera, lens_distances, predicted_center
from plenodepth.camera.aperture.clipping import disc_of_pupil, open_area
from plenodepth.errors import InputError
from plenodepth.raw.offsets import enough_lenses, patch_pixels, patches, pixel_offsets, sampled_micro_images
from plenodepth.threads import each_band

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]

TABLE_SIZE = 4096  # entries over the squared radius: 0.002 px apart at the rim of an R12's micro-image
TILT_STEPS = 9
LENSES_SAMPLED = 3000
BIN = 0.5  # px, of the radius, for the estimate from the image


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


@lru_cache(maxsize=4)  # an image is divided by it and checked against it, and the next one has the same camera
def predicted_vignetting(camera: PlenopticCamera) -> RadialVignetting:
    """The vignetting of the optics, averaged over the pixel; 1 at the centre in the mean of the lens types.

    D and d are those of the middle of the array. In the corners of a tilted array d may differ by 2 %, and the light
    at half the radius by as much.
    """
    main, sensor = lens_distances(require_aperture(camera))
    table, largest = _open_area(camera, main, sensor, None)
    return RadialVignetting((table / table[:, 0].mean()).astype(np.float32), largest)


def model_white_image(camera: PlenopticCamera, f_number: float | None = None) -> Float32:
    """The white image that the optics predict, (height, width); 1 = a pixel whose lens is fully open; no noise.

    Default: the camera's own f-number.
    """
    k, l = camera.micro_images.lattice.indices()
    main, sensor = lens_distances(camera, k, l)
    middle = predicted_center(k, l, camera)
    # Tilt changes D and d over the array: one table for each of some steps of it.
    steps = TILT_STEPS if np.ptp(main) > 1e-6 * main.mean() else 1
    step = np.rint((main - main.min()) * ((steps - 1) / max(np.ptp(main), np.finfo(float).tiny))).astype(np.int64)
    places = np.linspace(main.min(), main.max(), steps)
    tables = [_open_area(camera, place, main[0, 0] + sensor[0, 0] - place, f_number) for place in places]
    types = max(camera.type_count, 1)
    vignetting = RadialVignetting(np.concatenate([table for table, _ in tables]).astype(np.float32), tables[0][1])
    row_of_table = step * types + np.maximum(camera.micro_images.lens_type(k, l), 0)
    width, height = camera.sensor.width, camera.sensor.height
    light = np.empty((height, width), np.float32)

    def fill(rows: slice) -> None:
        v, u = np.mgrid[rows, :width]
        k, l = camera.micro_images.owner(np.stack([u, v], axis=-1))
        center = middle[np.maximum(l, 0), np.maximum(k, 0)]
        squared = (u - center[..., 0]) ** 2 + (v - center[..., 1]) ** 2
        light[rows] = vignetting.at(squared.astype(np.float32), np.where(k >= 0, row_of_table[l, k], -1))

    each_band(height, fill)
    return light


def _open_area(camera: PlenopticCamera, main: Array, sensor: Array, f_number: float | None) -> tuple[Array, float]:
    """Open parts of lenses at D and d mm, averaged over a pixel, (types, TABLE_SIZE), and the largest radius², px²."""
    radii, largest = table_radii(camera.micro_images)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    light = np.zeros((max(camera.type_count, 1), TABLE_SIZE))
    for lens_type, row in enumerate(light):
        disc = disc_of_pupil(main, sensor, lens_type, camera, f_number)
        for du, wu in zip(nodes / 2, weights / 2, strict=True):
            for dv, wv in zip(nodes / 2, weights / 2, strict=True):
                row += wu * wv * open_area(*disc, np.hypot(radii + du, dv) * camera.sensor.pixel_size, camera)
    return light, largest


def estimated_vignetting(
    gray: Float32, saturated: NDArray[np.bool_], camera: PlenopticCamera | GridCamera
) -> RadialVignetting | None:
    """The vignetting as the image shows it: mean brightness by lens type and radius; None if that cannot be told.

    It takes for granted that over many micro-images all radii see the same scene. A mean, not a high quantile: noise
    and the slope within a bin would lift a quantile at the rim. Micro-images with a saturated pixel are left out.
    """
    micro_images = camera.micro_images
    reach = micro_images.radius * 1.15
    k, l = sampled_micro_images(camera, enough_lenses(LENSES_SAMPLED, reach), reach)
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
    u, v, _ = patch_pixels(micro_images, k, l, reach)
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
    return at, nowhere_rising(profile, count)


def nowhere_rising(values: Array, weights: NDArray[np.int64]) -> Array:
    """The nearest numbers (n,) to the values, by weighted squares, of which none is larger than the one before.

    Neighbours that rise are pooled into their mean until none do. SciPy has it, but takes long to import.
    """
    pools = list[tuple[float, float, int]]()  # mean, weight and length of each
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, total, length = value, float(weight), 1
        while pools and pools[-1][0] <= mean:
            other, its_weight, its_length = pools.pop()
            mean = (other * its_weight + mean * total) / (its_weight + total)
            total, length = total + its_weight, length + its_length
        pools.append((mean, total, length))
    return np.repeat([mean for mean, _, _ in pools], [length for _, _, length in pools])
