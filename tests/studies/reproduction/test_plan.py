"""A reproduction knows its experiments, the datasets that they need, and how long they take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import lens_distances, pitch_ratio, preset, uncorrected_disparity, virtual_depth_from_disparity
from plenodepth.camera.disparity import corrected_disparity
from plenodepth.camera.presets import shrunk
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.studies.reproduction.experiments.relative import with_usual_disparity
from plenodepth.studies.reproduction.methods import table_methods
from plenodepth.studies.reproduction.plan import EXPERIMENTS, chosen_experiments, plan_stages
from plenodepth.studies.reproduction.study import Study


def test_experiments_run_in_their_own_order() -> None:
    assert chosen_experiments(["absolute", "scale"]) == ["scale", "absolute"]
    assert chosen_experiments(["all"]) == chosen_experiments([]) == list(EXPERIMENTS)


def test_unknown_experiment_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="scale, relative, absolute, disparity, distortion, confidence, views, all"):
        chosen_experiments(["figure-7"])


def test_plan_has_all_datasets_that_are_needed(tmp_path: Path) -> None:
    stages = {stage.experiment for stage in plan_stages(Study(tmp_path), ["absolute"])}
    # Both datasets have one camera, and R12-ES the boards to calibrate it with.
    assert stages == {"r12-es: simulation", "r12-es: calibration", "r12-elp20: simulation", "absolute"}


def test_table_has_the_paper_s_eight_variants_in_its_order() -> None:
    labels = [method.label for method in table_methods()]
    assert labels[:8] == ["B/C/S", "D/C/S", "B/R/S", "D/R/S", "B/C/U", "D/C/U", "B/R/U", "D/R/U"]
    assert [label[0] for label in labels[8:]] == ["A"] * 6


def test_uncorrected_map_is_what_the_usual_formula_reads_from_the_same_matches() -> None:
    camera = shrunk(preset("r12-a"), 6, 5)
    shape = camera.micro_images.lattice.rows, camera.micro_images.lattice.columns
    v = np.linspace(3, 12, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    sigma = np.full(shape, 0.01, np.float32)
    found = VirtualDepthMap(v, sigma, sigma, sigma, np.ones(shape, np.int16), refined=False)
    changed = with_usual_disparity(found, camera).virtual_depth
    ratio = pitch_ratio(camera, lens_distances(camera, *camera.micro_images.lattice.indices()))
    baseline = np.broadcast_to([23.0, 0.0], (*shape, 2))
    seen = corrected_disparity(baseline, v, ratio)
    np.testing.assert_allclose(uncorrected_disparity(baseline, changed), seen, rtol=1e-5)
    assert (np.abs(changed / v - 1) > 0.005).all()
    np.testing.assert_allclose(virtual_depth_from_disparity(seen, baseline, ratio), v, rtol=1e-5)
