"""Real lenses: what the simulator adds to thin ones, each effect an option, and the files that hold such options."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.sim.optics.camera import camera_with_optics as camera_with_optics
    from plenodepth.sim.optics.file import load_optics as load_optics
    from plenodepth.sim.optics.file import save_optics as save_optics
    from plenodepth.sim.optics.options import RealOptics as RealOptics
    from plenodepth.sim.optics.options import Stop as Stop
    from plenodepth.sim.optics.presets import OPTICS_PRESETS as OPTICS_PRESETS
    from plenodepth.sim.optics.presets import optics_preset as optics_preset

__getattr__, __dir__, __all__ = lazy_exports(__name__)
