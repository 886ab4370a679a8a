"""The points that stand for the open part of a lens lie where it is, all of the same weight."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.camera import preset
from plenodepth.camera.aperture.clipping import disc_of_pupil, open_lens
from plenodepth.camera.aperture.quadrature import open_nodes
from plenodepth.camera.micro_lenses import lens_distances

CAMERA = preset("r12-mini")
OFFSETS = np.linspace(0, 0.055, 12)  # mm, the last ones with an eighth of the lens open


@pytest.mark.parametrize("lens_type", [0, 1, 2])
def test_many_points_have_the_moments_of_what_is_open(lens_type: int) -> None:
    truth = open_lens(OFFSETS, lens_type, CAMERA)
    nodes = open_nodes(OFFSETS, lens_type, CAMERA, 40, 40)
    radius = CAMERA.micro_lenses.lens_diameter / 2
    middle = nodes.mean(axis=1)
    np.testing.assert_allclose(middle[:, 0], truth.centroid, atol=1e-3 * radius)
    np.testing.assert_allclose(middle[:, 1], 0, atol=1e-12)
    spread = nodes - middle[:, None]
    np.testing.assert_allclose((spread[..., 0] ** 2).mean(axis=1), truth.variance_along, rtol=5e-3)
    np.testing.assert_allclose((spread[..., 1] ** 2).mean(axis=1), truth.variance_across, rtol=5e-3)
    np.testing.assert_allclose((spread[..., 0] ** 3).mean(axis=1), truth.skewness, atol=2e-3 * radius**3)


@pytest.mark.parametrize("lens_type", [0, 1, 2])
def test_every_point_is_open(lens_type: int) -> None:
    nodes = open_nodes(OFFSETS, lens_type, CAMERA, 5, 3)
    assert nodes.shape == (len(OFFSETS), 15, 2)
    ratio, radius = disc_of_pupil(*lens_distances(CAMERA), lens_type, CAMERA)
    from_pupil = nodes - np.stack([ratio * OFFSETS, np.zeros_like(OFFSETS)], axis=1)[:, None]
    assert np.linalg.norm(nodes, axis=2).max() < CAMERA.micro_lenses.lens_diameter / 2
    assert np.linalg.norm(from_pupil, axis=2).max() < radius


def test_dark_pixels_have_the_points_of_the_last_open_one() -> None:
    nodes = open_nodes(np.array([0.0, 0.05, 1.0, 2.0]), 0, CAMERA, 3, 2)
    np.testing.assert_array_equal(nodes[2], nodes[1])
    np.testing.assert_array_equal(nodes[3], nodes[1])


def test_pinholes_have_no_width() -> None:
    assert not open_nodes(OFFSETS, 0, preset("r12-a-pinhole"), 3, 2).any()
