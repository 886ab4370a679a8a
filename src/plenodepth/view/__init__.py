"""Figures and reports of cameras, calibrations and results. The sub-packages offer more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.io.figures import write_figure as write_figure
    from plenodepth.view.figures.calibration import coverage_figure as coverage_figure
    from plenodepth.view.figures.camera import camera_figure as camera_figure
    from plenodepth.view.figures.camera import predicted_scale_figure as predicted_scale_figure
    from plenodepth.view.figures.depth import cost_figure as cost_figure
    from plenodepth.view.figures.depth import difference_figure as difference_figure
    from plenodepth.view.figures.depth import relative_error_figure as relative_error_figure
    from plenodepth.view.figures.residuals import residual_figure as residual_figure
    from plenodepth.view.reports.calibration import write_calibration_report as write_calibration_report
    from plenodepth.view.reports.reproduction import write_reproduction_report as write_reproduction_report

__getattr__, __dir__, __all__ = lazy_exports(__name__)
