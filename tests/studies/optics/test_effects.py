"""What real lenses do to depth, in small."""

import numpy as np
import pytest

from plenodepth.camera import lens_center, preset
from plenodepth.camera.model import ExitPupil
from plenodepth.camera.presets import shrunk
from plenodepth.sim.optics import RealOptics, Stop, camera_with_optics
from plenodepth.studies.optics.effects import (
    EFFECTS,
    Effect,
    away_from_axis,
    camera_that_knows,
    effects_on_depth,
    errors_of_other_walls_scale,
    wall_distances,
)

CAMERA = shrunk(preset("r12-es"), 16, 14)


def test_without_an_effect_depth_is_right_and_a_smaller_lens_makes_things_seem_nearer() -> None:
    """The aperture shifts less in a smaller lens, and the model that does not know it undoes too much."""
    (distance,) = wall_distances(CAMERA, [6.0])
    assert 900 < distance < 1200
    told: list[str] = []
    optics = RealOptics(clear_aperture=0.85)
    none, smaller, known = effects_on_depth(
        CAMERA,
        [distance],
        {"none": Effect(), "smaller": Effect(optics), "known": Effect(optics, known=("clear_aperture",))},
        rays=32,
        told=lambda done, total, name: told.append(f"{done}/{total} {name}"),
    )
    assert told == ["0/3 none", "1/3 smaller", "2/3 known"]
    assert abs(none.errors[0]) < 0.006
    assert -0.05 < smaller.errors[0] < -0.015
    assert abs(known.errors[0]) < 0.006
    assert np.isnan(none.scaled_errors).all()  # one wall alone has no others


def test_the_camera_of_the_estimation_knows_what_it_is_told_and_where_micro_images_are() -> None:
    optics = RealOptics(exit_pupil=Stop(-15.0, 16.25, (1.0, 0.0)), clear_aperture=0.9)
    true = camera_with_optics(CAMERA, optics)
    nothing = camera_that_knows((), true, CAMERA)
    assert nothing.micro_images is true.micro_images
    assert nothing.main_lens.exit_pupil is None
    assert nothing.micro_lenses.clear_aperture is None
    pupil = camera_that_knows(("exit_pupil",), true, CAMERA)
    assert pupil.main_lens.exit_pupil == ExitPupil(-15.0, 16.25, (1.0, 0.0))
    assert pupil.micro_lenses.clear_aperture is None
    assert camera_that_knows(("clear_aperture",), true, CAMERA).micro_lenses.clear_aperture == 0.9


def test_a_scale_fitted_to_the_other_walls_undoes_what_is_linear_in_depth() -> None:
    true = np.array([1500.0, 1200.0, 800.0, 600.0])
    errors = (true - 12.0) / (0.98 * true) - 1  # Γ(z) = 12 + 0.98 z
    assert np.abs(errors).max() > 0.005
    assert np.allclose(errors_of_other_walls_scale(errors, list(true)), 0, atol=1e-12)
    bent = errors + [0.0, 0.0, 0.0, 0.02]
    left = errors_of_other_walls_scale(bent, list(true))
    assert left[3] == pytest.approx(0.02 * 0.98)  # the fit has not seen this wall
    lost = errors_of_other_walls_scale(np.array([*errors[:3], np.nan]), list(true))
    assert np.isnan(lost[3])
    assert np.allclose(lost[:3], 0, atol=1e-12)


def test_every_option_is_in_the_table() -> None:
    used = {name for effect in EFFECTS.values() for name in effect.optics.used}
    assert used == set(RealOptics.__dataclass_fields__)


def test_a_camera_moved_off_the_axis_has_the_same_lenses_elsewhere() -> None:
    moved = away_from_axis(CAMERA, 9.0, 6.5)
    k, l = CAMERA.micro_images.lattice.indices()
    assert np.allclose(lens_center(k, l, moved) - lens_center(k, l, CAMERA), [9.0, 6.5, 0.0])
    shift = moved.micro_images.center(k, l) - CAMERA.micro_images.center(k, l)
    assert np.linalg.norm(shift.reshape(-1, 2).mean(axis=0)) == pytest.approx(
        np.hypot(9.0, 6.5) * 0.34 / 50.6 / 0.0055, rel=0.02
    )
