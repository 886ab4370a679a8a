"""One depth for each frame, from all that may hold it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate.frames.depths import frame_depths
from plenodepth.io import DepthMapArchive, FramePose, write_depth_map, write_float_map, write_ply, write_poses
from plenodepth.io.libpleno.point_cloud import PointCloudArchive, write_point_cloud


def by_frame(*paths: Path) -> dict[int, float]:
    return {row.frame: row.depth for row in frame_depths(list(paths))}


def flat(depth: float) -> np.ndarray:
    values = np.full((4, 5), depth, np.float32)
    values[0, :2] = np.nan
    return values


def test_a_folder_of_frames_is_read_by_the_numbers_of_its_folders(tmp_path: Path) -> None:
    for frame, depth in ((3, 450.0), (12, 500.0)):
        (tmp_path / f"steps2/{frame:02d}").mkdir(parents=True)
        write_float_map(flat(depth), tmp_path / f"steps2/{frame:02d}/depth.tiff")
        write_float_map(flat(1.0), tmp_path / f"steps2/{frame:02d}/lens_depth.tiff")
    assert by_frame(tmp_path / "steps2") == {3: 450, 12: 500}


def test_results_of_the_depth_command_and_single_maps_are_read_by_their_names(tmp_path: Path) -> None:
    for frame in (1, 2):
        write_float_map(flat(400.0 + frame), tmp_path / f"img{frame}.depth.tiff")
        write_float_map(flat(1.0), tmp_path / f"img{frame}.csad.tiff")
    assert by_frame(tmp_path) == {1: 401, 2: 402}
    assert by_frame(tmp_path / "img2.depth.tiff") == {2: 402}


def test_a_frame_without_depth_has_nan(tmp_path: Path) -> None:
    write_float_map(np.full((3, 3), np.nan), tmp_path / "1.tiff")
    assert math.isnan(by_frame(tmp_path / "1.tiff")[1])


def test_clouds_give_the_median_of_z(tmp_path: Path) -> None:
    points = np.array([[0, 0, 400.0], [1, 1, 500], [9, 9, 510]])
    write_ply(points, tmp_path / "7.ply")
    nothing = PointCloudArchive(points + 1, np.full((3, 2), np.nan), np.zeros((0, 3), np.uint8))
    write_point_cloud(nothing, tmp_path / "8.bin.gz")
    assert by_frame(tmp_path / "7.ply", tmp_path / "8.bin.gz") == {7: 500, 8: 501}


def test_tables_and_poses_hold_all_their_frames(tmp_path: Path) -> None:
    (tmp_path / "depths.csv").write_text("frame,depth\n3,450.5\n4,460\n")
    assert by_frame(tmp_path / "depths.csv") == {3: 450.5, 4: 460}
    (tmp_path / "maps.csv").write_text("frame,k,l,d\n3,0,0,450\n3,1,0,0\n3,2,0,452\n4,0,0,460\n")
    assert by_frame(tmp_path / "maps.csv") == {3: 451, 4: 460}
    write_poses([FramePose(5, np.eye(3), np.array([1.0, 2, -700]))], tmp_path / "poses.js")
    assert by_frame(tmp_path / "poses.js") == {5: 700}


def test_a_folder_may_hold_clouds_or_poses_of_other_programs_or_one_table(tmp_path: Path) -> None:
    clouds, poses, deep, table = (tmp_path / name for name in ("clouds", "poses", "deep", "table"))
    for folder in (clouds, poses, deep / "03", deep / "04", table):
        folder.mkdir(parents=True)
    for frame in (3, 4):
        text = "".join(f"{x} 0 {500 + frame}\n" for x in (-200, 0, 200))
        (clouds / f"frame_{frame}.xyz").write_text(text)
        (deep / f"{frame:02d}" / "cloud.xyz").write_text(text)
        (poses / f"{frame}.mat").write_text(f"a\nb\nc\nd\ne\n1 0 0 0\n0 1 0 0\n0 0 1 -{500 + frame}\n")
    (table / "depths.csv").write_text("frame,depth\n3,503\n4,504\n")
    for folder in (clouds, poses, deep, table):
        assert by_frame(folder) == {3: 503, 4: 504}, folder
    write_float_map(flat(700.0), table / "7.tiff")  # maps come before tables that lie beside them
    assert by_frame(table) == {7: 700}


def test_a_list_of_results_gives_the_frames_of_its_files(tmp_path: Path) -> None:
    none = np.full((4, 5), np.nan)
    archive = DepthMapArchive(flat(300.0), none, np.zeros((4, 5), np.uint16), 1, 2, metric=True, coarse=True)
    write_depth_map(archive, tmp_path / "a.bin.gz")
    (tmp_path / "pose.mat").write_text("a\nb\nc\nd\ne\n1 0 0 0\n0 1 0 0\n0 0 1 -320\n")
    (tmp_path / "maps.js").write_text(json.dumps({"maps": [{"path": "a.bin.gz", "frame": "6"}]}))
    (tmp_path / "mats.js").write_text(json.dumps({"mats": [{"path": "pose.mat", "frame": 2}]}))
    assert by_frame(tmp_path / "maps.js", tmp_path / "mats.js") == {6: 300, 2: 320}


def test_what_has_no_frame_or_one_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    write_float_map(flat(1.0), tmp_path / "maps" / "map.tiff")
    with pytest.raises(InputError, match="has no number in its name"):
        frame_depths([tmp_path / "maps" / "map.tiff"])
    write_float_map(flat(1.0), tmp_path / "a1.tiff")
    write_float_map(flat(1.0), tmp_path / "b1.tiff")
    with pytest.raises(InputError, match=r"is frame 1, and so is .*a1\.tiff"):
        frame_depths([tmp_path / "a1.tiff", tmp_path / "b1.tiff"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no depth map"):
        frame_depths([tmp_path / "empty"])
    (tmp_path / "bad.csv").write_text("frame,x\n1,2\n")
    with pytest.raises(InputError, match="line 1: starts with 'frame,x'"):
        frame_depths([tmp_path / "bad.csv"])
