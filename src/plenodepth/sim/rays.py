"""From a pixel through its micro-lens and the main lens into the scene: everything about a ray but the scene.

A ray starts at the point X of a pixel, meets its micro-lens (centre C) at C + y, leaves it with the slope
    (y − x)/d − y/f,      x = X − C,
which holds for Galilean, Keplerian, unfocused and pinhole arrays alike, and meets the plane of the exit pupil, P from
the array, at C + y + slope·P; it is blocked when it passes beside the pupil. By default the pupil is the main lens
itself, P = D. `kernels/real_rays.py` has what real lenses add.

Lateral distortion moves the point behind the main lens, so a ray is fixed by two such points: where its line meets the
images of the planes z = near and z = far, each undistorted and taken through the main lens. Between lens and scene a
distorted "ray" is slightly bent; the chord from near to far follows it best when both lie close about the scene.

Undistortion is expanded to second order about each lens' central ray: six numbers per coordinate and plane.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, lens_center, lens_distances, predicted_center, undistort_exactly
from plenodepth.camera.micro_images import owner_map
from plenodepth.errors import InputError
from plenodepth.sim.optics.camera import Pupil, lens_shape, micro_images_of_pupil, pupil_of
from plenodepth.sim.optics.constants import real_constants
from plenodepth.sim.optics.options import RealOptics
from plenodepth.sim.samples import LensShape

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

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
    aperture_radius: float  # of the exit pupil, mm
    lens_shape: LensShape  # the opening of a micro-lens; of radius 0 for pinholes
    real: Float32 | None = None  # constants of real lenses, named in `kernels/real_rays.py`; None: thin lenses

    @property
    def lens_radius(self) -> float:
        """Of a micro-lens, mm; 0 for pinholes."""
        return self.lens_shape.radius

    def __post_init__(self) -> None:
        # `owner_map` gives a read-only array, and Numba would compile the tracer again for one that can be written to.
        owner = self.owner.view()
        owner.flags.writeable = False
        object.__setattr__(self, "owner", owner)


def ray_setup(
    camera: PlenopticCamera,
    near: float,
    far: float,
    *,
    f_number: float | None = None,
    owner: bool = True,
    optics: RealOptics | None = None,
    color: int | None = None,
) -> RaySetup:
    """Prepare a camera for rays into a scene between z = near and far (mm), at an f-number (default: the camera's).

    `color`: the channel 0 … 2 of the light that goes through real lenses; None: light of the camera's focal lengths.
    """
    pupil = pupil_of(camera, optics, f_number)
    focal, lens_focal = _focal_lengths(camera, optics, color)
    if not focal < near < far:
        raise InputError(
            f"the scene reaches from {near:g} to {far:g} mm, which is not beyond the focal length of {focal:g} mm",
            field="scene",
            fix="move it away from the camera",
        )
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    center = lens_center(k, l, camera)
    to_main, to_sensor = lens_distances(camera, k, l)
    if not (to_main > pupil.distance).all():
        raise InputError(f"is {pupil.distance:g} mm, not before the lens array", field="exit_pupil.distance")
    thin = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=None))
    middle = camera.sensor.metric_from_image(predicted_center(k, l, thin)) - center[:, :2]
    slope = -middle / to_sensor[:, None]  # of the central ray, through the main lens' centre
    chords, steps = [], []
    for depth in (near, far):
        image = -focal * depth / (depth - focal)
        nearer = _field_curvature(center[:, :2] + slope * (image - center[:, 2])[:, None], optics)
        step = image + nearer - center[:, 2]
        chords.append(_expansion(camera, focal, center[:, :2] + slope * step[:, None], image, nearer))
        steps.append(step)
    inverse_f = 1 / lens_focal[camera.micro_images.lens_type(k, l)] if camera.type_count else np.zeros(len(center))
    offset = camera.sensor.position[:2] - center[:, :2]
    # Rays are blocked in the pupil's plane: D and C go there, and are used for nothing else.
    to_pupil, from_pupil = to_main - pupil.distance, center[:, :2] - pupil.offset
    columns = [*offset.T, 1 / to_sensor, inverse_f, *steps, to_pupil, *slope.T, *from_pupil.T]
    return RaySetup(
        width=camera.sensor.width,
        height=camera.sensor.height,
        pixel_size=camera.sensor.pixel_size,
        owner=_owners(camera, pupil) if owner else np.zeros((0, 0), np.int32),
        lens=np.column_stack(columns).astype(np.float32),
        chord=np.concatenate(chords, axis=1).astype(np.float32),
        near=near,
        far=far,
        aperture_radius=pupil.radius,
        lens_shape=lens_shape(camera, optics),
        real=real_constants(camera, optics, pupil),
    )


def _focal_lengths(camera: PlenopticCamera, optics: RealOptics | None, color: int | None) -> tuple[float, Float64]:
    """F and f_i, mm, for a colour."""
    main, lenses = camera.main_lens.focal_length, camera.micro_lenses.focal_lengths
    if optics is None or color is None:
        return main, lenses
    return main * (1 + optics.main_lens_color[color]), lenses * (1 + optics.micro_lens_color[color])


def _owners(camera: PlenopticCamera, pupil: Pupil) -> NDArray[np.int32]:
    """The lens whose micro-image each pixel belongs to; with an exit pupil elsewhere, micro-images are elsewhere."""
    grid = camera.micro_images
    if pupil.distance or any(pupil.offset):
        grid = micro_images_of_pupil(camera, (*pupil.offset, -pupil.distance))
    return owner_map(grid, camera.sensor.height, camera.sensor.width)


def _field_curvature(place: Float64, optics: RealOptics | None) -> Float64:
    """How much nearer to the main lens (J,) mm its image lies at the places (J, 2) than on the axis."""
    if optics is None or optics.field_radius is None:
        return np.zeros(len(place))
    return np.asarray((place**2).sum(axis=1) / (2 * optics.field_radius))


def _expansion(camera: PlenopticCamera, focal: float, about: Float64, image: float, nearer: Float64) -> Float64:
    """Object x, y as polynomials (J, 2, 6) in the offset from `about` (J, 2) on the planes z = image + nearer.

    Curvature of field moves image points along the line through the main lens' centre, by `nearer` (J,) mm.
    """
    flat = (image / (image + nearer))[:, None]

    def objects(x: int, y: int) -> Float64:
        points = np.column_stack([(about + STENCIL * np.array([x, y])) * flat, np.full(len(about), image)])
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
