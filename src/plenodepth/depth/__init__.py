"""Clean image and camera in, virtual depth out: matching, filters, and the settings of both.

image = plenodepth.load_raw("raw.png", camera)
found = estimate_virtual_depth(image, camera, DepthSettings(refined=True))
found = apply_filters(found, camera)
"""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.depth.curves import CostCurve as CostCurve
    from plenodepth.depth.curves import cost_curve as cost_curve
    from plenodepth.depth.estimate import estimate_virtual_depth as estimate_virtual_depth
    from plenodepth.depth.filters import FilterSettings as FilterSettings
    from plenodepth.depth.filters import apply_filters as apply_filters
    from plenodepth.depth.maps import VirtualDepthMap as VirtualDepthMap
    from plenodepth.depth.settings import DepthSettings as DepthSettings
    from plenodepth.depth.settings_file import SettingsFile as SettingsFile
    from plenodepth.depth.settings_file import load_settings as load_settings
    from plenodepth.depth.settings_file import save_settings as save_settings
    from plenodepth.depth.sign import DepthSign as DepthSign
    from plenodepth.depth.sign import depth_sign_of_image as depth_sign_of_image

__getattr__, __dir__, __all__ = lazy_exports(__name__)
