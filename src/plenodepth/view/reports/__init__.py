"""Reports as HTML pages and Markdown, written from Jinja2 templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.view.reports.calibration import write_calibration_report as write_calibration_report
    from plenodepth.view.reports.depth import write_depth_report as write_depth_report
    from plenodepth.view.reports.optics import write_optics_report as write_optics_report
    from plenodepth.view.reports.reproduction import write_reproduction_report as write_reproduction_report

__getattr__, __dir__, __all__ = lazy_exports(__name__)
