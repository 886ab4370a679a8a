"""Cameras in files: our own format (YAML, JSON), libpleno's (.js), grids of other programs (.xml, .cfg)."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.camera.files.any_format import Camera as Camera
    from plenodepth.camera.files.any_format import load_camera as load_camera
    from plenodepth.camera.files.any_format import load_plenoptic_camera as load_plenoptic_camera
    from plenodepth.camera.files.any_format import needs_image_size as needs_image_size
    from plenodepth.camera.files.any_format import save_camera as save_camera

__getattr__, __dir__, __all__ = lazy_exports(__name__)
