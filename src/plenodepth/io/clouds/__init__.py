"""Point clouds in files; `read_cloud` reads all of them."""

from plenodepth.io.clouds.any_format import CLOUD_SUFFIXES, Cloud, read_cloud
from plenodepth.io.clouds.ply import read_ply, write_ply
from plenodepth.io.clouds.pts import read_pts, write_pts
from plenodepth.io.clouds.ptx import PtxScan, read_ptx
from plenodepth.io.clouds.xyz import XyzCloud, read_xyz

__all__ = [
    "CLOUD_SUFFIXES",
    "Cloud",
    "PtxScan",
    "XyzCloud",
    "read_cloud",
    "read_ply",
    "read_pts",
    "read_ptx",
    "read_xyz",
    "write_ply",
    "write_pts",
]
