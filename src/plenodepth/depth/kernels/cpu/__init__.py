"""The kernels for the CPU, compiled by Numba."""
