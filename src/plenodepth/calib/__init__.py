"""White images, boards and known distances in, camera out."""

from plenodepth.calib.scale.fit import (
    DepthScaleFit,
    ScaleOrder,
    fit_depth_scale,
    fit_depth_scale_to_displacements,
    with_depth_scale,
)

__all__ = [
    "DepthScaleFit",
    "ScaleOrder",
    "fit_depth_scale",
    "fit_depth_scale_to_displacements",
    "with_depth_scale",
]
