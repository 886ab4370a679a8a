"""The hot loops of the matching: `reference` in plain NumPy is the oracle, `cpu` in Numba equals it."""
