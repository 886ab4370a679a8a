from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from shown_results import real_result, small_camera

from plenodepth.errors import InputError
from plenodepth.io import write_float_map, write_ply
from plenodepth.metric import central_points
from plenodepth.view.browser.clouds import ShownCloud
from plenodepth.view.browser.coloring import color_kinds
from plenodepth.view.browser.frames import open_frames
from plenodepth.view.browser.truth import error_sentence, load_truth, with_error

CAMERA = small_camera()
LATTICE = CAMERA.micro_images.lattice
SHAPE = (CAMERA.sensor.height // 4, CAMERA.sensor.width // 4)


def wall(depth: float) -> np.ndarray:
    """Points (n, 3) of a wall, one for each pixel of the central view."""
    return central_points(np.full(SHAPE, depth, np.float32), CAMERA).reshape(-1, 3)


def shown(points: np.ndarray) -> ShownCloud:
    return ShownCloud(points, points[:, 2], None, None, None, metric=True)


@pytest.mark.parametrize(
    "shape",
    [SHAPE, (CAMERA.sensor.height, CAMERA.sensor.width), (LATTICE.rows, LATTICE.columns)],
    ids=["central view", "pixels", "micro-images"],
)
def test_a_map_of_any_kind_tells_the_error(tmp_path: Path, shape: tuple[int, int]) -> None:
    write_float_map(np.full(shape, 900.0), tmp_path / "true.tiff")
    truth = load_truth(tmp_path / "true.tiff", CAMERA)
    cloud = with_error(shown(wall(905.0)), truth)
    assert cloud.error is not None
    known = np.isfinite(cloud.error)
    assert known.mean() > 0.6, "towards the corners no micro-image sees what lies there"
    assert np.allclose(cloud.error[known], 5.0, atol=0.01)
    assert "median |error| 5.00 mm (0.55 %)" in error_sentence(cloud)
    assert color_kinds(cloud) == ["depth", "error"]


def test_a_cloud_tells_the_error_too(tmp_path: Path) -> None:
    write_ply(wall(900.0), tmp_path / "true.ply")
    cloud = with_error(shown(wall(880.0)), load_truth(tmp_path / "true.ply", CAMERA))
    assert cloud.error is not None
    assert np.nanmedian(cloud.error) == pytest.approx(-20, abs=0.01)


def test_a_simulated_frame_is_near_its_truth() -> None:
    files = real_result()
    cloud = open_frames(files.folder)[0].clouds["dense view"]()
    cloud = with_error(cloud, load_truth(files.raw.parent / "depth.tiff", CAMERA))
    assert cloud.error is not None
    assert np.nanmedian(np.abs(cloud.error) / cloud.depth) < 0.03
    assert np.isfinite(cloud.error).mean() > 0.8


def test_a_truth_needs_a_calibrated_camera(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a calibrated camera with --camera"):
        load_truth(tmp_path / "true.ply", None)


def test_a_truth_of_another_frame_is_refused(tmp_path: Path) -> None:
    write_float_map(np.ones((7, 9)), tmp_path / "true.tiff")
    with pytest.raises(InputError, match=r"is 9 × 7, the camera has 40 × 36 micro-images"):
        load_truth(tmp_path / "true.tiff", CAMERA)
    write_ply(wall(900.0) * [1, 1, -1], tmp_path / "behind.ply")
    with pytest.raises(InputError, match=r"holds nothing that the camera sees .*--cam-from-lidar"):
        load_truth(tmp_path / "behind.ply", CAMERA)
