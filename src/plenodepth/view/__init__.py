"""Pictures of cameras and results."""

from plenodepth.view.camera_figure import camera_figure
from plenodepth.view.save import save_figure

__all__ = ["camera_figure", "save_figure"]
