"""Depth maps in files; `read_map` reads all of them."""

from plenodepth.io.maps.any_format import MAP_SUFFIXES, DepthValues, read_map
from plenodepth.io.maps.csv import read_map_csv
from plenodepth.io.maps.exr import read_exr

__all__ = ["MAP_SUFFIXES", "DepthValues", "read_exr", "read_map", "read_map_csv"]
