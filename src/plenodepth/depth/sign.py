"""The sign of virtual depth from an image: which way content moves from one micro-image to the next.

A grid alone does not tell whether a camera is Galilean (v > 0) or Keplerian (v < 0). With the wrong sign hardly any
micro-image finds itself in its neighbours, so a few rows of them, estimated coarsely with both, tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plenodepth.camera import Configuration, GridCamera, MicroImageArray, PlenopticCamera
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import PlanarPose
from plenodepth.raw.image import RawImage

BANDS = 3  # over the height of the image,
BAND_ROWS = 8  # each of so many rows of micro-images: more than twice as far as neighbours are compared
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
    for configuration in (Configuration.GALILEAN, Configuration.KEPLERIAN):
        maps = [
            estimate_virtual_depth(part, replace(of_part, configuration=configuration), SETTINGS, threads=threads)
            for part, of_part in _bands(image, camera)
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


def _bands(image: RawImage, camera: GridCamera) -> list[tuple[RawImage, GridCamera]]:
    """Some bands of rows of micro-images, each with a camera of its own; of a small camera all rows."""
    rows = camera.micro_images.lattice.rows
    if rows <= BANDS * BAND_ROWS:
        return [(image, camera)]
    starts = np.linspace(0, rows - BAND_ROWS, 2 * BANDS + 1)[1::2].astype(int)  # not at the borders
    return [_band(image, camera, int(start - start % 2)) for start in starts]  # even: other rows have other neighbours


def _band(image: RawImage, camera: GridCamera, first: int) -> tuple[RawImage, GridCamera]:
    """The part of image and camera that holds the rows `first` … of micro-images. Lens types are left out."""
    grid = camera.micro_images
    lattice = replace(grid.lattice, rows=BAND_ROWS)
    k, l = lattice.indices()
    down = grid.center(k, l + first)[..., 1]
    top = int(max(np.floor(down.min() - grid.radius), 0))
    bottom = int(min(np.ceil(down.max() + grid.radius) + 1, camera.height))
    shift = grid.center(0, first) - grid.center(0, 0) - [0, top]
    pose = PlanarPose(grid.image_from_lattice.angle, grid.image_from_lattice.translation + shift)
    part = replace(
        camera,
        height=bottom - top,
        micro_images=MicroImageArray(lattice, pose, np.zeros((0, 0), dtype=np.int64)),
        virtual_depth_ranges=np.zeros((0, 2)),
    )
    return replace(image, gray=np.ascontiguousarray(image.gray[top:bottom]), color=None), part
