"""White images in; grid, centres, radii and the camera that a calibration starts from out."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.whites.exit_pupil import ExitPupilFit as ExitPupilFit
    from plenodepth.calib.whites.exit_pupil import estimate_exit_pupil as estimate_exit_pupil
    from plenodepth.calib.whites.exit_pupil import with_exit_pupil as with_exit_pupil
    from plenodepth.calib.whites.grid import FoundGrid as FoundGrid
    from plenodepth.calib.whites.grid import find_grid as find_grid
    from plenodepth.calib.whites.libpleno_start import load_start_camera as load_start_camera
    from plenodepth.calib.whites.precalibration import Precalibration as Precalibration
    from plenodepth.calib.whites.precalibration import precalibrate as precalibrate
    from plenodepth.calib.whites.radii import WhiteRadii as WhiteRadii
    from plenodepth.calib.whites.radii import measure_radii as measure_radii
    from plenodepth.calib.whites.start_camera import Optics as Optics
    from plenodepth.calib.whites.start_camera import initial_camera as initial_camera
    from plenodepth.calib.whites.step import GridOptions as GridOptions
    from plenodepth.calib.whites.step import WhiteRecord as WhiteRecord
    from plenodepth.calib.whites.step import WhiteStep as WhiteStep
    from plenodepth.calib.whites.step import white_step as white_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
