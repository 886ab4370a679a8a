"""The blur-aware plenoptic camera of the paper: model, projection both ways, blur, depth, files, presets."""

from plenodepth.camera.blur import (
    BlurLine,
    RelativeBlur,
    blur_line,
    inverse_focus_distance,
    relative_blur,
    relative_spread,
)
from plenodepth.camera.depth import (
    DepthRange,
    depth_of_field,
    depth_precision,
    depth_resolution,
    focus_planes,
    infinity_virtual_depth,
    metric_from_virtual,
    scaled_depth,
    unscaled_depth,
    usable_depth_range,
    usable_virtual_range,
    virtual_from_metric,
)
from plenodepth.camera.disparity import corrected_disparity, uncorrected_disparity, virtual_depth_from_disparity
from plenodepth.camera.distortion import distort, undistort_exactly
from plenodepth.camera.files import Camera, load_camera, load_plenoptic_camera, save_camera
from plenodepth.camera.inverse_distortion import InverseDistortionFit, calibrate_inverse_distortion
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.micro_lenses import (
    LensDistances,
    configuration,
    lens_center,
    lens_distances,
    predicted_center,
)
from plenodepth.camera.model import (
    Configuration,
    Distortion,
    GridCamera,
    MainLens,
    MicroImageArray,
    MicroLensArray,
    PlenopticCamera,
    Provenance,
    Sensor,
    WhiteRadius,
)
from plenodepth.camera.parameters import intrinsic_names, stepped
from plenodepth.camera.presets import PRESETS, preset
from plenodepth.camera.projection import Projection, Sighting, lenses_that_see, project, unproject
from plenodepth.camera.projection_jacobian import ProjectionJacobian, predicted_center_jacobian, project_jacobian

__all__ = [
    "PRESETS",
    "BlurLine",
    "Camera",
    "Configuration",
    "DepthRange",
    "Distortion",
    "GridCamera",
    "InverseDistortionFit",
    "LensDistances",
    "MainLens",
    "MicroImageArray",
    "MicroLensArray",
    "PlenopticCamera",
    "Projection",
    "ProjectionJacobian",
    "Provenance",
    "RelativeBlur",
    "Sensor",
    "Sighting",
    "WhiteRadius",
    "blur_line",
    "calibrate_inverse_distortion",
    "configuration",
    "corrected_disparity",
    "depth_of_field",
    "depth_precision",
    "depth_resolution",
    "distort",
    "fitted_to_lenses",
    "focus_planes",
    "infinity_virtual_depth",
    "intrinsic_names",
    "inverse_focus_distance",
    "lens_center",
    "lens_distances",
    "lenses_that_see",
    "load_camera",
    "load_plenoptic_camera",
    "metric_from_virtual",
    "predicted_center",
    "predicted_center_jacobian",
    "preset",
    "project",
    "project_jacobian",
    "relative_blur",
    "relative_spread",
    "save_camera",
    "scaled_depth",
    "stepped",
    "uncorrected_disparity",
    "undistort_exactly",
    "unproject",
    "unscaled_depth",
    "usable_depth_range",
    "usable_virtual_range",
    "virtual_depth_from_disparity",
    "virtual_from_metric",
]
