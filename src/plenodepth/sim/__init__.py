"""Raw images with known depth: scenes, a ray tracer through the camera, its sensor, and a laser scanner beside it.

`render_scene` gives a frame as arrays, `simulate_scene` writes it as a folder. Scenes are in `plenodepth.sim.scenes`.
"""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.sim.dataset import DatasetReport as DatasetReport
    from plenodepth.sim.dataset import simulate_dataset as simulate_dataset
    from plenodepth.sim.lidar import ExtrinsicTargets as ExtrinsicTargets
    from plenodepth.sim.lidar import LidarScan as LidarScan
    from plenodepth.sim.lidar import LidarSettings as LidarSettings
    from plenodepth.sim.lidar import lidar_for_scene as lidar_for_scene
    from plenodepth.sim.lidar import scan_scene as scan_scene
    from plenodepth.sim.optics.file import load_optics as load_optics
    from plenodepth.sim.optics.options import RealOptics as RealOptics
    from plenodepth.sim.optics.options import Stop as Stop
    from plenodepth.sim.render import RenderSettings as RenderSettings
    from plenodepth.sim.scenes.scene import Scene as Scene
    from plenodepth.sim.scenes.scene_file import load_scene as load_scene
    from plenodepth.sim.sensor import SensorSettings as SensorSettings
    from plenodepth.sim.sensor import expose as expose
    from plenodepth.sim.simulate import FrameInfo as FrameInfo
    from plenodepth.sim.simulate import FrameSettings as FrameSettings
    from plenodepth.sim.simulate import SimulatedFrame as SimulatedFrame
    from plenodepth.sim.simulate import render_scene as render_scene
    from plenodepth.sim.simulate import render_white as render_white
    from plenodepth.sim.simulate import simulate_scene as simulate_scene
    from plenodepth.sim.simulate import simulate_white as simulate_white
    from plenodepth.sim.simulate import white_scene as white_scene
    from plenodepth.sim.truth import GroundTruth as GroundTruth
    from plenodepth.sim.truth import ground_truth as ground_truth
    from plenodepth.sim.views import TrueView as TrueView
    from plenodepth.sim.views import simulate_views as simulate_views
    from plenodepth.sim.views import true_view as true_view
    from plenodepth.sim.views import view_grid as view_grid

__getattr__, __dir__, __all__ = lazy_exports(__name__)
