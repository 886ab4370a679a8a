from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from commands import Refused
from shown_results import write_result

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
