"""A depth map against its reference, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.evaluate.maps.differences import depth_differences, signed_differences

REFERENCE = np.array([[1000.0, 1000.0, 1000.0], [500.0, 500.0, np.nan]])
READING = np.array([[1000.0, 1015.0, np.nan], [490.0, 540.0, 700.0]])  # AD 0, 15, –, 10, 40, –


def test_every_figure_by_hand() -> None:
    result = depth_differences(READING, REFERENCE, bad_mm=(10, 20))
    assert (result.common, result.reference) == (4, 5)
    assert result.completeness == pytest.approx(0.8)
    assert (result.q25, result.median, result.q75) == pytest.approx((7.5, 12.5, 21.25))
    assert result.mean == pytest.approx(65 / 4)
    assert result.rmse == pytest.approx(np.sqrt((15**2 + 10**2 + 40**2) / 4))
    assert result.bias == pytest.approx(7.5)  # of −10, 0, 15, 40
    assert result.bad_parts == pytest.approx({0.01: 75.0, 0.02: 25.0, 0.05: 25.0})  # 0, 1.5, 2 and 8 %; 2 is not > 2
    assert result.bad_mm == pytest.approx({10: 50.0, 20: 25.0})


def test_the_signed_map_is_positive_where_too_far_and_nan_off_the_common_mask() -> None:
    expected = [[0, 15, np.nan], [-10, 40, np.nan]]
    np.testing.assert_array_equal(signed_differences(READING, REFERENCE), expected)
    np.testing.assert_array_equal(depth_differences(READING, REFERENCE).signed, expected)


def test_exact_pixels_count_in_the_quartiles() -> None:
    # The authors' program would leave the zeros out and say 8 mm.
    reference = np.full(5, 600.0)
    assert depth_differences(reference + [0, 0, 0, 8, 8], reference).median == 0


def test_a_mask_leaves_pixels_out_of_all_figures() -> None:
    mask = np.array([[True, True, True], [False, False, False]])
    result = depth_differences(READING, REFERENCE, mask=mask)
    assert result.completeness == pytest.approx(2 / 3)
    assert result.mean == pytest.approx(7.5)
    assert np.isnan(result.signed[1]).all()


def test_infinite_depth_is_missing() -> None:
    result = depth_differences([600.0, np.inf, 600.0], [600.0, 600.0, np.inf])
    assert (result.common, result.reference) == (1, 2)


def test_maps_of_float32_give_a_float32_map() -> None:
    assert depth_differences(READING.astype(np.float32), REFERENCE.astype(np.float32)).signed.dtype == np.float32


@given(st.lists(st.floats(300, 2000), min_size=1, max_size=30), st.floats(-100, 100))
def test_a_shift_is_every_figure_and_the_figures_keep_their_order(depths: list[float], shift: float) -> None:
    reference = np.array(depths)
    result = depth_differences(reference + shift, reference)
    assert result.bias == pytest.approx(shift, abs=1e-9)
    figures = (result.q25, result.median, result.q75, result.mean, result.rmse)
    assert figures == pytest.approx((abs(shift),) * 5, abs=1e-9)


@pytest.mark.parametrize(
    ("reading", "reference", "reason"),
    [
        ([np.nan, 700.0], [700.0, np.nan], "reading: has no depth where the reference has one"),
        ([700.0, 700.0], [np.nan, np.nan], "reference: has no depth"),
        ([0.0, 700.0], [700.0, 700.0], "reading: holds 1 depths of 0 mm"),
        ([700.0, 700.0], [0.0, 700.0], "reference: holds 1 depths of 0 mm"),
        ([700.0], [700.0, 700.0], "shape"),
    ],
)
def test_what_cannot_be_compared_is_refused(reading: list[float], reference: list[float], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        depth_differences(reading, reference)


def test_a_mask_without_common_pixels_says_so() -> None:
    with pytest.raises(InputError, match="inside the mask"):
        depth_differences([700.0, np.nan], [700.0, 700.0], mask=[False, True])


def test_thresholds_are_not_negative() -> None:
    with pytest.raises(InputError, match="bad_mm"):
        depth_differences([700.0], [700.0], bad_mm=[-1])
