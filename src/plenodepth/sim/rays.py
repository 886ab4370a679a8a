"""From a pixel through its micro-lens and the main lens into the scene: everything about a ray but the scene.

A ray starts at the point X of a pixel, meets its micro-lens (centre C) at C + y, leaves it with the slope
    (y − x)/d − y/f,      x = X − C,
which holds for Galilean, Keplerian, unfocused and pinhole arrays alike, and meets the main lens at q = C + y + slope·D;
it is blocked when |q| exceeds the aperture's radius. Lateral distortion moves the point behind the main lens, so a ray
is fixed by two such points: where its line meets the images of the planes z = near and z = far, each undistorted and
taken through the main lens. Between lens and scene a distorted "ray" is slightly bent; the chord from near to far
follows it best when both lie close about the scene.

Undistortion is expanded to second order about each lens' central ray: six numbers per coordinate and plane.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from plenodepth.camera import PlenopticCamera, lens_center, lens_distances, predicted_center, undistort_exactly
from plenodepth.camera.micro_images import owner_map
from plenodepth.errors import InputError

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

TABLES = 256  # independent sets of sample points; each pixel picks one by a hash of its position and the seed
STENCIL = 0.3  # mm, step of the differences that give the expansion: about the width of a bundle there


@dataclass(frozen=True, eq=False)
class RaySetup:
    """The optics as kernels read them; J lenses, index l · columns + k."""

    width: int
    height: int
    pixel_size: float
    owner: NDArray[np.int32]  # (height, width) lens behind each pixel, −1 for none
    lens: Float32  # (J, 11), columns named in `kernels/camera_rays.py`; mm
    chord: Float32  # (J, 4, 6): x and y on the near plane, then on the far plane, as polynomials
    near: float  # mm
    far: float
    aperture_radius: float  # of the main lens, mm
    lens_radius: float  # of a micro-lens, mm; 0 for pinholes

    def __post_init__(self) -> None:
        # `owner_map` gives a read-only array, and Numba would compile the tracer again for one that can be written to.
        owner = self.owner.view()
        owner.flags.writeable = False
        object.__setattr__(self, "owner", owner)


def ray_setup(
    camera: PlenopticCamera, near: float, far: float, *, f_number: float | None = None, owner: bool = True
) -> RaySetup:
    """Prepare a camera for rays into a scene between z = near and far (mm), at an f-number (default: the camera's)."""
    focal = camera.main_lens.focal_length
    number = camera.main_lens.f_number if f_number is None else f_number
    if number is None:
        raise InputError(f"camera '{camera.name}' has none", field="main_lens.f_number", fix="give the aperture")
    if not number > 0:
        raise InputError(f"is {number:g}, needs a number > 0", field="f_number")
    if not focal < near < far:
        raise InputError(
            f"the scene reaches from {near:g} to {far:g} mm, which is not beyond the focal length of {focal:g} mm",
            field="scene",
            fix="move it away from the camera",
        )
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    center = lens_center(k, l, camera)
    to_main, to_sensor = lens_distances(camera, k, l)
    middle = camera.sensor.metric_from_image(predicted_center(k, l, camera)) - center[:, :2]
    slope = -middle / to_sensor[:, None]  # of the central ray, through the main lens' centre
    chords, steps = [], []
    for depth in (near, far):
        image = -focal * depth / (depth - focal)
        step = image - center[:, 2]
        chords.append(_expansion(camera, center[:, :2] + slope * step[:, None], image))
        steps.append(step)
    inverse_f = (
        1 / camera.micro_lenses.focal_lengths[camera.micro_images.lens_type(k, l)]
        if camera.type_count
        else np.zeros(len(center))
    )
    offset = camera.sensor.position[:2] - center[:, :2]
    columns = [*offset.T, 1 / to_sensor, inverse_f, *steps, to_main, *slope.T, *center[:, :2].T]
    return RaySetup(
        width=camera.sensor.width,
        height=camera.sensor.height,
        pixel_size=camera.sensor.pixel_size,
        owner=(
            owner_map(camera.micro_images, camera.sensor.height, camera.sensor.width)
            if owner
            else np.zeros((0, 0), np.int32)
        ),
        lens=np.column_stack(columns).astype(np.float32),
        chord=np.concatenate(chords, axis=1).astype(np.float32),
        near=near,
        far=far,
        aperture_radius=focal / number / 2,
        lens_radius=camera.micro_lenses.lens_diameter / 2 if camera.type_count else 0.0,
    )


def _expansion(camera: PlenopticCamera, about: Float64, image: float) -> Float64:
    """Object x, y as polynomials (J, 2, 6) in the offset from `about` (J, 2) on the plane z = image behind the lens."""
    focal = camera.main_lens.focal_length

    def objects(x: int, y: int) -> Float64:
        points = np.column_stack([about + STENCIL * np.array([x, y]), np.full(len(about), image)])
        return undistort_exactly(points, camera.distortion)[:, :2] * (focal / (image + focal))

    middle, right, left, down, up = objects(0, 0), objects(1, 0), objects(-1, 0), objects(0, 1), objects(0, -1)
    cross = objects(1, 1) - objects(1, -1) - objects(-1, 1) + objects(-1, -1)
    return np.stack(
        [
            middle,
            (right - left) / (2 * STENCIL),
            (down - up) / (2 * STENCIL),
            (right - 2 * middle + left) / (2 * STENCIL**2),
            cross / (4 * STENCIL**2),
            (down - 2 * middle + up) / (2 * STENCIL**2),
        ],
        axis=-1,
    )


def ray_samples(rays: int, pixel_size: float, lens_radius: float, seed: int) -> NDArray[np.float32]:
    """Sample tables (TABLES, rays, 4): offset x, y on the pixel and x, y on the micro-lens' disc, mm.

    Within a table the points are an Owen-scrambled Sobol sequence, so an average over them converges almost like 1/n
    where light varies smoothly; tables are independent of each other, so pixels share no pattern.
    """
    if rays < 1:
        raise InputError(f"is {rays}, needs at least 1", field="rays")
    return _sample_tables(rays, pixel_size, lens_radius, seed).copy()


@lru_cache(maxsize=2)  # making the tables takes longer than tracing a small image
def _sample_tables(rays: int, pixel_size: float, lens_radius: float, seed: int) -> Float32:
    tables = np.empty((TABLES, rays, 4), np.float32)
    seeds = np.random.SeedSequence(seed).spawn(TABLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # counts that are no power of two are a user's choice
        for table, sequence in zip(tables, seeds, strict=True):
            points = qmc.Sobol(4, scramble=True, rng=np.random.default_rng(sequence)).random(rays)
            table[:, :2] = (points[:, :2] - 0.5) * pixel_size
            table[:, 2:] = concentric_disc(points[:, 2:]) * lens_radius
    return tables


def concentric_disc(square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit square (n, 2) → unit disc, keeping areas and neighbourhoods (Shirley and Chiu's concentric map)."""
    a, b = (2 * square - 1).T
    wide = np.abs(a) > np.abs(b)
    radius = np.where(wide, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle = np.where(wide, np.pi / 4 * (b / a), np.pi / 2 - np.pi / 4 * (a / b))
    angle = np.where(radius == 0, 0.0, angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
