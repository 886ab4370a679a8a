"""Virtual depth in, millimetres out: depth map, point cloud, central view, and the whole chain for one frame."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.metric.central_colors import central_image as central_image
    from plenodepth.metric.central_colors import central_points as central_points
    from plenodepth.metric.central_view import central_depth as central_depth
    from plenodepth.metric.cloud import PointCloud as PointCloud
    from plenodepth.metric.cloud import point_cloud as point_cloud
    from plenodepth.metric.cloud_files import write_cloud as write_cloud
    from plenodepth.metric.depth_map import MetricDepthMap as MetricDepthMap
    from plenodepth.metric.depth_map import metric_depth_map as metric_depth_map
    from plenodepth.metric.frame import estimate_depth as estimate_depth
    from plenodepth.metric.picture import depth_picture as depth_picture
    from plenodepth.metric.result import DepthResult as DepthResult
    from plenodepth.metric.result import DepthSummary as DepthSummary
    from plenodepth.metric.result import load_virtual_map as load_virtual_map

__getattr__, __dir__, __all__ = lazy_exports(__name__)
