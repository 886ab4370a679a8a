"""The hot loops of the adjustment."""
