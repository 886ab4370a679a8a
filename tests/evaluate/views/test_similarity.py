"""PSNR and SSIM: values known in closed form, and SSIM window by window."""

import math

import numpy as np
import pytest

from plenodepth.evaluate import psnr, ssim


def test_psnr_of_a_known_difference() -> None:
    picture = np.full((20, 30, 3), 0.4)
    assert psnr(picture, picture + 0.1) == pytest.approx(20)
    assert psnr(picture, picture) == math.inf
    holes = picture.copy()
    holes[:10] = np.nan
    assert psnr(holes, picture + 0.01) == pytest.approx(40)
    assert math.isnan(psnr(np.full((2, 2), np.nan), np.zeros((2, 2))))


def test_ssim_of_even_pictures_is_that_of_their_levels() -> None:
    x, y = np.full((20, 30), 0.3), np.full((20, 30), 0.5)
    assert ssim(x, y) == pytest.approx((2 * 0.15 + 1e-4) / (0.09 + 0.25 + 1e-4))
    assert ssim(x, x) == pytest.approx(1)


def test_ssim_is_the_mean_over_windows() -> None:
    """As the paper defines it, one window after the other."""
    random = np.random.default_rng(1)
    x = random.random((24, 19))
    y = np.clip(x + 0.2 * random.standard_normal(x.shape), 0, 1)
    x[3, 4] = np.nan
    step = np.arange(11) - 5
    weight = np.exp(-(step[:, None] ** 2 + step**2) / (2 * 1.5**2))
    weight /= weight.sum()
    found = []
    for row in range(24 - 10):
        for column in range(19 - 10):
            a, b = (image[row : row + 11, column : column + 11] for image in (x, y))
            if np.isnan(a).any():
                continue
            ma, mb = (weight * a).sum(), (weight * b).sum()
            va, vb = (weight * (a - ma) ** 2).sum(), (weight * (b - mb) ** 2).sum()
            cov = (weight * (a - ma) * (b - mb)).sum()
            found.append((2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma**2 + mb**2 + 1e-4) * (va + vb + 9e-4)))
    assert len(found) < 14 * 9
    assert ssim(x, y) == pytest.approx(np.mean(found), abs=1e-12)
    assert math.isnan(ssim(x[:8], y[:8]))
