"""The matching in plain NumPy, slow and readable: the oracle that the fast kernels must equal.

It borrows nothing from what it judges but the constants and the containers of arrays.
"""

from plenodepth.depth.kernels.reference.matching import view_costs
from plenodepth.depth.kernels.reference.resampling import ComparedTiles
from plenodepth.depth.kernels.reference.scattering import coarse_scatter, refined_scatter
from plenodepth.depth.kernels.reference.search import coarse_depth, coarse_rows, refined_depth, refined_rows

__all__ = [
    "ComparedTiles",
    "coarse_depth",
    "coarse_rows",
    "coarse_scatter",
    "refined_depth",
    "refined_rows",
    "refined_scatter",
    "view_costs",
]
