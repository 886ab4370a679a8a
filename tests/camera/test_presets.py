"""The presets are the paper's cameras, and consistent with themselves."""

import numpy as np
import pytest

from plenodepth.camera import PRESETS, lens_distances, load_camera, preset
from plenodepth.camera.check import grid_agreement
from plenodepth.errors import InputError

# D mm, d µm (of the array's corner node), principal point, all as printed in the paper's table
TABLE = {
    "r12-a": (56.860, 337.13, (2078.3, 1591.0)),
    "r12-b": (52.140, 326.72, (1855.8, 1926.2)),
    "r12-c": (49.356, 330.32, (1786.6, 1547.1)),
    "r12-e": (50.585, 340.87, (1722.5, 1843.6)),
    "r12-a-pinhole": (62.341, 391.90, (2343.4, 1573.7)),
    "r12-b-pinhole": (53.213, 361.01, (1811.9, 1962.2)),
    "r12-c-pinhole": (50.728, 357.82, (1654.9, 1699.7)),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_preset_reproduces_the_derived_columns_of_the_table(name: str) -> None:
    camera = preset(name)
    lattice = camera.micro_images.lattice
    main, sensor = lens_distances(camera, lattice.columns - 1, lattice.rows - 1)
    expected_main, expected_sensor, point = TABLE[name]
    assert main == pytest.approx(expected_main, abs=6e-4)
    assert 1e3 * sensor == pytest.approx(expected_sensor, abs=6e-3)
    assert camera.sensor.principal_point == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("name", PRESETS)
def test_micro_images_and_lenses_of_a_preset_agree(name: str) -> None:
    assert grid_agreement(preset(name)) < 0.1


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_where_it_comes_from(name: str) -> None:
    camera = preset(name)
    assert camera.name == name
    assert camera.provenance.source
    assert camera.provenance.notes


def test_pinhole_presets_have_no_blur() -> None:
    assert [preset(name).type_count for name in PRESETS if "pinhole" in name] == [0, 0, 0]


def test_r12_es_is_r12_e_with_the_scale_of_the_simulation() -> None:
    real, simulated = preset("r12-e"), preset("r12-es")
    assert np.array_equal(real.micro_lenses.focal_lengths, simulated.micro_lenses.focal_lengths)
    assert simulated.depth_scale == pytest.approx([35.910141602595473, 0.66663820764239778, 14.430517978719409e-5])


def test_r12_mini_is_small_and_has_the_optics_of_r12_e() -> None:
    mini, whole = preset("r12-mini"), preset("r12-e")
    assert mini.sensor.width * mini.sensor.height < 250_000
    assert mini.main_lens == whole.main_lens
    assert np.array_equal(mini.micro_lenses.pitch, whole.micro_lenses.pitch)
    assert np.array_equal(mini.distortion.coefficients, whole.distortion.coefficients)
    assert mini.sensor.principal_point == pytest.approx([279.5, 201.5])
    main, sensor = lens_distances(mini)
    assert (main, sensor) == pytest.approx((50.585, 0.34087), rel=1e-4)
    corners = mini.micro_images.center([0, 23], [0, 19])
    assert (corners > 5).all()
    assert (corners < [555, 399]).all()


def test_an_unknown_preset_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="r12-mini"):
        preset("r13")


@pytest.mark.realdata
def test_the_derived_grid_of_r12_b_is_that_of_its_calibration_file(real_data: object) -> None:
    derived = preset("r12-b").micro_images
    calibrated = load_camera(f"{real_data}/r12b/intrinsics.js").micro_images
    k, l = derived.lattice.indices()
    difference = np.linalg.norm(derived.center(k, l) - calibrated.center(k, l), axis=-1)
    assert np.sqrt((difference**2).mean()) < 0.3  # the calibration's own centres are no better than that
