"""Depth against ground truth: maps, clouds and sequences of frames, and how sure the figures are.

Comparisons of files: `compare_map_files`, `compare_map_folders`, `compare_cloud_files`, `compare_frame_depths`, and
`compare_result_files` for two results. Comparisons of arrays: `depth_differences`, `compare_clouds`,
`relative_depth_error`, `scale_error_summary`. Names are loaded at first use.
"""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.evaluate.bootstrap import BootstrapInterval as BootstrapInterval
    from plenodepth.evaluate.bootstrap import PairedDifference as PairedDifference
    from plenodepth.evaluate.bootstrap import bootstrap_interval as bootstrap_interval
    from plenodepth.evaluate.bootstrap import paired_bootstrap as paired_bootstrap
    from plenodepth.evaluate.clouds.comparison import CloudComparison as CloudComparison
    from plenodepth.evaluate.clouds.comparison import TileDistance as TileDistance
    from plenodepth.evaluate.clouds.comparison import compare_cloud_files as compare_cloud_files
    from plenodepth.evaluate.clouds.distances import AuthorsCloudDistances as AuthorsCloudDistances
    from plenodepth.evaluate.clouds.distances import CloudDistances as CloudDistances
    from plenodepth.evaluate.clouds.distances import DirectedDistances as DirectedDistances
    from plenodepth.evaluate.clouds.distances import FScore as FScore
    from plenodepth.evaluate.clouds.distances import authors_cloud_distances as authors_cloud_distances
    from plenodepth.evaluate.clouds.distances import compare_clouds as compare_clouds
    from plenodepth.evaluate.clouds.distances import directed_distances as directed_distances
    from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar as read_cam_from_lidar
    from plenodepth.evaluate.clouds.mesh_distances import MeshDistances as MeshDistances
    from plenodepth.evaluate.clouds.mesh_distances import compare_to_mesh as compare_to_mesh
    from plenodepth.evaluate.clouds.mesh_distances import sample_mesh as sample_mesh
    from plenodepth.evaluate.clouds.nearest import Nearest as Nearest
    from plenodepth.evaluate.clouds.nearest import nearest_points as nearest_points
    from plenodepth.evaluate.clouds.nearest import nearest_triangles as nearest_triangles
    from plenodepth.evaluate.clouds.plane_fit import PlaneFit as PlaneFit
    from plenodepth.evaluate.clouds.plane_fit import fit_plane as fit_plane
    from plenodepth.evaluate.compare import Change as Change
    from plenodepth.evaluate.compare import ResultComparison as ResultComparison
    from plenodepth.evaluate.compare import compare_result_files as compare_result_files
    from plenodepth.evaluate.compare import compare_results as compare_results
    from plenodepth.evaluate.frames.comparison import RelativeComparison as RelativeComparison
    from plenodepth.evaluate.frames.comparison import compare_frame_depths as compare_frame_depths
    from plenodepth.evaluate.frames.depths import FrameDepth as FrameDepth
    from plenodepth.evaluate.frames.depths import FrameMatch as FrameMatch
    from plenodepth.evaluate.frames.depths import frame_depths as frame_depths
    from plenodepth.evaluate.frames.depths import match_frames as match_frames
    from plenodepth.evaluate.frames.relative import DisplacementError as DisplacementError
    from plenodepth.evaluate.frames.relative import RelativeDepthError as RelativeDepthError
    from plenodepth.evaluate.frames.relative import by_displacement as by_displacement
    from plenodepth.evaluate.frames.relative import median_depth as median_depth
    from plenodepth.evaluate.frames.relative import relative_depth_error as relative_depth_error
    from plenodepth.evaluate.frames.scale_error import FrameScaleError as FrameScaleError
    from plenodepth.evaluate.frames.scale_error import ScaleErrorSummary as ScaleErrorSummary
    from plenodepth.evaluate.frames.scale_error import reconstructed_corners as reconstructed_corners
    from plenodepth.evaluate.frames.scale_error import scale_error_summary as scale_error_summary
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
    from plenodepth.evaluate.views.comparison import EdgeSharpness as EdgeSharpness
    from plenodepth.evaluate.views.comparison import ViewComparison as ViewComparison
    from plenodepth.evaluate.views.comparison import ViewsComparison as ViewsComparison
    from plenodepth.evaluate.views.comparison import compare_view as compare_view
    from plenodepth.evaluate.views.comparison import compare_view_folders as compare_view_folders
    from plenodepth.evaluate.views.sharpness import Sharpness as Sharpness
    from plenodepth.evaluate.views.sharpness import SlantedEdge as SlantedEdge
    from plenodepth.evaluate.views.sharpness import edge_line as edge_line
    from plenodepth.evaluate.views.sharpness import edge_sharpness as edge_sharpness
    from plenodepth.evaluate.views.similarity import psnr as psnr
    from plenodepth.evaluate.views.similarity import ssim as ssim


__getattr__, __dir__, __all__ = lazy_exports(__name__)
