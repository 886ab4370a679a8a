"""A scan and an image in, the pose of the laser scanner out."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
    from plenodepth.calib.lidar.files import Targets as Targets
    from plenodepth.calib.lidar.files import read_lidar_pose as read_lidar_pose
    from plenodepth.calib.lidar.files import read_scan as read_scan
    from plenodepth.calib.lidar.files import read_targets as read_targets
    from plenodepth.calib.lidar.files import write_targets as write_targets
    from plenodepth.calib.lidar.image_targets import find_image_targets as find_image_targets
    from plenodepth.calib.lidar.point_matching import match_constellations as match_constellations
    from plenodepth.calib.lidar.pose import LidarPose as LidarPose
    from plenodepth.calib.lidar.pose import find_lidar_pose as find_lidar_pose
    from plenodepth.calib.lidar.scan_targets import find_lidar_targets as find_lidar_targets
    from plenodepth.calib.lidar.scanner import Scanner as Scanner
    from plenodepth.calib.lidar.scanner import find_scanner as find_scanner
    from plenodepth.calib.lidar.step import LidarRecord as LidarRecord
    from plenodepth.calib.lidar.step import LidarStep as LidarStep
    from plenodepth.calib.lidar.step import ScannerFiles as ScannerFiles
    from plenodepth.calib.lidar.step import ScannerPose as ScannerPose
    from plenodepth.calib.lidar.step import find_scanner_pose as find_scanner_pose
    from plenodepth.calib.lidar.step import lidar_step as lidar_step

__getattr__, __dir__, __all__ = lazy_exports(__name__)
