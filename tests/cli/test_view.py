from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import numpy as np
import pytest
from commands import Refused
from shown_results import real_result, small_camera, write_result

from plenodepth.cli.shared.raw_options import RawOptions
from plenodepth.cli.view import _opened
from plenodepth.io import write_ply

pytest.importorskip("viser", reason="no viser: pip install plenodepth[view]")


def test_it_says_where_to_look_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    folder = write_result(tmp_path / "out")
    command = [sys.executable, "-c", "from plenodepth.cli import main; main()", "view", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout is not None
        assert viewer.stderr is not None
        line = viewer.stdout.readline()
        found = re.fullmatch(rf"{re.escape(str(folder))}: look at (http://127\.0\.0\.1:\d+) \(Ctrl-C ends\)\n", line)
        assert found, line
        with build_opener(ProxyHandler({})).open(found[1], timeout=10) as page:
            assert page.status == 200
        viewer.send_signal(signal.SIGINT)
        out, err = viewer.stdout.read(), viewer.stderr.read()
    assert (viewer.returncode, out, err) == (0, "ended\n", "")


def test_what_is_no_folder_cloud_or_image_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    assert "does not exist" in refused("view", tmp_path / "nowhere")
    assert "is not a PNG, TIFF, JPEG or other known image" in refused("view", tmp_path / "notes.txt")
    assert "holds no result" in refused("view", tmp_path)


def test_a_malformed_cloud_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "bad.ply").write_text("ply\nformat ascii 2.0\nend_header\n")
    assert "header line 2: is not understood" in refused("view", tmp_path / "bad.ply", "--port", "0")


def test_a_huge_cloud_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "huge.ply").touch()
    os.truncate(tmp_path / "huge.ply", 2 << 30)
    assert "holds 2.1 GB" in refused("view", tmp_path / "huge.ply", "--port", "0")


def test_the_depth_of_a_raw_image_is_estimated_first() -> None:
    files = real_result()
    options = RawOptions(camera=str(files.camera), white=[files.white])
    (frame,), instrument, _ = _opened(files.raw, options, None)
    assert list(frame.clouds) == ["dense view", "cloud"]
    assert instrument is not None
    image = instrument.image("raw")
    assert image is not None
    assert image.gray.shape == (small_camera().sensor.height, small_camera().sensor.width)


def test_a_camera_known_by_its_grid_only_shows_a_relief() -> None:
    files = real_result()
    (frame,), instrument, notes = _opened(files.raw, RawOptions(), None)
    assert list(frame.clouds) == ["relief of virtual depth"]
    assert instrument is not None
    assert any("no camera was given" in note for note in notes)
    assert any("no millimetres" in note for note in frame.notes)


def test_a_preset_that_the_record_names_is_taken_and_said(tmp_path: Path) -> None:
    frames, instrument, notes = _opened(write_result(tmp_path), RawOptions(), None)
    assert len(frames) == 1
    assert instrument is not None
    assert instrument.camera.name == "r12-mini"
    assert "preset r12-mini" in notes[0]


def test_a_raw_image_needs_its_camera(refused: Refused, tmp_path: Path) -> None:
    folder = write_result(tmp_path)
    record = (folder / "raw.json").read_text().replace("r12-mini", "ours")
    (folder / "raw.json").write_text(record)
    assert "--camera: is missing" in refused("view", folder, "--raw", folder / "raw.json", "--port", "0")


def test_a_truth_needs_a_calibrated_camera(refused: Refused, tmp_path: Path) -> None:
    cloud = write_result(tmp_path) / "raw.ply"
    assert "give a calibrated camera" in refused("view", cloud, "--truth", cloud, "--port", "0")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the memory from")
def test_five_million_points_open_quickly_and_in_little_memory(tmp_path: Path) -> None:
    random, count = np.random.default_rng(0), 5_000_000
    points = random.normal(0, 100, (count, 3)).astype(np.float32) + np.float32([0, 0, 900])
    colors, ones = random.integers(0, 255, (count, 3), dtype=np.uint8), np.ones(count, np.float32)
    write_ply(points, tmp_path / "large.ply", colors=colors, confidence=ones, sigma=ones)
    command = [sys.executable, "-c", "from plenodepth.cli import main; main()", "view", str(tmp_path / "large.ply")]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout is not None
        assert "look at http://127.0.0.1" in viewer.stdout.readline()  # the first picture waits for a page now
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{viewer.pid}/status").read_text())
        ticks = [int(word) for word in Path(f"/proc/{viewer.pid}/stat").read_text().split()[13:15]]
        viewer.send_signal(signal.SIGINT)
    assert peak is not None
    assert int(peak[1]) < 1_500_000
    assert sum(ticks) / os.sysconf("SC_CLK_TCK") < 5  # CPU-seconds: a busy machine must not fail it
