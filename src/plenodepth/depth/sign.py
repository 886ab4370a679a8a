"""The sign of virtual depth from an image: which way content moves from one micro-image to the next.

A grid alone does not tell whether a camera is Galilean (v > 0) or Keplerian (v < 0). With the wrong sign hardly any
micro-image finds itself in its neighbours, so a few rows of them, estimated coarsely with both, tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.camera import Configuration, GridCamera, PlenopticCamera
from plenodepth.depth.bands import bands
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.image import RawImage

LEAST_SCORE = 0.03  # mean confidence below which there was nothing to match
LARGEST_RIVAL = 0.5  # of the better sign's score: a clear image gives the other sign a hundredth of it
SETTINGS = DepthSettings()


@dataclass(frozen=True)
class DepthSign:
    """What an image says about the sign of virtual depth."""

    configuration: Configuration | None  # Galilean: v > 0; Keplerian: v < 0; None: it cannot be told
    galilean: float  # mean confidence, 0 … 1, of the micro-images with v > 0; one without a depth counts as 0
    keplerian: float  # the same with v < 0

    @property
    def clearness(self) -> float:
        """1 where only one sign finds depths, 0 where both find them equally well or neither any."""
        best, other = max(self.galilean, self.keplerian), min(self.galilean, self.keplerian)
        return 1 - other / best if best > 0 else 0.0


def depth_sign_of_image(image: RawImage, camera: GridCamera, *, threads: int | None = None) -> DepthSign:
    """The sign of virtual depth that fits a clean image of a camera known by its grid, whatever the grid says of it.

    >>> found = depth_sign_of_image(image, grid)
    >>> grid = dataclasses.replace(grid, configuration=found.configuration)
    """
    scores = dict[Configuration, float]()
    no_types = np.zeros((0, 0), np.int64)
    untyped = replace(
        camera,
        micro_images=replace(camera.micro_images, type_pattern=no_types),
        virtual_depth_ranges=np.zeros((0, 2)),
    )
    for configuration in (Configuration.GALILEAN, Configuration.KEPLERIAN):
        maps = [
            estimate_virtual_depth(part, replace(of_part, configuration=configuration), SETTINGS, threads=threads)
            for part, of_part in bands(image, untyped)
        ]
        scores[configuration] = float(np.mean([band.confidence.mean() for band in maps]))
    best = max(scores, key=lambda configuration: scores[configuration])
    told = scores[best] >= LEAST_SCORE and min(scores.values()) <= LARGEST_RIVAL * scores[best]
    return DepthSign(best if told else None, scores[Configuration.GALILEAN], scores[Configuration.KEPLERIAN])


def with_depth_sign(
    image: RawImage, camera: PlenopticCamera | GridCamera, *, threads: int | None = None
) -> tuple[PlenopticCamera | GridCamera, str]:
    """The camera with the sign of its virtual depth, found in the image where a grid does not tell it; and a note."""
    if not isinstance(camera, GridCamera) or camera.configuration is not None:
        return camera, ""
    found = depth_sign_of_image(image, camera, threads=threads).configuration
    if found is None:
        return camera, "neither grid nor image tell the sign of virtual depth; it was taken as positive"
    return replace(camera, configuration=found), ""
