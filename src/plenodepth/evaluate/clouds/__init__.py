"""Point clouds against clouds, meshes and planes, and against the scan of a lidar."""

from typing import TYPE_CHECKING

from plenodepth.lazy import lazy_exports

if TYPE_CHECKING:
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
    from plenodepth.evaluate.clouds.lidar_frame import in_range as in_range
    from plenodepth.evaluate.clouds.lidar_frame import in_view as in_view
    from plenodepth.evaluate.clouds.lidar_frame import read_cam_from_lidar as read_cam_from_lidar
    from plenodepth.evaluate.clouds.mesh_distances import MeshDistances as MeshDistances
    from plenodepth.evaluate.clouds.mesh_distances import compare_to_mesh as compare_to_mesh
    from plenodepth.evaluate.clouds.mesh_distances import sample_mesh as sample_mesh
    from plenodepth.evaluate.clouds.nearest import Nearest as Nearest
    from plenodepth.evaluate.clouds.nearest import nearest_points as nearest_points
    from plenodepth.evaluate.clouds.nearest import nearest_triangles as nearest_triangles
    from plenodepth.evaluate.clouds.plane_fit import PlaneFit as PlaneFit
    from plenodepth.evaluate.clouds.plane_fit import fit_plane as fit_plane


__getattr__, __dir__, __all__ = lazy_exports(__name__)
