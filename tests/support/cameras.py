"""Cameras that tests need and no preset offers: without tilt, Keplerian, unfocused, odd counts, other lattices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plenodepth.camera import Distortion, PlenopticCamera, fitted_to_lenses, preset
from plenodepth.camera.model import default_type_pattern
from plenodepth.geometry import Arrangement, Lattice, Pose


def without_tilt(camera: PlenopticCamera) -> PlenopticCamera:
    """The camera with its lens array parallel to the sensor (same centre), grid fitted anew."""
    lattice = camera.micro_images.lattice
    extent = lattice.half_turned().unit_node(lattice.columns - 1, lattice.rows - 1) * camera.micro_lenses.pitch / 2
    pose = camera.micro_lenses.cam_from_mla
    middle = pose(np.array([*extent, 0.0]))
    untilted = Pose(np.eye(3), middle - [*extent, 0.0])
    return fitted_to_lenses(replace(camera, micro_lenses=replace(camera.micro_lenses, cam_from_mla=untilted)))


def without_distortion(camera: PlenopticCamera) -> PlenopticCamera:
    return replace(camera, distortion=Distortion(), inverse_distortion=None)


def moved_back(camera: PlenopticCamera, distance: float) -> PlenopticCamera:
    """Lens array and sensor ``distance`` mm farther from the main lens."""
    back = np.array([0.0, 0.0, -distance])
    pose = camera.micro_lenses.cam_from_mla
    moved = replace(
        camera,
        sensor=replace(camera.sensor, position=camera.sensor.position + back),
        micro_lenses=replace(camera.micro_lenses, cam_from_mla=Pose(pose.rotation, pose.translation + back)),
    )
    return fitted_to_lenses(moved)


def with_focal_lengths(camera: PlenopticCamera, focal_lengths: list[float]) -> PlenopticCamera:
    pattern = default_type_pattern(camera.micro_images.lattice.arrangement, len(focal_lengths))
    return replace(
        camera,
        micro_images=replace(camera.micro_images, type_pattern=pattern),
        micro_lenses=replace(camera.micro_lenses, focal_lengths=np.array(focal_lengths)),
    )


def keplerian() -> PlenopticCamera:
    """Lenses sharper than their distance to the sensor (f < d) look at images in front of them."""
    return replace(with_focal_lengths(moved_back(preset("r12-mini"), 5.5), [0.27, 0.29, 0.28]), name="keplerian")


def unfocused() -> PlenopticCamera:
    return preset("upc-s")


def rearranged(
    arrangement: Arrangement, columns: int, rows: int, parity: int | None = None, like: str = "r12-mini"
) -> PlenopticCamera:
    """A preset with another lattice, centred on the axis again."""
    mini = preset(like)
    pitch = mini.micro_lenses.pitch
    lattice = Lattice(arrangement, columns, rows, mini.micro_images.lattice.pitch, parity)
    nodes = lattice.half_turned().unit_node(*lattice.indices()).reshape(-1, 2) * pitch
    middle = nodes.mean(axis=0)
    pose = mini.micro_lenses.cam_from_mla
    grid = replace(mini.micro_images, lattice=lattice, type_pattern=default_type_pattern(arrangement, mini.type_count))
    size = np.ceil((nodes.max(axis=0) - nodes.min(axis=0) + pitch) / mini.sensor.pixel_size).astype(int)
    width, height = (int(length) for length in size)
    pixel = mini.sensor.pixel_size
    position = [-(width - 1) / 2 * pixel, -(height - 1) / 2 * pixel, mini.sensor.position[2]]
    camera = replace(
        mini,
        sensor=replace(mini.sensor, width=width, height=height, position=np.array(position)),
        micro_images=grid,
        micro_lenses=replace(
            mini.micro_lenses, cam_from_mla=Pose(pose.rotation, np.array([*-middle, pose.translation[2]]))
        ),
    )
    return fitted_to_lenses(camera)
