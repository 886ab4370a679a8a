"""How good a calibration is, what it rests on, and what would make it better."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.advice.advice import Advice as Advice
    from plenodepth.calib.advice.facts import FitFacts as FitFacts
    from plenodepth.calib.advice.facts import FrameFacts as FrameFacts
    from plenodepth.calib.advice.facts import fit_facts as fit_facts
    from plenodepth.calib.advice.facts import radial_profiles as radial_profiles
    from plenodepth.calib.advice.rules import advise as advise
    from plenodepth.calib.advice.summary import CalibrationRun as CalibrationRun
    from plenodepth.calib.advice.summary import CalibrationSummary as CalibrationSummary
    from plenodepth.calib.advice.summary import depth_curve as depth_curve
    from plenodepth.calib.advice.summary import summarise as summarise

__getattr__, __dir__, __all__ = lazy_exports(__name__)
