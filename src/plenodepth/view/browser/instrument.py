"""What took the frames, where the user has said it: the camera, and the raw images that curves are computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_lenses import lens_center
from plenodepth.camera.model import ApertureModel
from plenodepth.io.srgb import srgb_encoded
from plenodepth.raw.image import RawImage

BRIGHT = 0.995  # of the light is not brighter than white
LEVELS = 4096  # of light that a picture tells apart


@dataclass(frozen=True, eq=False)
class Instrument:
    """A camera, and the clean raw image of a frame by its name; None where there is none."""

    camera: PlenopticCamera | GridCamera
    load_image: Callable[[str], RawImage | None] | None = None

    @property
    def has_images(self) -> bool:
        """Whether there are raw images at all."""
        return self.load_image is not None

    def image(self, name: str) -> RawImage | None:
        """The clean raw image of a frame; the last one is kept."""
        if self._kept.get("name") != name:
            image = None if self.load_image is None else self.load_image(name)
            self._kept.update(name=name, image=image)
        found: RawImage | None = self._kept["image"]
        return found

    @cached_property
    def _kept(self) -> dict[str, Any]:
        return {}

    def optics(self, model: ApertureModel) -> PlenopticCamera | None:
        """The camera with the Γ that belongs to maps of an aperture model; None if it is known by its grid only."""
        return scaled_for(self.camera, model) if isinstance(self.camera, PlenopticCamera) else None

    @cached_property
    def lenses(self) -> NDArray[np.float32] | None:
        """The centres (J, 3) of the micro-lenses, mm."""
        if not isinstance(self.camera, PlenopticCamera):
            return None
        k, l = self.camera.micro_images.lattice.indices()
        return lens_center(k, l, self.camera).reshape(-1, 3).astype(np.float32)

    @property
    def lens_types(self) -> NDArray[np.int64]:
        """The type (J,) of each lens; −1 for pinholes."""
        grid = self.camera.micro_images
        return np.asarray(grid.lens_type(*grid.lattice.indices()).ravel())


def shown_light(image: RawImage) -> NDArray[np.uint8]:
    """A clean image as a picture (h, w, 3): its light as sRGB; the brightest half per cent are white."""
    light = image.gray[..., None] if image.color is None else image.color
    sample = light[::7, ::7]
    white = float(np.nanquantile(sample, BRIGHT)) if np.isfinite(sample).any() else 1.0
    bytes_of = (255 * srgb_encoded(np.linspace(0, 1, LEVELS + 1))).round().astype(np.uint8)
    index = np.nan_to_num(light * np.float32(LEVELS / max(white, 1e-6)), copy=False)
    picture = bytes_of[np.clip(index, 0, LEVELS, out=index).astype(np.int16)]
    return np.ascontiguousarray(np.broadcast_to(picture, (*light.shape[:2], 3)))
