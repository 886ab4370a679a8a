"""Board images and features in, the blur coefficient κ out."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.blur.kappa import BlurCoefficientFit as BlurCoefficientFit
    from plenodepth.calib.blur.kappa import fit_blur_coefficient as fit_blur_coefficient
    from plenodepth.calib.blur.step import KappaRecord as KappaRecord
    from plenodepth.calib.blur.step import KappaStep as KappaStep
    from plenodepth.calib.blur.step import kappa_step as kappa_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
