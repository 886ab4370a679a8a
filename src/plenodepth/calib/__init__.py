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

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "AdjustSettings": "plenodepth.calib.bundle.settings",
        "Adjustment": "plenodepth.calib.bundle.adjustment",
        "Advice": "plenodepth.calib.advice.advice",
        "BlurCoefficientFit": "plenodepth.calib.blur.kappa",
        "Board": "plenodepth.calib.features",
        "Calibration": "plenodepth.calib.pipeline",
        "CalibrationRun": "plenodepth.calib.advice.summary",
        "CalibrationSummary": "plenodepth.calib.advice.summary",
        "Centers": "plenodepth.calib.features",
        "DepthScaleFit": "plenodepth.calib.scale.fit",
        "ExitPupilFit": "plenodepth.calib.whites.exit_pupil",
        "Features": "plenodepth.calib.features",
        "GridOptions": "plenodepth.calib.whites.step",
        "ImageReader": "plenodepth.calib.image_list",
        "ListedImage": "plenodepth.calib.image_list",
        "Optics": "plenodepth.calib.whites.start_camera",
        "ScaleOrder": "plenodepth.calib.scale.fit",
        "ScannerFiles": "plenodepth.calib.lidar.step",
        "Uncertainty": "plenodepth.calib.bundle.parameter_uncertainty",
        "adjust": "plenodepth.calib.bundle.adjustment",
        "adjust_step": "plenodepth.calib.bundle.step",
        "advise": "plenodepth.calib.advice.rules",
        "calibrate": "plenodepth.calib.pipeline",
        "calibrate_from_features": "plenodepth.calib.pipeline",
        "derived_parameters": "plenodepth.calib.bundle.parameter_uncertainty",
        "estimate_exit_pupil": "plenodepth.calib.whites.exit_pupil",
        "features_step": "plenodepth.calib.corners.step",
        "find_board_poses": "plenodepth.calib.bundle.poses",
        "find_features": "plenodepth.calib.corners.board_features",
        "find_lidar_pose": "plenodepth.calib.lidar.pose",
        "find_scanner_pose": "plenodepth.calib.lidar.step",
        "fit_blur_coefficient": "plenodepth.calib.blur.kappa",
        "fit_board_scale": "plenodepth.calib.scale.boards",
        "fit_depth_scale": "plenodepth.calib.scale.fit",
        "fit_depth_scale_to_displacements": "plenodepth.calib.scale.fit",
        "kappa_step": "plenodepth.calib.blur.step",
        "lidar_step": "plenodepth.calib.lidar.step",
        "listed_images": "plenodepth.calib.image_list",
        "load_start_camera": "plenodepth.calib.whites.libpleno_start",
        "poses_step": "plenodepth.calib.bundle.poses",
        "precalibrate": "plenodepth.calib.whites.precalibration",
        "read_centers": "plenodepth.calib.feature_files",
        "read_features": "plenodepth.calib.feature_files",
        "scale_step": "plenodepth.calib.scale.step",
        "uncertainty": "plenodepth.calib.bundle.parameter_uncertainty",
        "white_step": "plenodepth.calib.whites.step",
        "with_depth_scale": "plenodepth.calib.scale.fit",
        "with_exit_pupil": "plenodepth.calib.whites.exit_pupil",
        "write_centers": "plenodepth.calib.feature_files",
        "write_features": "plenodepth.calib.feature_files",
    },
)
