"""Twins of the paper's datasets: what they hold, and that they resume."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from plenodepth.cache import content_hash
from plenodepth.camera import load_plenoptic_camera
from plenodepth.camera.check import check_features
from plenodepth.camera.depth import virtual_from_metric
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.io import read_float_map, read_observations, read_poses, read_scene
from plenodepth.sim import dataset
from plenodepth.sim.dataset import FrameSettings, frame_key, simulate_dataset, stations
from plenodepth.sim.optics import RealOptics, load_optics, optics_preset
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Checkerboard
from plenodepth.sim.scenes.twins import REAL_TWINS, TWINS, Twin, object_scene, twin, view_corners, view_size
from plenodepth.sim.sensor import SensorSettings


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "whole"])
def test_every_twin_has_white_images_and_known_scenes(name: str, quick: bool) -> None:
    plan = twin(name, quick=quick)
    whites = [frame for frame in plan.frames if frame.scene is None]
    assert len(whites) >= 3
    assert len({frame.folder for frame in plan.frames}) == len(plan.frames)
    small = plan.camera.sensor.width * plan.camera.sensor.height < 1e6
    assert small == quick


@pytest.mark.parametrize(
    ("name", "corners", "square", "distances"),
    [("r12-a", (9, 5), 10, (360, 250)), ("r12-b", (8, 5), 20, (900, 450)), ("r12-c", (6, 4), 30, (1250, 450))],
)
def test_relative_twins_move_their_board_in_known_steps(
    name: str, corners: tuple[int, int], square: float, distances: tuple[float, float]
) -> None:
    plan = twin(name)
    steps = [frame for frame in plan.frames if frame.folder.startswith("steps/")]
    assert (steps[0].distance, steps[-1].distance) == distances
    assert len([frame for frame in plan.frames if frame.folder.startswith("boards/")]) == 16
    assert [frame.f_number for frame in plan.frames if frame.scene is None] == [4.0, 5.66, 8.0, 11.31, 16.0]
    for frame in steps:
        assert frame.scene is not None
        (board,) = frame.scene().objects
        assert isinstance(board, Checkerboard)
        assert (board.columns, board.rows, board.square) == (*corners, square)
        assert np.allclose(board.cam_from_object(board.corners())[:, 2], frame.distance)


@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-c"])
def test_squares_of_small_twins_are_large_enough_in_micro_images_to_show_corners(name: str) -> None:
    plan = twin(name, quick=True)
    camera = replace(plan.camera, depth_scale=None)
    sizes = []
    for frame in plan.frames:
        if frame.scene is not None and frame.folder.startswith("boards/"):
            (board,) = frame.scene().objects
            assert isinstance(board, Checkerboard)
            depth = board.cam_from_object(board.corners())[:, 2].mean()
            seen = board.square / view_size(depth, camera)[0] * camera.sensor.width  # px, were there one image
            sizes.append(seen / virtual_from_metric(depth, camera))
    assert np.median(sizes) > 5  # at 3.5 px no board is found


def test_r12_es_has_fifteen_distances() -> None:
    targets = [frame for frame in twin("r12-es").frames if frame.folder.startswith("targets/")]
    assert [frame.distance for frame in targets] == list(range(500, 2000, 100))


@pytest.mark.parametrize(("name", "folder"), [("r12-a", "boards"), ("r12-es", "calibration"), ("upc-s", "boards")])
def test_boards_to_calibrate_with_are_one_board(name: str, folder: str) -> None:
    frames = [frame for frame in twin(name).frames if frame.folder.startswith(f"{folder}/")]
    boards = [frame.scene().objects[0] for frame in frames if frame.scene is not None]
    assert len(boards) >= 12
    assert len({(board.columns, board.rows, board.square) for board in boards if isinstance(board, Checkerboard)}) == 1


def test_r12_elp20_has_five_scenes_with_lidar() -> None:
    scenes = [frame for frame in twin("r12-elp20").frames if frame.scene is not None]
    assert [frame.folder for frame in scenes] == [
        f"scenes/{name}" for name in ("calib", "plane-1", "plane-2", "figurines-1", "figurines-2")
    ]
    assert all(frame.lidar for frame in scenes)


def test_scanners_have_what_the_camera_sees_in_their_windows() -> None:
    plan = twin("r12-elp20")
    for station in stations(plan, 0):
        for depth in (400.0, 700.0, 1500.0):
            x, y, z = station.cam_from_lidar.inverse()(view_corners(depth, plan.camera)).T
            azimuth, elevation = np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))
            for angle, (low, high) in ((azimuth, station.azimuth), (elevation, station.elevation)):
                assert low < angle.min() < angle.max() < high


@pytest.mark.parametrize(("name", "ideal"), REAL_TWINS.items())
def test_a_twin_with_real_lenses_has_the_frames_of_the_ideal_one(name: str, ideal: str) -> None:
    real, thin = twin(name, quick=True), twin(ideal, quick=True)
    assert real.optics == optics_preset(name)
    assert thin.optics is None
    assert [frame.folder for frame in real.frames] == [frame.folder for frame in thin.frames]
    assert content_hash(real.camera) == content_hash(thin.camera)


def test_real_lenses_of_a_dataset_are_in_its_frames_its_keys_and_its_camera(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_white(name: str, *, quick: bool, seed: int) -> Twin:
        plan = twin(name, quick=quick, seed=seed)
        return replace(plan, frames=plan.frames[:1])

    monkeypatch.setattr(dataset, "twin", first_white)
    out = tmp_path / "real"
    assert simulate_dataset("r12-a-real", out, quick=True, rays=1).made == 1
    for folder in (out, out / "white" / "f04.00"):
        assert load_optics(folder / "optics.yaml") == optics_preset("r12-a-real")
        camera = load_plenoptic_camera(folder / "camera.yaml")
        assert camera.main_lens.pupil_distance == -15
    assert simulate_dataset("r12-a-real", out, quick=True, rays=1).made == 0
    assert simulate_dataset("r12-a-real", out, quick=True, rays=1, optics=RealOptics(mask=True)).made == 1
    assert load_optics(out / "optics.yaml") == RealOptics(mask=True)


def test_another_seed_gives_other_boards() -> None:
    def first(seed: int) -> np.ndarray:
        frame = next(frame for frame in twin("r12-a", seed=seed).frames if frame.folder == "boards/00")
        assert frame.scene is not None
        return frame.scene().objects[0].cam_from_object.translation

    assert np.array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))


def test_an_unknown_dataset_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="r12-elp20"):
        twin("r12-z")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A dataset of a few frames of each kind of R12-A."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "twin", shortened_twin)
        out = tmp_path_factory.mktemp("twins") / "r12-a"
        simulate_dataset("r12-a", out, quick=True, rays=1)
        yield out


def shortened_twin(name: str, *, quick: bool, seed: int) -> Twin:
    plan = twin(name, quick=quick, seed=seed)
    kept = {"white/f04.00", "boards/00", "boards/03", "steps/00", "steps/11"}
    return replace(plan, frames=tuple(frame for frame in plan.frames if frame.folder in kept))


def test_the_manifest_names_every_frame_with_its_checksums(small: Path) -> None:
    manifest = json.loads((small / "manifest.json").read_text())
    assert manifest["complete"]
    assert len(manifest["frames"]) == 5
    entry = manifest["frames"][2]
    raw = (small / entry["folder"] / "raw.png").read_bytes()
    assert entry["sha256"]["raw.png"] == hashlib.sha256(raw).hexdigest()


def test_boards_of_a_dataset_are_ready_for_calibration(small: Path) -> None:
    camera = load_plenoptic_camera(small / "camera.yaml")
    features = read_observations(small / "boards" / "features.bin.gz").features
    poses = {p.frame: Pose(p.rotation, p.translation).inverse() for p in read_poses(small / "boards" / "poses.js")}
    board = read_scene(small / "boards" / "scene.js").checkerboards[0]
    result = check_features(features, poses, board.corners(), camera)
    assert len(result.frames) == 2
    assert result.rmse_uv < 1e-9
    assert min(frame.n for frame in result.frames) > 30


def test_steps_come_with_their_distances(small: Path) -> None:
    lines = [line.split() for line in (small / "steps" / "distances.txt").read_text().splitlines()]
    assert [line[0] for line in lines] == ["0", "11"]
    for frame, distance in lines:
        depth = read_float_map(small / "steps" / f"{int(frame):02d}" / "depth.tiff")
        assert np.nanmedian(depth) == pytest.approx(float(distance), abs=0.01)


def test_a_second_run_makes_nothing_and_a_broken_frame_is_made_again(small: Path) -> None:
    assert simulate_dataset("r12-a", small, quick=True, rays=1).made == 0
    before = (small / "boards" / "03" / "raw.png").read_bytes()
    (small / "boards" / "03" / "info.json").write_text("{")
    report = simulate_dataset("r12-a", small, quick=True, rays=1)
    assert report.made == 1
    assert (small / "boards" / "03" / "raw.png").read_bytes() == before


def test_a_damaged_file_of_a_frame_is_made_again(small: Path) -> None:
    truth = small / "steps" / "00" / "depth.tiff"
    before = truth.read_bytes()
    truth.write_bytes(before[:1000])
    assert simulate_dataset("r12-a", small, quick=True, rays=1).made == 1
    assert truth.read_bytes() == before


def test_fresh_makes_all_frames_anew_with_the_same_checksums(small: Path) -> None:
    before = (small / "manifest.json").read_bytes()
    assert simulate_dataset("r12-a", small, quick=True, rays=1, fresh=True).made == 5
    assert (small / "manifest.json").read_bytes() == before


def test_the_key_of_a_frame_knows_scene_camera_and_settings_but_no_threads() -> None:
    plan, settings = twin("r12-a", quick=True), FrameSettings(RenderSettings(rays=1))
    planned = next(frame for frame in plan.frames if frame.folder == "boards/00")
    assert planned.scene is not None
    (board,) = planned.scene().objects
    assert isinstance(board, Checkerboard)
    key = frame_key(planned, plan, settings)
    other_scene = replace(planned, scene=partial(object_scene, replace(board, margin=board.margin + 1e-9)))
    other_camera = replace(plan, camera=replace(plan.camera, blur_coefficient=0.7))
    others = [
        frame_key(other_scene, plan, settings),
        frame_key(planned, other_camera, settings),
        frame_key(planned, plan, replace(settings, render=RenderSettings(rays=2))),
        frame_key(planned, plan, replace(settings, sensor=SensorSettings(gain=2.0))),
    ]
    assert len({key, *others}) == 5
    assert frame_key(planned, plan, replace(settings, render=RenderSettings(rays=1, threads=1))) == key


@pytest.mark.parametrize("name", TWINS)
def test_all_frames_of_a_dataset_have_keys_of_their_own(name: str) -> None:
    plan = twin(name)
    settings = FrameSettings()
    by_hand = [replace(frame, frame=0, distance=None) for frame in plan.frames if frame.scene is not None]
    keys = {frame_key(frame, plan, settings) for frame in by_hand}
    assert len(keys) == len(by_hand)  # so the scenes alone tell frames apart


def test_another_dataset_or_other_files_are_not_overwritten(small: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another dataset"):
        simulate_dataset("r12-b", small, quick=True, rays=1)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="other things"):
        simulate_dataset("r12-a", tmp_path, quick=True, rays=1)
