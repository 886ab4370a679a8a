"""Ordinary raw images in, the grid of their camera out: lines of the spectrum, lattice, lens types, sign of depth."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.whites.from_images.camera import grid_from_images as grid_from_images

__getattr__, __dir__, __all__ = lazy_exports(__name__)
