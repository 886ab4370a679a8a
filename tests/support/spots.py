"""Images of small glowing squares in single micro-images, for closed forms to be compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.camera import PlenopticCamera, project
from plenodepth.geometry import Pose
from plenodepth.sim.optics import RealOptics
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene

GLOWING = Material(emits=True)


def at(x: float, y: float, z: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, z], dtype=np.float64))


def only(setup: RaySetup, camera: PlenopticCamera, k: int, l: int, reach: float) -> RaySetup:
    """The set-up with one lens alone, which lights all pixels within `reach` px of its micro-image's centre."""
    v, u = np.indices(setup.owner.shape)
    distance = np.linalg.norm(np.stack([u, v], axis=-1) - camera.micro_images.center(k, l), axis=-1)
    lens = l * camera.micro_images.lattice.columns + k
    return replace(setup, owner=np.where(distance < reach, lens, -1).astype(np.int32))


def spot_image(
    camera: PlenopticCamera,
    point: np.ndarray,
    k: int,
    l: int,
    f_number: float,
    side: float,
    optics: RealOptics | None = None,
    rays: int = 512,
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2) px and light (n, 3) of a small glowing square's image in one micro-image."""
    scene = Scene((Rectangle(side, side, at(*point), GLOWING),))
    setup = ray_setup(camera, *scene_depths(scene, 50.2), f_number=f_number, optics=optics)
    setup = only(setup, camera, k, l, 20)
    settings = RenderSettings(rays=rays, seed=5, f_number=f_number, optics=optics)
    light = render(scene, camera, settings, setup=setup).light
    rows, columns = np.nonzero(setup.owner >= 0)
    return np.column_stack([columns, rows]), light[rows, columns].astype(np.float64)


def moments(place: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Total, centroid (px) and mean squared radius (px²) of light (n,) at places (n, 2)."""
    middle = weight @ place / weight.sum()
    return weight.sum(), middle, float(weight @ ((place - middle) ** 2).sum(axis=1) / weight.sum())


def spot(camera: PlenopticCamera, point: np.ndarray, k: int, l: int, f_number: float, side: float) -> tuple:
    """Total, centroid (px) and mean squared radius (px²) of a small glowing square's image in one micro-image."""
    place, light = spot_image(camera, point, k, l, f_number, side)
    return moments(place, light[:, 0])


def footprint(camera: PlenopticCamera, point: np.ndarray, k: int, l: int) -> float:
    """mm in the scene per pixel of the micro-image, at the point."""
    moved = project(point + [0.5, 0, 0], k, l, camera).uv - project(point - [0.5, 0, 0], k, l, camera).uv
    return 1 / float(np.linalg.norm(moved))
