"""The main lens' aperture: which part of each micro-lens it leaves open, and what pixels see through that part."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.camera.aperture.chief_ray import apparent_position as apparent_position
    from plenodepth.camera.aperture.chief_ray import chief_ray_position as chief_ray_position
    from plenodepth.camera.aperture.chief_ray import clipped_blur_radius as clipped_blur_radius
    from plenodepth.camera.aperture.chief_ray import light_centroid as light_centroid
    from plenodepth.camera.aperture.clipping import ApertureTable as ApertureTable
    from plenodepth.camera.aperture.clipping import aperture_diameter as aperture_diameter
    from plenodepth.camera.aperture.clipping import aperture_table as aperture_table
    from plenodepth.camera.aperture.clipping import focus_inverse_depth as focus_inverse_depth
    from plenodepth.camera.aperture.clipping import open_lens as open_lens
    from plenodepth.camera.aperture.quadrature import open_nodes as open_nodes

__getattr__, __dir__, __all__ = lazy_exports(__name__)
