"""The step that adjusts: it frees the exit pupil where white centres clearly ask for it, and only there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ideal_features import BOARD, SIGMA, ideal_centers, ideal_features, nominal, small_camera, spread_poses

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


def adjusted(
    camera: PlenopticCamera, settings: AdjustSettings, folder: Path, *, outwards: float = 0.0, sigma: float = SIGMA
) -> AdjustStep:
    """Adjusted to corners with noise of `sigma` px, all `outwards` px too far from their micro-images' centres."""
    features, centers = ideal_features(camera, spread_poses(), sigma=sigma), ideal_centers(camera)
    away = features.uv - camera.micro_images.center(features.k, features.l)
    features = replace(features, uv=features.uv + outwards * away / np.linalg.norm(away, axis=1, keepdims=True))
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


def test_what_scatter_alone_would_not_make_sure_is_adjusted_to_see(tmp_path: Path) -> None:
    """More noise: χ² falls by less than 25, but e is 3 of its whole σ away from a thin lens."""
    step = adjusted(with_pupil(12.0), AWARE, tmp_path, sigma=0.25)
    assert step.optics is not None
    assert step.optics.freed
    assert -25 < step.optics.models[1].change < -9
    sigma = dict(zip(step.uncertainty.names, step.uncertainty.sigma, strict=True))[PUPIL_DISTANCE]
    assert step.camera.main_lens.pupil_distance == pytest.approx(12.0, abs=2 * sigma)
    assert sigma < 4


def test_a_gain_that_biased_corners_can_make_frees_nothing(tmp_path: Path) -> None:
    """All corners too far in: χ² falls by 20 with e, but the σ of e, with such biases, is as large."""
    step = adjusted(small_camera(), AWARE, tmp_path, outwards=-0.06)
    assert step.optics is not None
    held, distance, _ = step.optics.models
    assert held.chosen
    assert distance.adjusted
    assert distance.change < -9
    assert "when adjusted; 3 σ are asked for" in step.optics.reason
    assert step.camera.main_lens.exit_pupil is None
    assert not any("exit pupil was freed" in note for note in step.adjustment.notes)


def test_it_is_held_where_that_is_asked_for(tmp_path: Path) -> None:
    step = adjusted(with_pupil(20.0), replace(AWARE, find_pupil=False), tmp_path)
    assert step.camera.main_lens.exit_pupil is None
    assert step.optics is not None
    assert step.optics.models[0].chosen
    assert "as asked" in step.optics.reason
