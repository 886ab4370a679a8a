"""Whether the parts of a camera that a file describes can belong together."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.micro_lenses import lens_distances, predicted_center
from plenodepth.camera.model import PlenopticCamera
from plenodepth.errors import InputError


def require_lenses_before_sensor(camera: PlenopticCamera) -> None:
    """Refuse a lens array that is not between the main lens and the sensor."""
    main, sensor = lens_distances(camera, *_corners(camera))
    if not (np.isfinite(main).all() and main.min() > 0 and sensor.min() > 0):
        raise InputError(
            f"puts lenses {main.min():g} mm behind the main lens and {sensor.min():g} mm before the sensor",
            field="micro_lenses.translation",
            fix="both distances must be > 0",
        )


def disagreement(camera: PlenopticCamera) -> float:
    """Largest distance, px, between a corner of the micro-image lattice and where the optics put that centre."""
    k, l = _corners(camera)
    return float(np.abs(predicted_center(k, l, camera) - camera.micro_images.center(k, l)).max())


def _corners(camera: PlenopticCamera) -> tuple[list[int], list[int]]:
    columns, rows = camera.micro_images.lattice.columns - 1, camera.micro_images.lattice.rows - 1
    return [0, columns, 0, columns], [0, 0, rows, rows]
