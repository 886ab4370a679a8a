"""Depth against ground truth: maps, clouds, boards and planes, and how sure the figures are."""

from plenodepth.evaluate.bootstrap import BootstrapInterval, PairedDifference, bootstrap_interval, paired_bootstrap
from plenodepth.evaluate.clouds.distances import (
    AuthorsCloudDistances,
    CloudDistances,
    DirectedDistances,
    FScore,
    authors_cloud_distances,
    compare_clouds,
    directed_distances,
)
from plenodepth.evaluate.clouds.mesh_distances import MeshDistances, compare_to_mesh, sample_mesh
from plenodepth.evaluate.clouds.nearest import Nearest, nearest_points, nearest_triangles
from plenodepth.evaluate.clouds.plane_fit import PlaneFit, fit_plane
from plenodepth.evaluate.frames.relative import (
    DisplacementError,
    RelativeDepthError,
    by_displacement,
    median_depth,
    relative_depth_error,
)
from plenodepth.evaluate.frames.scale_error import (
    FrameScaleError,
    ScaleErrorSummary,
    reconstructed_corners,
    scale_error_summary,
)
from plenodepth.evaluate.maps.boundaries import boundary_distance, depth_jumps
from plenodepth.evaluate.maps.differences import DepthDifferences, depth_differences, signed_differences
from plenodepth.evaluate.maps.sigma_calibration import SigmaBin, SigmaCalibration, compare_sigma
from plenodepth.evaluate.maps.sparsification import Sparsification, sparsification_curves
from plenodepth.evaluate.maps.splits import (
    ErrorGroup,
    bin_labels,
    binned_errors,
    errors_by_confidence,
    errors_by_lens_type,
    grouped_errors,
    lens_type_labels,
    quantile_edges,
)

__all__ = [
    "AuthorsCloudDistances",
    "BootstrapInterval",
    "CloudDistances",
    "DepthDifferences",
    "DirectedDistances",
    "DisplacementError",
    "ErrorGroup",
    "FScore",
    "FrameScaleError",
    "MeshDistances",
    "Nearest",
    "PairedDifference",
    "PlaneFit",
    "RelativeDepthError",
    "ScaleErrorSummary",
    "SigmaBin",
    "SigmaCalibration",
    "Sparsification",
    "authors_cloud_distances",
    "bin_labels",
    "binned_errors",
    "bootstrap_interval",
    "boundary_distance",
    "by_displacement",
    "compare_clouds",
    "compare_sigma",
    "compare_to_mesh",
    "depth_differences",
    "depth_jumps",
    "directed_distances",
    "errors_by_confidence",
    "errors_by_lens_type",
    "fit_plane",
    "grouped_errors",
    "lens_type_labels",
    "median_depth",
    "nearest_points",
    "nearest_triangles",
    "paired_bootstrap",
    "quantile_edges",
    "reconstructed_corners",
    "relative_depth_error",
    "sample_mesh",
    "scale_error_summary",
    "signed_differences",
    "sparsification_curves",
]
