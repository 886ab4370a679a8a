"""Depth maps against true depth maps, pixel by pixel."""
