"""Virtual depth in, millimetres out."""

from plenodepth.metric.central_view import central_depth
from plenodepth.metric.cloud import PointCloud, point_cloud, write_cloud
from plenodepth.metric.depth_map import MetricDepthMap, metric_depth_map

__all__ = ["MetricDepthMap", "PointCloud", "central_depth", "metric_depth_map", "point_cloud", "write_cloud"]
