"""Poses, lattices and discs: plain geometry, no cameras."""

from plenodepth.geometry.lattice import Arrangement, Lattice
from plenodepth.geometry.pose import PlanarPose, Pose, cross_matrix

__all__ = ["Arrangement", "Lattice", "PlanarPose", "Pose", "cross_matrix"]
