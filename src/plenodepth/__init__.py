"""plenodepth: metric depth from one raw image of a multi-focus plenoptic camera.

>>> import plenodepth
>>> camera = plenodepth.load_camera("camera.yaml")
>>> image = plenodepth.load_raw("raw.png", camera, white="white.png")
>>> depth = plenodepth.estimate_depth(image, camera)
>>> depth.z.shape, depth.sigma.shape, depth.points.shape[1]  # mm
((20, 24), (20, 24), 3)
>>> paths = depth.save("out")

Names are loaded at first use, so that the import takes no time.
"""

from typing import TYPE_CHECKING

from plenodepth.errors import InputError, PlenodepthError
from plenodepth.lazy import lazy_exports
from plenodepth.version import __version__ as __version__

if TYPE_CHECKING:
    from plenodepth.calib.features import Board as Board
    from plenodepth.calib.pipeline import Calibration as Calibration
    from plenodepth.calib.pipeline import calibrate as calibrate
    from plenodepth.calib.whites.from_images.camera import grid_from_images as grid_from_images
    from plenodepth.calib.whites.start_camera import Optics as Optics
    from plenodepth.camera import GridCamera as GridCamera
    from plenodepth.camera import PlenopticCamera as PlenopticCamera
    from plenodepth.camera import load_camera as load_camera
    from plenodepth.camera import preset as preset
    from plenodepth.camera import save_camera as save_camera
    from plenodepth.depth.dense_settings import DenseSettings as DenseSettings
    from plenodepth.depth.estimate import estimate_virtual_depth as estimate_virtual_depth
    from plenodepth.depth.filters import FilterSettings as FilterSettings
    from plenodepth.depth.settings import DepthSettings as DepthSettings
    from plenodepth.evaluate import compare_clouds as compare_clouds
    from plenodepth.evaluate import compare_to_mesh as compare_to_mesh
    from plenodepth.evaluate import depth_differences as depth_differences
    from plenodepth.evaluate import relative_depth_error as relative_depth_error
    from plenodepth.metric.dense.central_view import CentralView as CentralView
    from plenodepth.metric.frame import estimate_depth as estimate_depth
    from plenodepth.metric.result import DepthResult as DepthResult
    from plenodepth.raw import RawImage as RawImage
    from plenodepth.raw import clean_image as clean_image
    from plenodepth.raw import load_frames as load_frames
    from plenodepth.raw import load_raw as load_raw
    from plenodepth.render.allfocus import all_in_focus as all_in_focus
    from plenodepth.render.pupil_views import viewpoints as viewpoints
    from plenodepth.render.refocus import refocused as refocused
    from plenodepth.render.view import RenderedView as RenderedView
    from plenodepth.sim.scenes.scene_file import load_scene as load_scene
    from plenodepth.sim.simulate import simulate_scene as simulate_scene
    from plenodepth.sim.simulate import simulate_white as simulate_white


__getattr__, __dir__, _lazy = lazy_exports(__name__)
__all__ = ["InputError", "PlenodepthError", "__version__", *_lazy]
