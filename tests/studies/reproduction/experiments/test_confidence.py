"""What confidence and σ are worth is told from errors of known make; photographed data have no truth to tell it by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from reproductions import confidence_values, lens_errors

from plenodepth.calib.features import Board, Features
from plenodepth.camera import preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.geometry import PlanarPose
from plenodepth.io import write_float_map
from plenodepth.io.images import write_image
from plenodepth.studies.reproduction.datasets import BoardShots, Dataset, DatasetCalibration
from plenodepth.studies.reproduction.experiments.confidence import judge, plan_confidence
from plenodepth.studies.reproduction.lens_errors import TRUE_CAMERA, TRUTH, frames_with_truth, true_lens_depth
from plenodepth.studies.reproduction.published import SCENES
from plenodepth.studies.reproduction.results import ConfidenceResult, DatasetConfidence
from plenodepth.studies.reproduction.sources import find_source
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.tables import confidence_tables
from plenodepth.studies.reproduction.worker_pool import WorkerPool


def test_a_sigma_that_is_right_and_one_that_is_not_are_told_apart() -> None:
    found = lens_errors()
    away = np.isfinite(found.error) & (found.boundary >= 1)
    right = replace(found, error=np.where(away, found.error, np.float32(np.nan)))
    sigma = judge(right).sigma
    assert sigma.spread == pytest.approx(1, abs=0.03)
    np.testing.assert_allclose(sigma.within, sigma.expected, atol=0.01)
    halved = judge(replace(right, sigma=right.sigma / 2)).sigma
    assert halved.spread == pytest.approx(2 * sigma.spread, rel=1e-5)
    assert all(row.observed == pytest.approx(row.predicted, rel=0.1) for row in sigma.bins)


def test_an_order_is_worth_all_or_nothing_or_something_between() -> None:
    found = lens_errors()
    size = np.abs(found.error)
    perfect = judge(replace(found, confidence=-np.nan_to_num(size))).sparsification
    assert perfect.gain.confidence == pytest.approx(1)
    assert perfect.ause.confidence == pytest.approx(0, abs=1e-9)
    order = np.random.default_rng(1).random(len(size)).astype(np.float32)
    assert judge(replace(found, confidence=order)).sparsification.gain.confidence == pytest.approx(0, abs=0.05)
    between = judge(found).sparsification
    assert 0.1 < between.gain.sigma < between.gain.confidence < 0.9
    assert between.random == pytest.approx(np.nanmean(size), rel=1e-5)
    lost = replace(found, sigma=np.where(found.boundary < 1, np.float32(np.nan), found.sigma))
    assert judge(lost).sparsification.gain.sigma > between.gain.sigma  # no σ is least sure


def test_errors_are_split_by_where_they_are() -> None:
    found = lens_errors()
    judged = judge(found)
    at, *away = judged.splits["boundary"]
    assert at.group == "at a boundary"
    assert all(at.median > 2.5 * row.median for row in away)
    assert [row.group for row in judged.splits["lens type"]] == ["type 0", "type 1", "type 2"]
    by_confidence = [row.mean for row in judged.splits["confidence"]]
    assert by_confidence == sorted(by_confidence, reverse=True)
    for split in ("lens type", "boundary", "contrast"):
        rows = judged.splits[split]
        assert sum(row.count for row in rows) == judged.count
        assert all(row.completeness == pytest.approx(0.9, abs=0.02) for row in rows)


def test_tables_have_one_for_each_split_and_name_what_was_skipped() -> None:
    values = confidence_values()
    tables, checks = confidence_tables(values)
    assert len(tables) == 6
    assert all(len(row) == len(found.columns) for found in tables for row in found.rows)
    assert "r12-es has no truth" in tables[0].note
    assert [check.met for check in checks] == [True, True]
    judged = values.datasets["r12-elp20"].methods["BLADE"]
    first = dict(zip(tables[0].columns[:6], tables[0].rows[0][:6], strict=True))
    assert first["mean |error| [%]"] == pytest.approx(100 * judged.mean)
    assert first["surest half, by confidence [%]"] < first["mean |error| [%]"]
    useless = replace(judged, sparsification=replace(judged.sparsification, confidence=(1.0,) * 50))
    values = ConfidenceResult({"r12-elp20": DatasetConfidence(5, {"BLADE": useless})}, {})
    _, checks = confidence_tables(values)
    assert checks[0].met is False
    assert "not: BLADE on r12-elp20" in checks[0].what


def photographed(root: Path) -> Path:
    """R12-ES and R12-ELP20 as photographs: no truth beside the images."""
    images = [
        "r12-es/white/f4",
        "r12-es/calibration/00",
        "r12-es/targets/00",
        "r12-es/targets/01",
        "r12-elp20/white/f4",
    ]
    for folder in [*images, *(f"r12-elp20/scenes/{scene}" for scene in SCENES)]:
        (root / folder).mkdir(parents=True)
        write_image(np.zeros((12, 16), np.uint16), root / folder / "raw.png")
    (root / "r12-es/targets/distances.txt").write_text("0 500\n1 600\n")
    for scene in SCENES:
        (root / "r12-elp20/scenes" / scene / "lidar.pts").write_text("1\n1 2 3 0 1 2 3\n")
    return root


def test_photographed_data_are_skipped_and_it_is_said(tmp_path: Path) -> None:
    study = Study(tmp_path / "out", data=photographed(tmp_path / "data"))
    camera = shrunk(preset("r12-a"), 6, 5)
    none = BoardShots(Board(6, 4, 30.0), (), Path("white.png"), cast(Features, None))
    calibration = DatasetCalibration("r12-es", camera, camera, camera, none)
    datasets = {name: Dataset(name, find_source(study, name), calibration, none) for name in ("r12-es", "r12-elp20")}
    with WorkerPool(study) as pool:
        values = pool.run(plan_confidence(study, datasets))
    assert values.datasets == {}
    (found,), checks = confidence_tables(values)
    assert [row[0] for row in found.rows] == ["r12-es", "r12-elp20"]
    assert "only simulated frames have a dense truth" in str(found.rows[0][1])
    assert checks == ()


def test_frames_with_a_truth_beside_them_are_found(tmp_path: Path) -> None:
    data = photographed(tmp_path / "data")
    folder = data / "r12-es/targets/01"
    write_float_map(np.ones((2, 2)), folder / TRUTH)
    (folder / TRUE_CAMERA).write_text("")
    source = find_source(Study(tmp_path / "out", data=data), "r12-es")
    assert frames_with_truth(source) == [folder / "raw.png"]


def test_truth_is_looked_up_where_the_calibrated_lattice_begins(tmp_path: Path) -> None:
    true = shrunk(preset("r12-a"), 8, 6)
    save_camera(true, tmp_path / TRUE_CAMERA)
    depth = np.arange(48, dtype=np.float32).reshape(6, 8) + 400
    write_float_map(depth, tmp_path / TRUTH)
    np.testing.assert_array_equal(true_lens_depth(tmp_path / "raw.png", true), depth)
    grid = true.micro_images
    lattice = replace(grid.lattice, columns=7)
    moved = PlanarPose(grid.image_from_lattice.angle, grid.center(2, 0) - grid.center(0, 0) +
                       grid.image_from_lattice.translation)  # fmt: skip
    found = true_lens_depth(
        tmp_path / "raw.png", replace(true, micro_images=replace(grid, lattice=lattice, image_from_lattice=moved))
    )
    np.testing.assert_array_equal(found[:, :6], depth[:, 2:])
    assert np.isnan(found[:, 6]).all()
