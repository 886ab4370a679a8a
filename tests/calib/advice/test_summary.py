"""A calibration in plain numbers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from calibrations import NOISE, calibration_run

from plenodepth.calib.advice.summary import Quantity, input_file
from plenodepth.errors import InputError


def test_the_summary_holds_the_numbers_of_the_adjustment() -> None:
    summary = calibration_run().summary
    adjustment = calibration_run().adjustment
    assert summary.rmse_uv == adjustment.rmse_uv
    np.testing.assert_allclose(summary.rmse_uv, NOISE * np.sqrt(2), rtol=0.05)
    np.testing.assert_allclose(summary.rmse_rho, NOISE, rtol=0.05)
    assert (summary.iterations, summary.cpu_seconds, summary.converged) == (12, 0.5, True)
    assert summary.frames == 10
    assert sum(row.features for row in summary.per_frame) == summary.features
    focal = summary.parameters["main_lens.focal_length"]
    assert focal.value == adjustment.camera.main_lens.focal_length
    assert focal.sigma > 0
    assert summary.parameters["sensor.pixel_size"] == Quantity(0.0055, None, "mm", held=True)
    assert set(summary.derived) >= {"D", "d", "u0", "v0", "pitch"}
    assert summary.notes == ("a note", "5 < 6 & so on")
    content = summary.to_json()
    assert json.loads(json.dumps(content)) == content, "plain numbers, lists and text"


def test_depths_of_the_summary_span_the_boards() -> None:
    summary = calibration_run().summary
    depths = [row.depth for row in summary.depth_uncertainty]
    np.testing.assert_allclose([depths[0], depths[-1]], summary.distance_range)
    assert depths == sorted(depths)
    assert min(row.sigma for row in summary.depth_uncertainty) > 0


def test_inputs_are_told_by_name_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "features.csv").write_bytes(b"k,l\n")
    found = input_file(tmp_path / "features.csv")
    assert (found.name, found.size) == ("features.csv", 4)
    assert found.sha256 == hashlib.sha256(b"k,l\n").hexdigest()
    with pytest.raises(InputError, match="cannot be read"):
        input_file(tmp_path / "none.csv")
