"""Better, worse or within noise: unit by unit, with the units drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.evaluate.compare import Change, compare_results
from plenodepth.evaluate.result_values import result_values

RNG = np.random.default_rng(0)
HARD = RNG.uniform(1, 30, 40)  # what makes a tile hard is the same in both results


def depth_result(errors: np.ndarray, bias: float = 0.0) -> dict[str, Any]:
    tiles = [{"tile": f"r{i}", "pixels": 10, "mean_ad_mm": float(e), "bias_mm": bias} for i, e in enumerate(errors)]
    return {"kind": "depth", "mean_ad_mm": float(errors.mean()), "completeness": 0.9, "tiles": tiles}


def by_name(changes: tuple[Change, ...]) -> dict[str, Change]:
    return {change.name: change for change in changes}


def test_a_small_change_of_every_unit_shows_through_units_that_differ_a_lot() -> None:
    noise = RNG.normal(0, 0.2, 40)
    better = by_name(compare_results(depth_result(HARD), depth_result(HARD - 0.5 + noise)))["tiles.mean_ad_mm"]
    worse = by_name(compare_results(depth_result(HARD), depth_result(HARD + 0.5 + noise)))["tiles.mean_ad_mm"]
    assert (better.verdict, worse.verdict, better.units) == ("better", "worse", 40)
    assert better.interval is not None
    assert better.interval[0] < better.difference < better.interval[1] < 0


def test_noise_is_not_taken_for_progress() -> None:
    verdicts = [
        by_name(compare_results(depth_result(HARD), depth_result(HARD + RNG.normal(0, 1, 40))))["tiles.mean_ad_mm"]
        for _ in range(60)
    ]
    noise = sum(change.verdict == "within noise" for change in verdicts)
    assert noise >= 50  # 95 % of 60 are 57


def test_more_is_better_for_some_and_nearer_to_zero_for_others() -> None:
    rows = [{"scene": str(i), "completeness": 0.5 + 0.01 * i, "bias_mm": -4.0 + i} for i in range(6)]
    other = [{**row, "completeness": row["completeness"] + 0.1, "bias_mm": 0.5} for row in rows]
    found = by_name(compare_results({"scenes": rows}, {"scenes": other}))
    assert found["scenes.completeness"].verdict == "better"
    assert found["|scenes.bias_mm|"].verdict == "better"
    assert found["|scenes.bias_mm|"].a == pytest.approx(np.mean([4, 3, 2, 1, 0, 1]))


def test_units_are_matched_by_name_and_single_numbers_have_no_verdict() -> None:
    first, second = depth_result(HARD), depth_result(HARD[::-1])
    second["tiles"] = [{**tile, "tile": f"r{39 - i}"} for i, tile in enumerate(second["tiles"])][:30]
    found = by_name(compare_results(first, second))
    assert found["tiles.mean_ad_mm"].units == 30
    assert found["tiles.mean_ad_mm"].difference == 0
    assert (found["mean_ad_mm"].verdict, found["mean_ad_mm"].interval) == ("unknown", None)
    assert "tiles.pixels" not in found


def test_too_few_units_give_no_verdict() -> None:
    change = by_name(compare_results(depth_result(HARD[:3]), depth_result(HARD[:3] - 1)))["tiles.mean_ad_mm"]
    assert (change.verdict, change.interval, change.units) == ("unknown", None, 3)


def relative_result(depths: np.ndarray, places: np.ndarray) -> dict[str, Any]:
    rows = zip(depths.tolist(), places.tolist(), strict=True)
    return {"kind": "relative", "frames": [{"frame": i, "depth_mm": z, "place_mm": g} for i, (z, g) in enumerate(rows)]}


def test_relative_errors_are_compared_over_pairs_with_frames_drawn() -> None:
    places = np.arange(400.0, 900, 50)
    noise = RNG.normal(0, 1, len(places))
    first, second = relative_result(1.05 * places + noise, places), relative_result(1.01 * places + noise, places)
    change = by_name(compare_results(first, second))["ε_z of the frames in common"]
    assert change.verdict == "better"
    assert change.units == len(places)
    same = by_name(compare_results(first, first))["ε_z of the frames in common"]
    assert (same.difference, same.verdict) == (0, "within noise")
    shifted = relative_result(places, places * 1.1)
    with pytest.raises(InputError, match="have frames at different true places"):
        compare_results(first, shifted)


def test_results_of_different_kinds_or_without_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="are results of depth and of relative"):
        compare_results({"kind": "depth"}, {"kind": "relative"})
    with pytest.raises(InputError, match="have no number in common"):
        compare_results({"kind": "depth", "x": 1}, {"kind": "depth", "y": 1})


def test_numbers_are_found_wherever_they_are_nested() -> None:
    content = {
        "a": {"b": 1, "flag": True, "none": None, "interval": [1, 2]},
        "per_frame": [1.0, 2.0, None, 4.0],
        "thresholds": [{"threshold_mm": 5.0, "recall": 0.5}],
        "scenes": [{"scene": "one", "error": 2.0, "parts": {"x": 3}}],
    }
    values = result_values(content)
    assert values.numbers == {"a.b": 1, "thresholds[5].recall": 0.5, "scenes[one].parts.x": 3}
    assert values.units == {"per_frame": {"0": 1, "1": 2, "3": 4}, "scenes.error": {"one": 2}}
