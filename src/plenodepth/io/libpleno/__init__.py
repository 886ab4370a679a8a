"""libpleno files: internal parameters, poses, scenes, observations and depth maps."""

from plenodepth.io.libpleno.depth_map import DepthMapArchive, read_depth_map, write_depth_map
from plenodepth.io.libpleno.observations import (
    CENTER_DTYPE,
    CORNER_DTYPE,
    FEATURE_DTYPE,
    Observations,
    observation_table,
    read_observations,
    write_observations,
)
from plenodepth.io.libpleno.parameters import (
    InternalParameters,
    parameters_content,
    parameters_from_tree,
    read_parameters,
    write_parameters,
)
from plenodepth.io.libpleno.point_cloud import PointCloudArchive, read_point_cloud, write_point_cloud
from plenodepth.io.libpleno.poses import FramePose, pose_content, read_pose, read_poses, write_pose, write_poses
from plenodepth.io.libpleno.scene import LibplenoBoard, LibplenoPlate, LibplenoScene, read_scene, write_scene

__all__ = [
    "CENTER_DTYPE",
    "CORNER_DTYPE",
    "FEATURE_DTYPE",
    "DepthMapArchive",
    "FramePose",
    "InternalParameters",
    "LibplenoBoard",
    "LibplenoPlate",
    "LibplenoScene",
    "Observations",
    "PointCloudArchive",
    "observation_table",
    "parameters_content",
    "parameters_from_tree",
    "pose_content",
    "read_depth_map",
    "read_observations",
    "read_parameters",
    "read_point_cloud",
    "read_pose",
    "read_poses",
    "read_scene",
    "write_depth_map",
    "write_observations",
    "write_parameters",
    "write_point_cloud",
    "write_pose",
    "write_poses",
    "write_scene",
]
