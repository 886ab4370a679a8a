"""How lens types are laid out over a grid that was found in an image, and in which order."""

from __future__ import annotations

import numpy as np

from plenodepth.camera.model import Indices, default_type_pattern
from plenodepth.geometry import Arrangement, Lattice


def type_pattern_for(lattice: Lattice, type_count: int) -> Indices:
    """The layout (P, Q) of `type_count` types in which neighbouring lenses differ, as in Raytrix arrays.

    It is `default_type_pattern` where odd rows (columns) follow the usual shift, and its mirror image elsewhere.
    """
    usual = default_type_pattern(lattice.arrangement, type_count)
    if type_count != 3 or lattice.arrangement is Arrangement.ORTHOGONAL:
        return usual
    rows = lattice.arrangement is Arrangement.HEXAGONAL_ROWS
    mirrored = np.array([[0, 1, 2], [2, 0, 1]])
    other = mirrored if rows else mirrored.T
    return usual if _neighbours_differ(lattice, usual) else other


def _neighbours_differ(lattice: Lattice, pattern: Indices) -> bool:
    k, l = (index.ravel() for index in np.meshgrid(np.arange(12), np.arange(12)))
    place = lattice.unit_node(k, l)
    near = np.linalg.norm(place[:, None] - place[None], axis=-1) < 1.2
    types = pattern[l % pattern.shape[0], k % pattern.shape[1]]
    same = types[:, None] == types[None]
    return not bool((near & same & ~np.eye(len(k), dtype=bool)).any())
