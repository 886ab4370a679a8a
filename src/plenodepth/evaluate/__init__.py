"""Depth against ground truth."""

from plenodepth.evaluate.relative import (
    DisplacementError,
    RelativeDepthError,
    by_displacement,
    median_depth,
    relative_depth_error,
)

__all__ = ["DisplacementError", "RelativeDepthError", "by_displacement", "median_depth", "relative_depth_error"]
