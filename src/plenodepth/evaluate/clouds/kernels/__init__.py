"""The hot loops of nearest-neighbour searches, compiled by Numba."""
