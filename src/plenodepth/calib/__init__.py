"""White images, boards and known distances in, camera with uncertainties and advice out: `calibrate` does it all."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.advice.advice import Advice as Advice
    from plenodepth.calib.advice.rules import advise as advise
    from plenodepth.calib.advice.summary import CalibrationRun as CalibrationRun
    from plenodepth.calib.advice.summary import CalibrationSummary as CalibrationSummary
    from plenodepth.calib.blur.kappa import BlurCoefficientFit as BlurCoefficientFit
    from plenodepth.calib.blur.kappa import fit_blur_coefficient as fit_blur_coefficient
    from plenodepth.calib.blur.step import kappa_step as kappa_step
    from plenodepth.calib.bundle.adjustment import Adjustment as Adjustment
    from plenodepth.calib.bundle.adjustment import adjust as adjust
    from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty as Uncertainty
    from plenodepth.calib.bundle.parameter_uncertainty import derived_parameters as derived_parameters
    from plenodepth.calib.bundle.parameter_uncertainty import uncertainty as uncertainty
    from plenodepth.calib.bundle.poses import find_board_poses as find_board_poses
    from plenodepth.calib.bundle.poses import poses_step as poses_step
    from plenodepth.calib.bundle.settings import AdjustSettings as AdjustSettings
    from plenodepth.calib.bundle.step import adjust_step as adjust_step
    from plenodepth.calib.corners.board_features import find_features as find_features
    from plenodepth.calib.corners.step import features_step as features_step
    from plenodepth.calib.feature_files import read_centers as read_centers
    from plenodepth.calib.feature_files import read_features as read_features
    from plenodepth.calib.feature_files import write_centers as write_centers
    from plenodepth.calib.feature_files import write_features as write_features
    from plenodepth.calib.features import Board as Board
    from plenodepth.calib.features import Centers as Centers
    from plenodepth.calib.features import Features as Features
    from plenodepth.calib.image_list import ImageReader as ImageReader
    from plenodepth.calib.image_list import ListedImage as ListedImage
    from plenodepth.calib.image_list import listed_images as listed_images
    from plenodepth.calib.lidar.pose import find_lidar_pose as find_lidar_pose
    from plenodepth.calib.lidar.step import ScannerFiles as ScannerFiles
    from plenodepth.calib.lidar.step import find_scanner_pose as find_scanner_pose
    from plenodepth.calib.lidar.step import lidar_step as lidar_step
    from plenodepth.calib.pipeline import Calibration as Calibration
    from plenodepth.calib.pipeline import calibrate as calibrate
    from plenodepth.calib.pipeline import calibrate_from_features as calibrate_from_features
    from plenodepth.calib.scale.boards import fit_board_scale as fit_board_scale
    from plenodepth.calib.scale.fit import DepthScaleFit as DepthScaleFit
    from plenodepth.calib.scale.fit import ScaleOrder as ScaleOrder
    from plenodepth.calib.scale.fit import fit_depth_scale as fit_depth_scale
    from plenodepth.calib.scale.fit import fit_depth_scale_to_displacements as fit_depth_scale_to_displacements
    from plenodepth.calib.scale.fit import with_depth_scale as with_depth_scale
    from plenodepth.calib.scale.step import scale_step as scale_step
    from plenodepth.calib.whites.exit_pupil import ExitPupilFit as ExitPupilFit
    from plenodepth.calib.whites.exit_pupil import estimate_exit_pupil as estimate_exit_pupil
    from plenodepth.calib.whites.exit_pupil import with_exit_pupil as with_exit_pupil
    from plenodepth.calib.whites.libpleno_start import load_start_camera as load_start_camera
    from plenodepth.calib.whites.precalibration import precalibrate as precalibrate
    from plenodepth.calib.whites.start_camera import Optics as Optics
    from plenodepth.calib.whites.step import GridOptions as GridOptions
    from plenodepth.calib.whites.step import white_step as white_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
