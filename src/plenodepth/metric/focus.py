"""What a focus that the micro-images cannot tell would do to depth, in words.

The pitch of the micro-images is that of the lenses times 1 + d/P, P being the distance to the exit pupil. Where it is
known to some part only, so is P, and with it D: z = F + F²/(v d + D − F).
"""

from __future__ import annotations

import numpy as np

from plenodepth.camera import GridCamera, PlenopticCamera, lens_distances
from plenodepth.camera.micro_lenses import to_pupil
from plenodepth.raw.image import PitchCheck, RawImage

LARGEST_UNTOLD = 0.1  # of z: what the focus may do to depth untold. Whole R12 frames tell 6 % at 0.9 m, 14 % at 2 m.
STEP = 0.1  # mm


def depth_error(z: float, moved: float, camera: PlenopticCamera) -> float:
    """How far off a depth z, mm, is if the main lens has moved by some mm since the calibration, as a part of z."""
    focal = camera.main_lens.focal_length
    return abs(moved) * (z - focal) ** 2 / (focal**2 * z)


def moved_by(scale: float, camera: PlenopticCamera) -> float:
    """How far the main lens moves, mm, while the pitch of the micro-images changes by some part of it."""
    pupil, to_sensor = float(to_pupil(camera)), float(lens_distances(camera).to_sensor)
    return -scale * pupil * (pupil + to_sensor) / to_sensor


def unchecked_focus(image: RawImage, camera: PlenopticCamera | GridCamera, z: float | None) -> list[str]:
    """A sentence for the user where image and white image cannot tell the focus well enough for depths about z, mm."""
    spread = image.spread
    if spread is None or spread.other_focus or z is None or not isinstance(camera, PlenopticCamera):
        return []
    if not np.isfinite(spread.error):
        off = depth_error(z, STEP, camera)
        return [
            "too few micro-images show whether the main lens is focused as when it was calibrated; each "
            f"{STEP:g} mm that it was moved since makes depth {100 * off:.0f} % wrong, so keep its focus locked"
        ]
    off = depth_error(z, moved_by(spread.least_told, camera), camera)
    if off <= LARGEST_UNTOLD:
        return []
    return [
        f"the micro-images would not tell if the main lens was refocused since its calibration by so little that depth "
        f"is up to {100 * off:.0f} % wrong; {_advice(spread)}"
    ]


def _advice(spread: PitchCheck) -> str:
    if spread.source == "image":
        return "a white image taken with it would tell more"
    return "keep its focus locked"
