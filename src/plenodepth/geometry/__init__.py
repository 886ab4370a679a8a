"""Poses and lattices: plain geometry, no cameras."""

from plenodepth.geometry.lattice import Arrangement, Lattice
from plenodepth.geometry.pose import PlanarPose, Pose

__all__ = ["Arrangement", "Lattice", "PlanarPose", "Pose"]
