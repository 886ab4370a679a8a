"""Loops over the bytes of files that are too long for Python, compiled by Numba."""
