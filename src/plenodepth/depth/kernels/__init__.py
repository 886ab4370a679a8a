"""The hot loops of the matching.

`constants` are the numbers that all of them share, `scalar` the formulas of one pair and one hypothesis for the CPU,
`cpu` the fast kernels in Numba, `reference` the same in plain NumPy: the independent oracle that `cpu` must equal.
"""
