"""Depths of boards in, the depth scale Γ out."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.scale.boards import BoardScaleFit as BoardScaleFit
    from plenodepth.calib.scale.boards import fit_board_scale as fit_board_scale
    from plenodepth.calib.scale.fit import DepthScaleFit as DepthScaleFit
    from plenodepth.calib.scale.fit import ScaleOrder as ScaleOrder
    from plenodepth.calib.scale.fit import fit_depth_scale as fit_depth_scale
    from plenodepth.calib.scale.fit import fit_depth_scale_to_displacements as fit_depth_scale_to_displacements
    from plenodepth.calib.scale.fit import with_depth_scale as with_depth_scale
    from plenodepth.calib.scale.prediction import ScalePrediction as ScalePrediction
    from plenodepth.calib.scale.prediction import predict_scale as predict_scale
    from plenodepth.calib.scale.prediction import round_depths as round_depths
    from plenodepth.calib.scale.step import ScaleRecord as ScaleRecord
    from plenodepth.calib.scale.step import ScaleStep as ScaleStep
    from plenodepth.calib.scale.step import scale_step as scale_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
