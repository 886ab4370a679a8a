"""Board images in, features out: corners as the micro-images show them, with covariance and blur radius."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.corners.board_features import find_features as find_features
    from plenodepth.calib.corners.step import FeaturesRecord as FeaturesRecord
    from plenodepth.calib.corners.step import FeaturesStep as FeaturesStep
    from plenodepth.calib.corners.step import features_step as features_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
