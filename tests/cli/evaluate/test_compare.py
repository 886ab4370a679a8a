"""plenodepth evaluate compare: results of the other commands, before and after."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from commands import Refused, Run

from plenodepth.io import write_float_map

RNG = np.random.default_rng(0)
TRUE = RNG.uniform(400, 600, (64, 64))


def result(run: Run, folder: Path, name: str, spread: float, seed: int) -> Path:
    """The JSON of a map with so much noise, mm."""
    write_float_map(TRUE, folder / "true.tiff")
    write_float_map(TRUE + np.random.default_rng(seed).normal(0, spread, TRUE.shape), folder / "found.tiff")
    out = run("evaluate", "depth", folder / "found.tiff", folder / "true.tiff", "--json").out
    (folder / name).write_text(out)
    return folder / name


def verdicts(run: Run, *arguments: object) -> dict[str, str]:
    rows = run("evaluate", "compare", *arguments, "--json").json["changes"]
    return {row["name"]: row["verdict"] for row in rows}


def test_less_noise_is_better_and_other_noise_is_noise(succeeds: Run, tmp_path: Path) -> None:
    a = result(succeeds, tmp_path, "a.json", 5, 1)
    b = result(succeeds, tmp_path, "b.json", 4, 2)
    c = result(succeeds, tmp_path, "c.json", 5, 3)
    assert verdicts(succeeds, a, b)["tiles.mean_ad_mm"] == "better"
    assert verdicts(succeeds, b, a)["tiles.mean_ad_mm"] == "worse"
    assert verdicts(succeeds, a, c)["tiles.mean_ad_mm"] == "within noise"
    text = succeeds("evaluate", "compare", a, b).words
    assert "B − A by units, with 95 % intervals" in text
    assert "better" in text
    assert "Single numbers, without intervals" in text


def test_bad_results_are_one_line(refused: Refused, tmp_path: Path) -> None:
    for name, content in (
        ("a.json", {"kind": "depth", "x": 1}),
        ("b.json", {"kind": "cloud", "x": 1}),
        ("c.json", [1]),
    ):
        (tmp_path / name).write_text(json.dumps(content))
    a, b, c = (tmp_path / name for name in ("a.json", "b.json", "c.json"))
    assert "are results of depth and of cloud" in refused("evaluate", "compare", a, b)
    assert "c.json: is no result" in refused("evaluate", "compare", a, c)
    assert "none.json: does not exist" in refused("evaluate", "compare", a, tmp_path / "none.json")
    (tmp_path / "d.json").write_text("{")
    assert "d.json: is not valid JSON" in refused("evaluate", "compare", a, tmp_path / "d.json")
    assert "--level: is 2" in refused("evaluate", "compare", a, a, "--level", 2)
    assert "is no .json file" in refused("evaluate", "compare", a, tmp_path / "x.txt")
