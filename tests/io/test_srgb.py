"""sRGB: known values, and there and back."""

import numpy as np

from plenodepth.io.srgb import srgb_decoded, srgb_encoded


def test_known_values() -> None:
    assert np.allclose(
        srgb_encoded(np.array([-1, 0, 0.0031308, 0.18, 1, 2])), [0, 0, 0.04045, 0.4613561, 1, 1], atol=1e-5
    )
    assert np.isnan(srgb_encoded(np.array([np.nan])))[0]


def test_there_and_back() -> None:
    levels = np.arange(256, dtype=np.uint8)
    assert np.array_equal(np.rint(255 * srgb_encoded(srgb_decoded(levels))), levels)
