"""Depth maps against true ones: differences, where they are large, and whether confidence and σ tell."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.evaluate.maps.boundaries import boundary_distance as boundary_distance
    from plenodepth.evaluate.maps.boundaries import depth_jumps as depth_jumps
    from plenodepth.evaluate.maps.comparison import DepthComparison as DepthComparison
    from plenodepth.evaluate.maps.comparison import FolderComparison as FolderComparison
    from plenodepth.evaluate.maps.comparison import FrameComparison as FrameComparison
    from plenodepth.evaluate.maps.comparison import compare_map_files as compare_map_files
    from plenodepth.evaluate.maps.comparison import compare_map_folders as compare_map_folders
    from plenodepth.evaluate.maps.differences import DepthDifferences as DepthDifferences
    from plenodepth.evaluate.maps.differences import depth_differences as depth_differences
    from plenodepth.evaluate.maps.differences import signed_differences as signed_differences
    from plenodepth.evaluate.maps.sigma_calibration import SigmaBin as SigmaBin
    from plenodepth.evaluate.maps.sigma_calibration import SigmaCalibration as SigmaCalibration
    from plenodepth.evaluate.maps.sigma_calibration import compare_sigma as compare_sigma
    from plenodepth.evaluate.maps.sparsification import Sparsification as Sparsification
    from plenodepth.evaluate.maps.sparsification import sparsification_curves as sparsification_curves
    from plenodepth.evaluate.maps.splits import ErrorGroup as ErrorGroup
    from plenodepth.evaluate.maps.splits import bin_labels as bin_labels
    from plenodepth.evaluate.maps.splits import binned_errors as binned_errors
    from plenodepth.evaluate.maps.splits import errors_by_confidence as errors_by_confidence
    from plenodepth.evaluate.maps.splits import errors_by_lens_type as errors_by_lens_type
    from plenodepth.evaluate.maps.splits import grouped_errors as grouped_errors
    from plenodepth.evaluate.maps.splits import lens_type_labels as lens_type_labels
    from plenodepth.evaluate.maps.splits import quantile_edges as quantile_edges
    from plenodepth.evaluate.maps.tiles import TileError as TileError
    from plenodepth.evaluate.maps.tiles import ViewTiles as ViewTiles
    from plenodepth.evaluate.maps.tiles import tile_errors as tile_errors


__getattr__, __dir__, __all__ = lazy_exports(__name__)
