"""The dense central view as a result: its maps, its cloud, and the files that it goes into."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera
from plenodepth.io import write_float_map, write_image
from plenodepth.metric.cloud import PointCloud
from plenodepth.metric.picture import depth_picture, srgb_picture

Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class CentralView:
    """What a pinhole in place of the main lens sees, (h, w) each; NaN where there is no depth."""

    depth: Float32  # mm, or virtual depth where the camera is known by its grid only
    sigma: Float32  # standard deviation of the depth
    confidence: Float32  # probability that the depth is right, within 5 %
    light: Float32  # (h, w, channels), linear: RGB, or gray; NaN where no micro-image shows the pixel
    micro_images: NDArray[np.uint16]  # number of those that see the pixel's point and have its depth
    filled: NDArray[np.bool_]  # no texture: the depth is that of what lies around
    side: NDArray[np.uint8]  # the views that count: 0: all; 1 … 4: right, left, below or above: the others are occluded
    scale: int  # side of a pixel, in pixels of the sensor
    metric: bool  # whether depth is in mm

    @property
    def summary(self) -> dict[str, float]:
        """Shares of its pixels with a depth, filled, and (of those with a depth) of which no micro-image has the depth.

        Also the median confidence of those with a depth.
        """
        there = np.isfinite(self.depth)
        return {
            "valid_fraction": float(there.mean()),
            "filled_fraction": float(self.filled.mean()),
            "unconfirmed_fraction": float((self.micro_images[there] == 0).mean()) if there.any() else 0.0,
            "median_confidence": float(np.median(self.confidence[there])) if there.any() else 0.0,
        }

    @property
    def picture(self) -> NDArray[np.uint8]:
        """Its light as sRGB (h, w, 3), 1 for white; black where there is none."""
        return srgb_picture(self.light)

    def cloud(self, camera: PlenopticCamera) -> PointCloud:
        """Its pixels as points in the camera frame, row by row."""
        from plenodepth.metric.central_colors import central_points

        there = np.isfinite(self.depth)
        points = central_points(self.depth, camera, scale=self.scale)[there]
        row, column = np.nonzero(there)
        pixels = (self.scale * np.stack([column, row], axis=-1) + (self.scale - 1) // 2).astype(np.int32)
        return PointCloud(points, self.picture[there], self.confidence[there], self.sigma[there], pixels)

    def write(self, folder: Path, name: str, *, warning: str = "") -> None:
        """Write the maps .tiff, .sigma.tiff, .confidence.tiff, .micro-images.png, .filled.png, .side.png, and pictures.

        Each is called NAME.dense and its suffix. The pictures are NAME.dense.png, of the depth, with the warning if
        there is one, and NAME.view.png, what the view shows.
        """
        maps = {"": self.depth, ".sigma": self.sigma, ".confidence": self.confidence}
        for kind, values in maps.items():
            write_float_map(values, folder / f"{name}.dense{kind}.tiff", compressed=False)
        write_image(self.micro_images, folder / f"{name}.dense.micro-images.png")
        write_image(255 * self.filled.astype(np.uint8), folder / f"{name}.dense.filled.png")
        write_image(self.side, folder / f"{name}.dense.side.png")
        write_image(np.ascontiguousarray(self.picture), folder / f"{name}.view.png")
        unit = "mm" if self.metric else "virtual depth"
        picture = depth_picture(self.depth, f"{name}: dense central view", unit, warning=warning)
        write_image(picture, folder / f"{name}.dense.png")
