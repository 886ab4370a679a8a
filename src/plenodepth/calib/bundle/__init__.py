"""Features in, camera and board poses out: bundle adjustment and its uncertainty."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.bundle.adjustment import Adjustment as Adjustment
    from plenodepth.calib.bundle.adjustment import adjust as adjust
    from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty as Uncertainty
    from plenodepth.calib.bundle.parameter_uncertainty import depth_uncertainty as depth_uncertainty
    from plenodepth.calib.bundle.parameter_uncertainty import derived_parameters as derived_parameters
    from plenodepth.calib.bundle.parameter_uncertainty import uncertainty as uncertainty
    from plenodepth.calib.bundle.poses import BoardPlace as BoardPlace
    from plenodepth.calib.bundle.poses import BoardPoses as BoardPoses
    from plenodepth.calib.bundle.poses import PosesStep as PosesStep
    from plenodepth.calib.bundle.poses import find_board_poses as find_board_poses
    from plenodepth.calib.bundle.poses import poses_step as poses_step
    from plenodepth.calib.bundle.poses import write_board_poses as write_board_poses
    from plenodepth.calib.bundle.settings import AdjustSettings as AdjustSettings
    from plenodepth.calib.bundle.settings import free_parameters as free_parameters
    from plenodepth.calib.bundle.step import AdjustStep as AdjustStep
    from plenodepth.calib.bundle.step import adjust_step as adjust_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
