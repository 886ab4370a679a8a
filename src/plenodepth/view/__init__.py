"""Pictures of cameras and results."""

from plenodepth.view.camera_figure import camera_figure
from plenodepth.view.depth_figure import depth_figure
from plenodepth.view.save import save_figure
from plenodepth.view.scale_figure import scale_figure

__all__ = ["camera_figure", "depth_figure", "save_figure", "scale_figure"]
