"""Filters of virtual depth: a map in, a map out."""

from plenodepth.depth.filters.apply import FilterSettings, apply_filters
from plenodepth.depth.filters.removing import confidence_threshold, consistency, metric_range
from plenodepth.depth.filters.smoothing import bilateral, median_across

__all__ = [
    "FilterSettings",
    "apply_filters",
    "bilateral",
    "confidence_threshold",
    "consistency",
    "median_across",
    "metric_range",
]
