"""Figures of cameras, calibrations and results, drawn by matplotlib."""
