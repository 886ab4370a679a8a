"""What real lenses do to depth, in small."""

import numpy as np
import pytest

from plenodepth.camera import lens_center, preset
from plenodepth.camera.presets import shrunk
from plenodepth.sim.optics import RealOptics
from plenodepth.studies.optics.effects import EFFECTS, Effect, away_from_axis, effects_on_depth, wall_distances

CAMERA = shrunk(preset("r12-es"), 16, 14)


def test_without_an_effect_depth_is_right_and_a_smaller_lens_makes_things_seem_nearer() -> None:
    """The aperture shifts less in a smaller lens, and the model that does not know it undoes too much."""
    (distance,) = wall_distances(CAMERA, [6.0])
    assert 900 < distance < 1200
    told: list[str] = []
    none, smaller = effects_on_depth(
        CAMERA,
        [distance],
        {"none": Effect(), "smaller": Effect(RealOptics(clear_aperture=0.85))},
        rays=32,
        told=lambda done, total, name: told.append(f"{done}/{total} {name}"),
    )
    assert told == ["0/2 none", "1/2 smaller"]
    assert abs(none.errors[0]) < 0.006
    assert -0.05 < smaller.errors[0] < -0.015


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
