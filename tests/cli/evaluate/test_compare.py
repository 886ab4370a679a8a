"""plenodepth evaluate compare: results of the other commands, before and after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a.json b.json", "are results of depth and of cloud"),
        ("a.json c.json", "c.json: is no result"),
        ("a.json none.json", "none.json: does not exist"),
        ("a.json d.json", "d.json: line 1, column 2: is not valid JSON"),
        ("a.json a.json --level 2", "--level: is 2"),
        ("a.json x.txt", "is no .json file"),
    ],
)
def test_bad_results_are_one_line(refused: Refused, tmp_path: Path, arguments: str, message: str) -> None:
    for name, text in zip("abcd", ('{"kind": "depth", "x": 1}', '{"kind": "cloud", "x": 1}', "[1]", "{"), strict=True):
        (tmp_path / f"{name}.json").write_text(text)
    assert message in refused("evaluate", "compare", *arguments.split(), folder=tmp_path)
