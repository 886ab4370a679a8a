"""The blur coefficient κ from board corners."""
