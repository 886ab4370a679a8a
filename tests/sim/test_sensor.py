from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.sim.sensor import BAYER_PATTERNS, BIT_DEPTHS, ROWS_AT_A_TIME, SensorSettings, expose, lens_gains


def flat(value: float, size: int = 200) -> np.ndarray[Any, Any]:
    return np.full((size, size, 3), value, np.float32)


@pytest.mark.parametrize("light", [0.02, 0.2, 0.9])
@pytest.mark.parametrize("gain", [1.0, 0.5])
@pytest.mark.parametrize("color", [True, False])
def test_mean_and_variance_follow_the_photon_transfer_curve(light: float, gain: float, color: bool) -> None:
    settings = SensorSettings(bit_depth=12, full_well=10_000, read_noise=12, exposure=0.8, gain=gain, color=color)
    raw = expose(flat(light), settings).astype(np.float64)
    per_electron = gain * 4095 / 10_000  # K, numbers per electron
    signal = per_electron * 10_000 * 0.8 * light
    variance = per_electron * signal + (per_electron * 12) ** 2 + 1 / 12
    n = raw.size
    assert abs(raw.mean() - signal) < 5 * np.sqrt(variance / n)
    assert abs(raw.var() / variance - 1) < 5 * np.sqrt(2 / n)


def test_noise_of_neighbouring_pixels_channels_and_bands_is_independent() -> None:
    raw = expose(flat(0.5, 256)).astype(np.float64)
    raw -= raw.mean()
    for shifted in (np.roll(raw, 1, axis=0), np.roll(raw, 1, axis=2), np.roll(raw, ROWS_AT_A_TIME, axis=0)):
        assert abs((raw * shifted).mean() / raw.var()) < 5 / np.sqrt(raw.size)


def test_without_noise_every_level_is_rounded_to_the_nearest_number() -> None:
    light = np.repeat(np.linspace(0, 1, 1000, dtype=np.float32)[None, :, None], 3, axis=2)
    for bits in BIT_DEPTHS:
        raw = expose(light, SensorSettings(bit_depth=bits, exposure=1, noise=False))
        top = 2**bits - 1
        assert raw.dtype == (np.uint8 if bits == 8 else np.uint16)
        assert np.abs(raw - light * np.float64(top)).max() <= 0.5 + 1e-2
        assert (raw.min(), raw.max()) == (0, top)


def test_light_one_gives_the_exposure() -> None:
    assert (expose(flat(1.0, 4), SensorSettings(noise=False)) == round(0.9 * 4095)).all()


@pytest.mark.parametrize("noise", [True, False])
def test_too_much_light_is_clipped_at_full_scale(noise: bool) -> None:
    for bits in BIT_DEPTHS:
        settings = SensorSettings(bit_depth=bits, gain=2, noise=noise)
        assert (expose(flat(1e6, 8), settings) == 2**bits - 1).all()


def test_darkness_has_no_negative_numbers() -> None:
    raw = expose(flat(0.0), SensorSettings(read_noise=50))
    assert raw.max() > 0
    assert 0.4 < (raw == 0).mean() < 0.6


@pytest.mark.parametrize("noise", [True, False])
def test_a_full_photosite_has_no_photon_noise_and_stays_below_full_scale_at_half_gain(noise: bool) -> None:
    raw = expose(flat(50.0, 8), SensorSettings(gain=0.5, read_noise=0, noise=noise))
    assert (raw == round(4095 / 2)).all()


@pytest.mark.parametrize("full_well", [None, np.inf])
def test_endless_light_has_no_noise(full_well: float | None) -> None:
    light = np.random.default_rng(0).random((40, 30, 3), dtype=np.float32)
    np.testing.assert_array_equal(
        expose(light, SensorSettings(full_well=full_well)), expose(light, SensorSettings(noise=False))
    )


@pytest.mark.parametrize("pattern", BAYER_PATTERNS)
def test_each_photosite_keeps_the_colour_of_its_filter(pattern: str) -> None:
    # More rows than a band, and an odd number of them.
    light = np.broadcast_to(np.array([0.2, 0.5, 0.8], np.float32), (2 * ROWS_AT_A_TIME + 3, 7, 3))
    raw = expose(light, SensorSettings(bit_depth=8, exposure=1, bayer=pattern, noise=False))
    assert raw.shape == light.shape[:2]
    number = {"R": 51, "G": 128, "B": 204}
    for v, u in np.ndindex(raw.shape):
        assert raw[v, u] == number[pattern[2 * (v % 2) + u % 2]]


def test_a_sensor_without_colour_sees_luminance() -> None:
    light = np.zeros((2, 3, 3), np.float32)
    light[:, [0, 1, 2], [0, 1, 2]] = 1
    raw = expose(light, SensorSettings(bit_depth=16, exposure=1, color=False, noise=False))
    np.testing.assert_allclose(raw / 65535, [[0.299, 0.587, 0.114]] * 2, atol=1e-5)


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads() -> None:
    light = np.random.default_rng(0).random((3 * ROWS_AT_A_TIME + 5, 50, 3), dtype=np.float32)
    one = expose(light, SensorSettings(seed=7), threads=1)
    np.testing.assert_array_equal(one, expose(light, SensorSettings(seed=7), threads=5))
    assert (one != expose(light, SensorSettings(seed=8))).mean() > 0.9


def test_lenses_differ_in_brightness_as_told_and_in_all_frames_alike() -> None:
    owner = np.repeat(np.arange(-1, 999, dtype=np.int32)[None], 4, axis=0)
    light = np.ones((4, 1000, 3), np.float32)
    settings = SensorSettings(bit_depth=16, exposure=0.5, lens_gain_sigma=0.05, noise=False, seed=1)
    raw = expose(light, settings, owner)
    relative = raw[0, :, 0] / (0.5 * 65535)
    assert relative[0] == pytest.approx(1, abs=1e-4)  # no lens, no difference
    np.testing.assert_allclose(relative[1:], lens_gains(settings, 999), atol=1e-4)
    assert relative[1:].std() == pytest.approx(0.05, rel=0.1)
    assert (raw == raw[:1, :, :1]).all()  # one gain per lens, for all its pixels and channels
    another_frame = SensorSettings(bit_depth=16, exposure=0.5, lens_gain_sigma=0.05, noise=False, seed=2)
    np.testing.assert_array_equal(expose(light, another_frame, owner), raw)
    another_camera = SensorSettings(bit_depth=16, exposure=0.5, lens_gain_sigma=0.05, noise=False, lens_seed=2)
    assert (expose(light, another_camera, owner) != raw).any()


def test_the_light_is_not_changed() -> None:
    light, owner = flat(0.5, 8), np.zeros((8, 8), np.int32)
    expose(light, SensorSettings(lens_gain_sigma=0.5), owner)
    np.testing.assert_array_equal(light, flat(0.5, 8))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bit_depth", 9),
        ("exposure", 0.0),
        ("exposure", np.nan),
        ("full_well", 0),
        ("full_well", -np.inf),
        ("full_well", np.nan),
        ("full_well", 1e18),
        ("read_noise", -1),
        ("read_noise", np.inf),
        ("gain", -1),
        ("bayer", "RGBG"),
        ("lens_gain_sigma", -0.1),
        ("seed", -1),
        ("seed", 0.5),
        ("lens_seed", -1),
    ],
)
def test_settings_out_of_range_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{field}: is "):
        SensorSettings(**{field: value})


@pytest.mark.parametrize(
    ("light", "owner", "message"),
    [
        (np.ones((4, 4), np.float32), None, r"light: has the shape \(4, 4\)"),
        (flat(np.nan, 4), np.zeros((4, 4), np.int32), "light: holds a number that is negative or not finite"),
        (flat(-1, 4), np.zeros((4, 4), np.int32), "light: holds a number that is negative or not finite"),
        (flat(1, 4), None, "owner: is missing"),
        (flat(1, 4), np.zeros((3, 4), np.int32), r"owner: has the shape \(3, 4\), the light \(4, 4\)"),
        (flat(1, 4), np.full((4, 4), -2, np.int32), "owner: holds -2"),
    ],
)
def test_light_that_cannot_be_exposed_is_refused(light: Any, owner: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        expose(light, SensorSettings(lens_gain_sigma=0.1), owner)


@pytest.mark.parametrize("row", [10, ROWS_AT_A_TIME, ROWS_AT_A_TIME - 1])
def test_a_photosite_gives_part_of_its_charge_to_its_four_neighbours(row: int) -> None:
    light = np.zeros((2 * ROWS_AT_A_TIME + 5, 20, 3), np.float32)
    light[row, 7] = 1
    settings = SensorSettings(bit_depth=16, exposure=1.0, noise=False)
    raw = expose(light, settings, crosstalk=0.02).astype(float)[..., 1] / settings.full_scale
    expected = np.zeros(light.shape[:2])
    expected[row, 7] = 0.98
    for dv, du in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        expected[row + dv, 7 + du] = 0.005
    assert np.abs(raw - expected).max() < 1e-4
    assert np.array_equal(expose(light, settings, crosstalk=0.0), expose(light, settings))


def test_with_colour_filters_charge_goes_to_other_colours() -> None:
    light = np.zeros((2 * ROWS_AT_A_TIME, 12, 3), np.float32)
    light[..., 0] = 1  # red alone
    settings = SensorSettings(bit_depth=16, exposure=1.0, noise=False, bayer="RGGB")
    raw = expose(light, settings, crosstalk=0.04).astype(float)[2:-2, 2:-2] / settings.full_scale
    assert raw[::2, ::2] == pytest.approx(0.96, abs=1e-4)
    assert raw[::2, 1::2] == pytest.approx(0.02, abs=1e-4)  # two of four neighbours are red
    assert raw[1::2, 1::2] == pytest.approx(0, abs=1e-4)
