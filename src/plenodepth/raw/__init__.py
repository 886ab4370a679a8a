"""Raw image in, clean image out."""

from plenodepth.camera.raw_format import BAYER_PATTERNS
from plenodepth.raw.demosaic import demosaic
from plenodepth.raw.image import Devignetting, RawImage, RimCheck
from plenodepth.raw.load import Method, clean_image, load_raw
from plenodepth.raw.noise import noise_level
from plenodepth.raw.vignetting import RadialVignetting, estimated_vignetting, model_white_image, predicted_vignetting

__all__ = [
    "BAYER_PATTERNS",
    "Devignetting",
    "Method",
    "RadialVignetting",
    "RawImage",
    "RimCheck",
    "clean_image",
    "demosaic",
    "estimated_vignetting",
    "load_raw",
    "model_white_image",
    "noise_level",
    "predicted_vignetting",
]
