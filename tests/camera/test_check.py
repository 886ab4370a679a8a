"""Reprojection statistics, on made and on real features."""

import numpy as np
import pytest

from plenodepth.camera import load_plenoptic_camera, preset, project
from plenodepth.camera.check import check_centers, check_features
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import CENTER_DTYPE, FEATURE_DTYPE, observation_table, read_observations, read_poses, read_scene

CORNERS = np.array([[x, y, 0.0] for y in (0, 10) for x in (0, 10, 20)])


def made_features(noise: float = 0.0) -> tuple[np.ndarray, dict[int, Pose]]:
    """Two frames of a small board through a few lenses of r12-mini."""
    camera = preset("r12-mini")
    poses = {frame: Pose.from_rotation_vector([0.1, 0.2, 0], [-8, -5, 600.0 + 100 * frame]) for frame in (3, 8)}
    tables = []
    for frame, pose in poses.items():
        cluster = np.repeat(np.arange(6), 4)
        k, l = np.tile([10, 11, 12, 13], 6), np.tile([8, 9, 10, 11], 6)
        seen = project(pose(CORNERS[cluster]), k, l, camera)
        uv = seen.uv + noise * np.array([0.6, 0.8])
        columns = {"k": k, "l": l, "u": uv[:, 0], "v": uv[:, 1], "rho": seen.rho + noise, "cluster": cluster}
        tables.append(observation_table(FEATURE_DTYPE, **columns, frame=frame))
    return np.concatenate(tables), poses


def test_features_made_by_the_camera_have_no_error() -> None:
    features, poses = made_features()
    result = check_features(features, poses, CORNERS, preset("r12-mini"))
    assert result.rmse_uv < 1e-12
    assert result.rmse_rho == pytest.approx(0, abs=1e-12)
    assert [(frame.frame, frame.n) for frame in result.frames] == [(3, 24), (8, 24)]


def test_an_offset_of_one_pixel_is_an_error_of_one_pixel() -> None:
    features, poses = made_features(noise=1.0)
    result = check_features(features, poses, CORNERS, preset("r12-mini"))
    assert result.rmse_uv == pytest.approx(1, rel=1e-9)
    assert result.rmse_rho == pytest.approx(1, rel=1e-9)


def test_frames_without_pose_are_left_out_and_named() -> None:
    features, poses = made_features()
    result = check_features(features, {8: poses[8]}, CORNERS, preset("r12-mini"))
    assert result.unposed == (3,)
    assert [frame.frame for frame in result.frames] == [8]


def test_what_cannot_belong_to_the_camera_is_refused() -> None:
    features, poses = made_features()
    camera = preset("r12-mini")
    with pytest.raises(InputError, match="cluster"):
        check_features(features, poses, CORNERS[:4], camera)
    with pytest.raises(InputError, match="frame"):
        check_features(features, {}, CORNERS, camera)
    behind = {frame: Pose(np.eye(3), np.array([0, 0, -500.0])) for frame in poses}
    with pytest.raises(InputError, match="pose of frame 3"):
        check_features(features, behind, CORNERS, camera)
    elsewhere = features.copy()
    elsewhere["k"][5] = 99
    with pytest.raises(InputError, match=r"row 6 .*99"):
        check_features(elsewhere, poses, CORNERS, camera)
    with pytest.raises(InputError, match="centers"):
        check_centers(np.zeros(0, CENTER_DTYPE), camera)


@pytest.mark.realdata
class TestRealR12A:
    """The authors' camera, poses and features: this proves every convention of the model."""

    @pytest.fixture
    def folder(self, real_data: object) -> str:
        return f"{real_data}/r12a"

    def test_features_reproject_as_published(self, folder: str) -> None:
        camera = load_plenoptic_camera(f"{folder}/intrinsics.js", parameters=f"{folder}/params.js")
        poses = {p.frame: Pose(p.rotation, p.translation).inverse() for p in read_poses(f"{folder}/poses.js")}
        board = read_scene(f"{folder}/scene.js").checkerboards[0]
        features = read_observations(f"{folder}/linked-observations-R12-A.bin.gz").features
        result = check_features(features, poses, board.corners(), camera)
        assert len(result.frames) == 16
        assert result.rmse_uv == pytest.approx(0.969, abs=0.002)
        assert min(frame.rmse_uv for frame in result.frames) == pytest.approx(0.64, abs=0.005)
        assert max(frame.rmse_uv for frame in result.frames) == pytest.approx(1.28, abs=0.005)
        blur = sorted(frame.rmse_rho for frame in result.frames if frame.rmse_rho is not None)
        assert 0.355 < blur[0] < blur[-2] < 0.57
        assert blur[-1] == pytest.approx(0.99, abs=0.01)  # the frame of 101 features

    def test_centres_reproject_as_published(self, folder: str) -> None:
        camera = load_plenoptic_camera(f"{folder}/intrinsics.js")
        centers = read_observations(f"{folder}/center-R12-A.csv").centers
        assert check_centers(centers, camera) == pytest.approx(0.294, abs=0.005)

    def test_features_of_one_corner_and_one_lens_type_share_their_blur(self, folder: str) -> None:
        camera = load_plenoptic_camera(f"{folder}/intrinsics.js")
        features = read_observations(f"{folder}/linked-observations-R12-A.bin.gz").features
        types = camera.micro_images.lens_type(features["k"], features["l"])
        groups: dict[tuple[int, int, int], set[float]] = {}
        for frame, cluster, lens_type, rho in zip(
            features["frame"], features["cluster"], types, features["rho"], strict=True
        ):
            groups.setdefault((frame, cluster, lens_type), set()).add(round(rho, 9))
        assert len(groups) > 1000
        assert all(len(values) == 1 for values in groups.values())


def test_features_of_no_corner_are_left_out() -> None:
    features, poses = made_features()
    features["cluster"][:5], features["u"][:5] = -1, 0.0
    result = check_features(features, poses, CORNERS, preset("r12-mini"))
    assert result.rmse_uv < 1e-12
    assert sum(frame.n for frame in result.frames) == 48 - 5
