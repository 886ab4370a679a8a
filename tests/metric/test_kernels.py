"""The compiled clouds, central views and metric maps are those of plain NumPy, whatever the number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian
from plain_clouds import plain_cloud, plain_z_buffer

from plenodepth.camera import PlenopticCamera, metric_from_virtual, preset
from plenodepth.camera.depth import depth_resolution
from plenodepth.camera.micro_images import owner_map
from plenodepth.camera.model import Distortion, ExitPupil
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.geometry import Pose
from plenodepth.metric import metric_depth_map, point_cloud
from plenodepth.metric.central_view import central_view
from plenodepth.threads import limited_threads


def tilted(camera: PlenopticCamera) -> PlenopticCamera:
    lenses = camera.micro_lenses
    turn = Pose.from_rotation_vector([0.004, -0.006, 0.0], np.zeros(3))
    pose = Pose(turn.rotation @ lenses.cam_from_mla.rotation, lenses.cam_from_mla.translation)
    return replace(camera, micro_lenses=replace(lenses, cam_from_mla=pose))


def at_f(camera: PlenopticCamera, number: float, pupil: ExitPupil | None = None) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, f_number=number, exit_pupil=pupil))


def distorted(camera: PlenopticCamera) -> PlenopticCamera:
    return replace(camera, distortion=Distortion((-4e-4, 2e-6, -1e-9), (2e-4, -3e-4)))


CAMERAS = {
    "r12-mini at f/4": at_f(preset("r12-mini"), 4.0),
    "at f/8, all pixels clipped": at_f(preset("r12-mini"), 8.0),
    "wide open": at_f(preset("r12-mini"), 1.4),
    "tilted": at_f(tilted(preset("r12-mini")), 4.0),
    "strongly distorted": at_f(distorted(preset("r12-mini")), 4.0),
    "exit pupil": at_f(preset("r12-mini"), 4.0, ExitPupil(distance=12.0)),
    "Keplerian": keplerian(),
}


def random_map(camera: PlenopticCamera, *, refined: bool, model: str) -> VirtualDepthMap:
    lattice, rng = camera.micro_images.lattice, np.random.default_rng(4)
    shape = (camera.sensor.height, camera.sensor.width) if refined else (lattice.rows, lattice.columns)
    v = rng.uniform(2.5, 14, shape) * (-1 if camera.name == keplerian().name else 1)
    v[rng.random(shape) < 0.3] = np.nan
    depth = v.astype(np.float32)
    present = np.isfinite(depth)
    sigma = np.where(present, np.float32(0.05), np.float32(np.nan))
    confidence = np.where(present, rng.random(shape).astype(np.float32), np.float32(0))
    return VirtualDepthMap(depth, sigma, confidence, depth, np.zeros(shape, np.int16), refined, model)


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("model", ["off", "per_pixel"])
@pytest.mark.parametrize("name", CAMERAS)
def test_clouds_and_central_views_are_those_of_numpy(name: str, model: str, refined: bool) -> None:
    camera = CAMERAS[name]
    found_map = random_map(camera, refined=refined, model=model)
    if name == "Keplerian" and model == "per_pixel":
        camera = at_f(camera, 4.0)
    cloud = point_cloud(found_map, camera)
    points, pixels = plain_cloud(found_map, camera)
    assert np.array_equal(cloud.pixels, pixels)
    assert len(points) > 1000
    assert np.abs(cloud.points - points).max() < 1e-4 * np.linalg.norm(points, axis=1).min()
    # A point on the edge between two pixels of the view may fall to either side.
    points, _ = plain_cloud(found_map, camera, every_pixel=True)
    view = central_view(found_map, camera, median_size=1, erosion=False)
    plain = plain_z_buffer(points, camera, 4, median=True)
    assert np.isfinite(plain).mean() > 0.3
    assert np.mean(~np.isclose(view, plain, rtol=1e-4, equal_nan=True)) < 2e-3


@pytest.mark.parametrize("name", ["tilted", "r12-mini at f/4"])
def test_refined_metric_maps_are_those_of_the_formulas(name: str) -> None:
    camera = CAMERAS[name]
    found_map = random_map(camera, refined=True, model="off")
    metric, owner = metric_depth_map(found_map, camera), owner_map(camera.micro_images, *found_map.virtual_depth.shape)
    l, k = np.divmod(owner, camera.micro_images.lattice.columns)
    v = np.where(owner >= 0, found_map.virtual_depth.astype(np.float64), np.nan)
    z = metric_from_virtual(v, camera, k, l, invalid="nan")
    assert np.array_equal(np.isfinite(z), np.isfinite(metric.depth))
    assert np.nanmax(np.abs(metric.depth / z - 1)) < 1e-6
    slope = np.abs(depth_resolution(v, camera, k, l))
    assert np.nanmax(np.abs(metric.sigma / (slope * 0.05) - 1)) < 1e-5
    assert np.array_equal(metric.confidence > 0, np.isfinite(z) & (found_map.confidence > 0))


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
def test_the_number_of_threads_changes_no_byte(refined: bool) -> None:
    camera = CAMERAS["tilted"]
    found_map = random_map(camera, refined=refined, model="per_pixel")
    results = []
    for threads in (1, 2, 3):
        with limited_threads(threads):
            cloud = point_cloud(found_map, camera)
            arrays = cloud.points, cloud.pixels, cloud.sigma, central_view(found_map, camera)
            results.append([array.tobytes() for array in arrays])
    assert results[0] == results[1] == results[2]


def test_owners_are_the_nearest_micro_images() -> None:
    for camera in (preset("r12-mini"), keplerian(), preset("upc-s")):
        height, width = min(camera.sensor.height, 500), min(camera.sensor.width, 700)
        uv = np.moveaxis(np.indices((height, width))[::-1], 0, -1)
        k, l = camera.micro_images.owner(uv)
        expected = np.where(k < 0, -1, l * camera.micro_images.lattice.columns + k)
        assert np.array_equal(owner_map(camera.micro_images, height, width), expected)
