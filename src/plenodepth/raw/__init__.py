"""Raw image in, clean image out."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.camera.raw_format import BAYER_PATTERNS as BAYER_PATTERNS
    from plenodepth.raw.demosaicing import demosaic as demosaic
    from plenodepth.raw.image import Devignetting as Devignetting
    from plenodepth.raw.image import RawImage as RawImage
    from plenodepth.raw.image import RimCheck as RimCheck
    from plenodepth.raw.load import Method as Method
    from plenodepth.raw.load import clean_image as clean_image
    from plenodepth.raw.load import load_frames as load_frames
    from plenodepth.raw.load import load_raw as load_raw
    from plenodepth.raw.noise import noise_level as noise_level
    from plenodepth.raw.vignetting import RadialVignetting as RadialVignetting
    from plenodepth.raw.vignetting import estimated_vignetting as estimated_vignetting
    from plenodepth.raw.vignetting import model_white_image as model_white_image
    from plenodepth.raw.vignetting import predicted_vignetting as predicted_vignetting

__getattr__, __dir__, __all__ = lazy_exports(__name__)
