"""A corner drawn into a micro-image is found where it is, with its blur, and as surely as it says."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.corners.search import estimate_noise, find_corners, usable_radius
from plenodepth.camera import preset

MICRO_IMAGES = preset("r12-mini").micro_images
SHAPE = (404, 560)


def drawn(
    spread: float, noise: float, sign: int = 1, turn: float = 0.3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """An image whose micro-images each show one corner at some place; the image and the places (n, 2), row by row."""
    generator = np.random.default_rng(0)
    k, l = (index.reshape(-1) for index in MICRO_IMAGES.lattice.indices())
    angle, away = generator.uniform(0, 2 * np.pi, len(k)), 6 * np.sqrt(generator.uniform(0, 1, len(k)))
    place = MICRO_IMAGES.center(k, l) + away[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]]
    own_k, own_l = MICRO_IMAGES.owner(np.stack([u, v], axis=-1))
    own = own_l * MICRO_IMAGES.lattice.columns + own_k
    samples = 400
    number = np.arange(samples)
    golden = (np.sqrt(5) - 1) / 2
    # A disc of blur, evenly filled, and over the area of a pixel.
    shift = 2 * spread * np.sqrt((number + 0.5) / samples) * np.exp(2j * np.pi * golden * number)
    jitter = (number[:, None] * [0.7548776662, 0.5698402910]) % 1 - 0.5
    total = np.zeros(SHAPE)
    for step, within in zip(shift - shift.mean(), jitter - jitter.mean(axis=0), strict=True):
        x, y = u + step.real + within[0] - place[own, 0], v + step.imag + within[1] - place[own, 1]
        total += np.sign(np.cos(turn) * x + np.sin(turn) * y) * np.sign(np.cos(turn) * y - np.sin(turn) * x)
    image = 0.5 + sign * 0.4 * total / samples + generator.normal(0, noise, SHAPE)
    image[own_k < 0] = np.nan
    return image.astype(np.float32), place


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("spread", [0.6, 1.2, 2.0])
def test_drawn_corners_are_found(spread: float, sign: int) -> None:
    image, place = drawn(spread, 0.02, sign)
    corners, _ = find_corners(image, MICRO_IMAGES)
    inner = (corners.k > 0) & (corners.k < 23) & (corners.l > 0) & (corners.l < 19)
    corners = corners.where(inner)
    error = corners.uv - place[corners.l * 24 + corners.k]
    true = np.linalg.norm(error, axis=1) < 1
    assert true.mean() > 0.99
    assert true.sum() > 0.9 * 22 * 18
    assert np.sqrt((error[true] ** 2).mean()) < 0.1
    square = np.einsum("ni,nij,nj->n", error[true], np.linalg.inv(corners.covariance[true]), error[true])
    assert 0.5 < np.sqrt(np.median(square) / 1.386) < 1.4
    assert np.median(corners.spread[true]) == pytest.approx(np.hypot(spread, 12**-0.5), rel=0.1)
    assert np.median(corners.contrast[true]) == pytest.approx(0.4, rel=0.1)
    # The bright squares lie across the turned axes' diagonal, or along it.
    diagonal = sign * np.exp(2j * (0.3 + np.pi / 4))
    assert np.median(corners.bright[true] @ [diagonal.real, diagonal.imag]) > 0.98


def test_flat_and_straight_edged_micro_images_have_no_corners() -> None:
    generator = np.random.default_rng(1)
    u = np.arange(SHAPE[1])
    image = 0.5 + 0.4 * np.clip((u - 300) / 3, -1, 1) + generator.normal(0, 0.02, SHAPE)
    corners, _ = find_corners(image.astype(np.float32), MICRO_IMAGES)
    assert len(corners) <= 2


def test_noise_is_that_of_the_image() -> None:
    image, _ = drawn(1.5, 0.05)
    level = estimate_noise(image, MICRO_IMAGES).levels[0] @ [1, 0.5]
    assert np.sqrt(level) == pytest.approx(0.05, rel=0.6)


def test_usable_radius_is_where_pixels_end() -> None:
    image, _ = drawn(1.0, 0.02)
    assert usable_radius(image, MICRO_IMAGES) == pytest.approx(MICRO_IMAGES.radius, abs=1.0)
    v, u = np.mgrid[: SHAPE[0], : SHAPE[1]]
    pixels = np.stack([u, v], axis=-1)
    away = np.linalg.norm(pixels - MICRO_IMAGES.center(*MICRO_IMAGES.owner(pixels)), axis=-1)
    image[away > 6] = np.nan
    assert usable_radius(image, MICRO_IMAGES) == pytest.approx(6, abs=1.0)
