"""The blur-aware plenoptic camera of the paper: model, projection both ways, blur, depth, files, presets."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.camera.aperture.chief_ray import apparent_position as apparent_position
    from plenodepth.camera.aperture.chief_ray import chief_ray_position as chief_ray_position
    from plenodepth.camera.aperture.chief_ray import clipped_blur_radius as clipped_blur_radius
    from plenodepth.camera.aperture.chief_ray import light_centroid as light_centroid
    from plenodepth.camera.aperture.clipping import ApertureTable as ApertureTable
    from plenodepth.camera.aperture.clipping import aperture_diameter as aperture_diameter
    from plenodepth.camera.aperture.clipping import aperture_table as aperture_table
    from plenodepth.camera.aperture.clipping import focus_inverse_depth as focus_inverse_depth
    from plenodepth.camera.aperture.clipping import open_lens as open_lens
    from plenodepth.camera.blur import BlurLine as BlurLine
    from plenodepth.camera.blur import RelativeBlur as RelativeBlur
    from plenodepth.camera.blur import blur_line as blur_line
    from plenodepth.camera.blur import inverse_focus_distance as inverse_focus_distance
    from plenodepth.camera.blur import relative_blur as relative_blur
    from plenodepth.camera.blur import relative_spread as relative_spread
    from plenodepth.camera.crop import cropped_camera as cropped_camera
    from plenodepth.camera.depth import DepthRange as DepthRange
    from plenodepth.camera.depth import depth_of_field as depth_of_field
    from plenodepth.camera.depth import depth_precision as depth_precision
    from plenodepth.camera.depth import depth_resolution as depth_resolution
    from plenodepth.camera.depth import focus_planes as focus_planes
    from plenodepth.camera.depth import infinity_virtual_depth as infinity_virtual_depth
    from plenodepth.camera.depth import metric_from_virtual as metric_from_virtual
    from plenodepth.camera.depth import scaled_depth as scaled_depth
    from plenodepth.camera.depth import unscaled_depth as unscaled_depth
    from plenodepth.camera.depth import usable_depth_range as usable_depth_range
    from plenodepth.camera.depth import usable_virtual_range as usable_virtual_range
    from plenodepth.camera.depth import virtual_from_metric as virtual_from_metric
    from plenodepth.camera.disparity import corrected_disparity as corrected_disparity
    from plenodepth.camera.disparity import uncorrected_disparity as uncorrected_disparity
    from plenodepth.camera.disparity import virtual_depth_from_disparity as virtual_depth_from_disparity
    from plenodepth.camera.distortion import distort as distort
    from plenodepth.camera.distortion import undistort_exactly as undistort_exactly
    from plenodepth.camera.files.any_format import Camera as Camera
    from plenodepth.camera.files.any_format import load_camera as load_camera
    from plenodepth.camera.files.any_format import load_plenoptic_camera as load_plenoptic_camera
    from plenodepth.camera.files.any_format import needs_image_size as needs_image_size
    from plenodepth.camera.files.any_format import save_camera as save_camera
    from plenodepth.camera.files.views import ViewGeometry as ViewGeometry
    from plenodepth.camera.files.views import load_views as load_views
    from plenodepth.camera.files.views import save_views as save_views
    from plenodepth.camera.inverse_distortion import InverseDistortionFit as InverseDistortionFit
    from plenodepth.camera.inverse_distortion import calibrate_inverse_distortion as calibrate_inverse_distortion
    from plenodepth.camera.micro_images import fitted_to_lenses as fitted_to_lenses
    from plenodepth.camera.micro_lenses import LensDistances as LensDistances
    from plenodepth.camera.micro_lenses import configuration as configuration
    from plenodepth.camera.micro_lenses import lens_center as lens_center
    from plenodepth.camera.micro_lenses import lens_distances as lens_distances
    from plenodepth.camera.micro_lenses import pitch_ratio as pitch_ratio
    from plenodepth.camera.micro_lenses import predicted_center as predicted_center
    from plenodepth.camera.model import Configuration as Configuration
    from plenodepth.camera.model import Distortion as Distortion
    from plenodepth.camera.model import ExitPupil as ExitPupil
    from plenodepth.camera.model import GridCamera as GridCamera
    from plenodepth.camera.model import MainLens as MainLens
    from plenodepth.camera.model import MicroImageArray as MicroImageArray
    from plenodepth.camera.model import MicroLensArray as MicroLensArray
    from plenodepth.camera.model import PlenopticCamera as PlenopticCamera
    from plenodepth.camera.model import Provenance as Provenance
    from plenodepth.camera.model import Sensor as Sensor
    from plenodepth.camera.model import WhiteRadius as WhiteRadius
    from plenodepth.camera.parameters import intrinsic_names as intrinsic_names
    from plenodepth.camera.parameters import perturbed_camera as perturbed_camera
    from plenodepth.camera.pinhole import Pinhole as Pinhole
    from plenodepth.camera.pinhole import central_pinhole as central_pinhole
    from plenodepth.camera.presets import PRESETS as PRESETS
    from plenodepth.camera.presets import preset as preset
    from plenodepth.camera.projection import Projection as Projection
    from plenodepth.camera.projection import Sighting as Sighting
    from plenodepth.camera.projection import lenses_that_see as lenses_that_see
    from plenodepth.camera.projection import project as project
    from plenodepth.camera.projection import unproject as unproject
    from plenodepth.camera.projection_jacobian import ProjectionJacobian as ProjectionJacobian
    from plenodepth.camera.projection_jacobian import predicted_center_jacobian as predicted_center_jacobian
    from plenodepth.camera.projection_jacobian import project_jacobian as project_jacobian

__getattr__, __dir__, __all__ = lazy_exports(__name__)
