"""Recordings for rerun, as its own reader finds them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shown_results import COUNT, real_result, small_camera, write_relief, write_result

pytest.importorskip("rerun", reason="no rerun: pip install plenodepth[rerun]")

from plenodepth.camera.pinhole import central_pinhole
from plenodepth.errors import InputError
from plenodepth.io import read_float_map, read_ply
from plenodepth.view.browser.frames import open_frames
from plenodepth.view.browser.instrument import Instrument
from plenodepth.view.rerun_export import Exported, write_rrd

Rows = dict[str, dict[int | None, dict[str, Any]]]


def read_back(path: Path) -> Rows:
    """What is logged, by entity and frame (None: in all frames)."""
    from rerun.chunk import RrdReader

    found: Rows = {}
    for chunk in RrdReader(path).stream():
        for row in chunk.to_record_batch().to_pylist():
            values = {name: value for name, value in row.items() if value is not None}
            found.setdefault(chunk.entity_path, {}).setdefault(values.get("frame"), {}).update(values)
    return found


def test_each_frame_is_a_step_of_the_timeline(tmp_path: Path) -> None:
    for number in range(3):
        write_result(tmp_path, f"frame{number}", seed=number)
    found = write_rrd(open_frames(tmp_path), tmp_path / "out.rrd")
    assert found == Exported(3, 3 * COUNT, 3 * COUNT)
    clouds = read_back(tmp_path / "out.rrd")["/cloud"]
    assert sorted(clouds) == [0, 1, 2]  # type: ignore[type-var]
    for number, row in clouds.items():
        true = read_ply(tmp_path / f"frame{number}.ply")
        np.testing.assert_allclose(row["Points3D:positions"], true["points"] / 1000, rtol=1e-6)
        colors = np.array(row["Points3D:colors"], np.uint32)
        np.testing.assert_array_equal(colors >> 24, true["colors"][:, 0])
        np.testing.assert_array_equal(colors >> 8 & 255, true["colors"][:, 2])
        np.testing.assert_array_equal(row["confidence"], true["confidence"].astype(np.float32))
        np.testing.assert_array_equal(row["sigma_mm"], true["sigma"].astype(np.float32))


def test_depth_picture_and_pinhole_are_those_of_the_dense_view(tmp_path: Path) -> None:
    files = real_result()
    write_rrd(open_frames(files.folder), tmp_path / "out.rrd", instrument=Instrument(small_camera()))
    rows = read_back(tmp_path / "out.rrd")
    depth = read_float_map(files.folder / "raw.dense.tiff")
    image = rows["/camera/depth"][0]
    written = np.array(image["DepthImage:buffer"][0], np.uint8).view(np.float32).reshape(depth.shape)
    np.testing.assert_array_equal(written, depth)
    assert image["DepthImage:meter"] == [1000]
    assert bytes(np.array(rows["/camera/picture"][0]["EncodedImage:blob"][0], np.uint8))[:4] == b"\x89PNG"
    pinhole = rows["/camera"][0]
    matrix = np.reshape(pinhole["Pinhole:image_from_camera"][0], (3, 3)).T  # columns first
    np.testing.assert_allclose(matrix, central_pinhole(small_camera(), 4).matrix, rtol=1e-6)
    assert pinhole["Pinhole:resolution"] == [[depth.shape[1], depth.shape[0]]]
    assert pinhole["Pinhole:camera_xyz"] == [[3, 2, 5]]  # right, down, forward


def test_what_a_frame_lacks_is_cleared(tmp_path: Path) -> None:
    write_relief(tmp_path, "a")
    write_result(tmp_path, "b")
    write_rrd(open_frames(tmp_path), tmp_path / "out.rrd")
    rows = read_back(tmp_path / "out.rrd")
    assert "EncodedImage:blob" in rows["/camera/picture"][0]
    for entity in ("/camera/picture", "/camera/depth"):
        assert rows[entity][1]["Clear:is_recursive"] == [False], entity
    assert "sigma_virtual" in rows["/cloud"][0]
    assert "DepthImage:meter" not in rows["/camera/depth"][0]
    assert {"Clear:is_recursive", "sigma_mm"} <= rows["/cloud"][1].keys()


def test_large_clouds_are_thinned_and_colours_are_chosen(tmp_path: Path) -> None:
    frames = open_frames(write_result(tmp_path))
    found = write_rrd(frames, tmp_path / "out.rrd", color="confidence", most_points=1500)
    rows = read_back(tmp_path / "out.rrd")
    assert found.points == len(rows["/cloud"][0]["confidence"]) <= 1500 < found.points_of_clouds
    assert rows["/cloud"][0]["Points3D:colors"][0] != rows["/cloud"][0]["Points3D:colors"][-1]
    assert "Colours: confidence from 0 to 1" in rows["/notes"][0]["TextDocument:text"][0]


def test_a_camera_of_another_size_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    import plenodepth

    (tmp_path / "out.rrd").write_text("before")
    frames, other = open_frames(real_result().folder), Instrument(plenodepth.preset("r12-es"))
    with pytest.raises(InputError, match="--camera: 'r12-es' has 4080 × 3068 pixels"):
        write_rrd(frames, tmp_path / "out.rrd", instrument=other)
    assert [path.name for path in tmp_path.iterdir()] == ["out.rrd"]
    assert (tmp_path / "out.rrd").read_text() == "before"


def test_wrong_names_and_colours_are_refused(tmp_path: Path) -> None:
    frames = open_frames(write_result(tmp_path))
    with pytest.raises(InputError, match=r"out\.mcap: --rrd: is no file for rerun"):
        write_rrd(frames, tmp_path / "out.mcap")
    with pytest.raises(InputError, match="--rrd-color: 'error' is not known of these points"):
        write_rrd(frames, tmp_path / "out.rrd", color="error")
    assert not (tmp_path / "out.rrd").exists()


def test_the_command_writes_the_file_and_serves_nothing(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "results")
    done = run("pass", "view", str(folder), "--rrd", str(tmp_path / "out.rrd"))
    out = tmp_path / "out.rrd"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}: 1 frame, {COUNT:,} points; `rerun {out}` shows them\n"
    assert len(read_back(out)["/cloud"][0]["Points3D:positions"]) == COUNT


def test_without_the_extra_it_is_one_line(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "results")
    done = run("sys.modules['rerun'] = None", "view", str(folder), "--rrd", str(tmp_path / "out.rrd"))
    assert done.returncode == 2
    assert done.stderr == ('plenodepth: the export needs the package rerun-sdk (pip install "plenodepth[rerun]")\n'), (
        json.dumps(done.stderr)
    )
    assert not (tmp_path / "out.rrd").exists()


def run(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys; {before}; from plenodepth.cli import main; main()"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120)
