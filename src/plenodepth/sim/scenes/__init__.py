"""What is simulated: objects, materials and lamps, the files that describe scenes, and the twins of the datasets."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.sim.scenes.figurines import figurine as figurine
    from plenodepth.sim.scenes.meshes import load_mesh as load_mesh
    from plenodepth.sim.scenes.scene import Box as Box
    from plenodepth.sim.scenes.scene import Checkerboard as Checkerboard
    from plenodepth.sim.scenes.scene import ImageTexture as ImageTexture
    from plenodepth.sim.scenes.scene import Light as Light
    from plenodepth.sim.scenes.scene import Material as Material
    from plenodepth.sim.scenes.scene import Mesh as Mesh
    from plenodepth.sim.scenes.scene import Rectangle as Rectangle
    from plenodepth.sim.scenes.scene import Scene as Scene
    from plenodepth.sim.scenes.scene import SceneObject as SceneObject
    from plenodepth.sim.scenes.scene import SolidTexture as SolidTexture
    from plenodepth.sim.scenes.scene import Sphere as Sphere
    from plenodepth.sim.scenes.scene_file import load_scene as load_scene
    from plenodepth.sim.scenes.textures import noise_image as noise_image
    from plenodepth.sim.scenes.textures import read_texture as read_texture
    from plenodepth.sim.scenes.textures import solid_noise as solid_noise
    from plenodepth.sim.scenes.twins import Twin as Twin
    from plenodepth.sim.scenes.twins import twin as twin

__getattr__, __dir__, __all__ = lazy_exports(__name__)
