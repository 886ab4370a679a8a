"""Virtual depth in, millimetres out: depth map, point cloud, central view, and the whole chain for one frame."""

from plenodepth.metric.central_view import central_depth
from plenodepth.metric.cloud import PointCloud, point_cloud
from plenodepth.metric.cloud_files import write_cloud
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map

__all__ = ["MetricDepthMap", "PointCloud", "central_depth", "metric_depth_map", "point_cloud", "write_cloud"]
