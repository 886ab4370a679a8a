"""The aperture's effect on depth: which model undoes it, where pixels look through it, how tiles are resampled."""

from plenodepth.depth.aperture.model_choice import ApertureChoice, choose_model
from plenodepth.depth.aperture.resampling import ResamplingTables, plan_resampling

__all__ = ["ApertureChoice", "ResamplingTables", "choose_model", "plan_resampling"]
