"""Pictures of cameras and results."""

from plenodepth.view.figures.camera import camera_figure
from plenodepth.view.figures.depth import depth_figure
from plenodepth.view.figures.predicted_scale import scale_figure
from plenodepth.view.figures.save import save_figure

__all__ = ["camera_figure", "depth_figure", "save_figure", "scale_figure"]
