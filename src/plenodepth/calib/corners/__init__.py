"""Checkerboard corners in micro-images: found, fitted, and named by the board's grid."""
