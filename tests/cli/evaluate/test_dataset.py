from __future__ import annotations

from pathlib import Path

from commands import Refused, Run


def test_parts_that_are_there_and_that_are_not_are_listed(succeeds: Run, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text("0 0\n1 10\n")
    result = succeeds("evaluate", "dataset", tmp_path, "--json").json
    assert result["files"] == {"distances": [str(tmp_path / "gt.txt")]}
    assert result["missing"]["lidar clouds"] == ".pts, .ptx"
    text = succeeds("evaluate", "dataset", tmp_path).words
    assert "distances 1 gt.txt" in text
    assert "missing: camera; looked for .js with main_lens, sensor and mla; our .yaml" in text
    assert "is no folder" in refused("evaluate", "dataset", tmp_path / "none")
