"""The micro-image lattice that goes with a lens array, and which of its micro-images owns each pixel."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera.micro_lenses import predicted_center
from plenodepth.camera.model import MicroImageArray, PlenopticCamera
from plenodepth.geometry import PlanarPose
from plenodepth.threads import each_band


def fitted_to_lenses(camera: PlenopticCamera) -> PlenopticCamera:
    """The camera with the lattice of micro-images that lies nearest (least squares) to its projected lens centres.

    Exact without tilt. With tilt the projected centres are not quite a lattice: about 0.1 px over an R12.
    """
    grid = camera.micro_images
    k, l = grid.lattice.indices()
    unit = grid.lattice.unit_node(k, l).reshape(-1, 2)
    centers = predicted_center(k, l, camera).reshape(-1, 2)
    # An affine fit, then its nearest rotation of two scaled axes: shear is what tilt leaves over.
    design = np.column_stack([unit, np.ones(len(unit))])
    affine = np.linalg.lstsq(design, centers, rcond=None)[0].T  # (2, 3)
    along_x, along_y = affine[:, 0], affine[:, 1]
    pitch = np.array([np.hypot(*along_x), np.hypot(*along_y)])
    angle = (np.arctan2(along_x[1], along_x[0]) + np.arctan2(-along_y[0], along_y[1])) / 2
    turned = PlanarPose(float(angle), np.zeros(2))(unit * pitch)
    pose = PlanarPose(float(angle), (centers - turned).mean(axis=0))
    return replace(
        camera, micro_images=replace(grid, lattice=replace(grid.lattice, pitch=pitch), image_from_lattice=pose)
    )


@lru_cache(maxsize=2)  # 50 MB for a full frame, wanted by several steps of many frames
def owner_map(micro_images: MicroImageArray, height: int, width: int) -> NDArray[np.int32]:
    """Micro-image l · columns + k that owns each pixel, (height, width): that of the nearest centre; −1 for none."""
    from plenodepth.camera.kernels.owners import find_owners, grid_in_image  # Numba's import takes half a second

    owner, grid = np.empty((height, width), np.int32), grid_in_image(micro_images)
    each_band(height, lambda rows: find_owners(rows.start, rows.stop, grid, owner))
    owner.flags.writeable = False
    return owner
