"""Figures of cameras, calibrations, depth and the paper's experiments. Each function returns a Matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.io.figures import write_figure as write_figure
    from plenodepth.view.figures.board_scale import board_scale_figure as board_scale_figure
    from plenodepth.view.figures.board_scale import scale_error_figure as scale_error_figure
    from plenodepth.view.figures.calibration import coverage_figure as coverage_figure
    from plenodepth.view.figures.calibration import depth_uncertainty_figure as depth_uncertainty_figure
    from plenodepth.view.figures.calibration import feature_figure as feature_figure
    from plenodepth.view.figures.calibration import kappa_figure as kappa_figure
    from plenodepth.view.figures.calibration import white_radii_figure as white_radii_figure
    from plenodepth.view.figures.camera import camera_figure as camera_figure
    from plenodepth.view.figures.camera import predicted_scale_figure as predicted_scale_figure
    from plenodepth.view.figures.cloud import cloud_picture as cloud_picture
    from plenodepth.view.figures.confidence import confidence_figure as confidence_figure
    from plenodepth.view.figures.depth import cost_figure as cost_figure
    from plenodepth.view.figures.depth import difference_figure as difference_figure
    from plenodepth.view.figures.depth import relative_error_figure as relative_error_figure
    from plenodepth.view.figures.overview import overview_figure as overview_figure
    from plenodepth.view.figures.relative_depth import depth_bias_figure as depth_bias_figure
    from plenodepth.view.figures.relative_depth import disparity_error_figure as disparity_error_figure
    from plenodepth.view.figures.relative_depth import displacement_error_figure as displacement_error_figure
    from plenodepth.view.figures.relative_depth import mean_error_figure as mean_error_figure
    from plenodepth.view.figures.residuals import blur_residual_figure as blur_residual_figure
    from plenodepth.view.figures.residuals import board_poses_figure as board_poses_figure
    from plenodepth.view.figures.residuals import center_residual_figure as center_residual_figure
    from plenodepth.view.figures.residuals import lidar_residual_figure as lidar_residual_figure
    from plenodepth.view.figures.residuals import micro_image_residual_figure as micro_image_residual_figure
    from plenodepth.view.figures.residuals import residual_figure as residual_figure
    from plenodepth.view.figures.scene import scene_figure as scene_figure

__getattr__, __dir__, __all__ = lazy_exports(__name__)
