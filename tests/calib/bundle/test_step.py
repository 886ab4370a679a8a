"""The step that adjusts: it frees the exit pupil where white centres clearly ask for it, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ideal_features import BOARD, ideal_centers, ideal_features, nominal, small_camera, spread_poses

from plenodepth.cache import WorkFolder
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.step import AdjustStep, adjust_step
from plenodepth.camera import ExitPupil, PlenopticCamera
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.parameters import PUPIL_DISTANCE

AWARE = AdjustSettings(aperture=True)


def with_pupil(distance: float) -> PlenopticCamera:
    camera = small_camera()
    return fitted_to_lenses(replace(camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(distance))))


def adjusted(camera: PlenopticCamera, settings: AdjustSettings, folder: Path) -> AdjustStep:
    features, centers = ideal_features(camera, spread_poses()), ideal_centers(camera)
    return adjust_step(features, centers, BOARD, nominal(camera), WorkFolder(folder), settings=settings)


def test_a_thin_lens_stays_one(tmp_path: Path) -> None:
    step = adjusted(small_camera(), AWARE, tmp_path)
    assert step.camera.main_lens.exit_pupil is None
    assert not any("exit pupil" in note for note in step.adjustment.notes)
    assert step.optics is not None
    held, distance, diameter = step.optics.models
    assert held.chosen
    assert (held.parameters, distance.parameters, diameter.parameters) == (0, 1, 2)
    assert -25 < diameter.change <= distance.change <= held.change == 0
    assert [model.adjusted for model in step.optics.models] == [True, False, False]
    assert "does as well" in step.optics.reason


def test_another_pupil_is_freed_and_said(tmp_path: Path) -> None:
    step = adjusted(with_pupil(20.0), AWARE, tmp_path)
    sigma = dict(zip(step.uncertainty.names, step.uncertainty.sigma, strict=True))[PUPIL_DISTANCE]
    assert step.camera.main_lens.pupil_distance == pytest.approx(20.0, abs=2 * sigma)
    assert sigma < 5
    (note,) = [note for note in step.adjustment.notes if "exit pupil was freed" in note]
    assert "--thin-lens" in note
    assert step.optics is not None
    held, distance, diameter = step.optics.models
    assert (held.chosen, distance.chosen, diameter.chosen) == (False, True, False)
    assert distance.adjusted
    assert diameter.change <= distance.change < -25
    assert f"e = {step.camera.main_lens.pupil_distance:.1f} ± {sigma:.1f} mm" == distance.found
    assert "was freed" in step.optics.reason


def test_it_is_held_where_that_is_asked_for(tmp_path: Path) -> None:
    step = adjusted(with_pupil(20.0), replace(AWARE, find_pupil=False), tmp_path)
    assert step.camera.main_lens.exit_pupil is None
    assert step.optics is not None
    assert step.optics.models[0].chosen
    assert "as asked" in step.optics.reason
