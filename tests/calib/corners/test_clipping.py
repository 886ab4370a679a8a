"""The tables of the corner fit say what the camera model says of clipped pixels."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.corners.clipping import (
    apparent_positions,
    chief_ray_positions,
    clipping,
    knows_clipping,
    no_clipping,
)
from plenodepth.camera import apparent_position, chief_ray_position, preset

CAMERA = preset("r12-mini")
K, L = np.array([10, 11, 12, 12]), np.array([9, 9, 8, 10])


@pytest.mark.parametrize("virtual_depth", [2.2, 5.0, 11.0])
def test_pixels_look_where_the_camera_model_says(virtual_depth: float) -> None:
    v = np.full(len(K), virtual_depth)
    uv = CAMERA.micro_images.center(K, L) + [[0.5, 1.0], [-4.0, 3.0], [6.0, 4.0], [2.0, -8.0]]
    np.testing.assert_allclose(
        chief_ray_positions(clipping(K, L, v, CAMERA), uv), chief_ray_position(uv, K, L, v, CAMERA), atol=5e-3
    )


@pytest.mark.parametrize("virtual_depth", [2.2, 5.0, 11.0])
def test_corners_appear_where_the_camera_model_says(virtual_depth: float) -> None:
    v = np.full(len(K), virtual_depth)
    thin = CAMERA.micro_images.center(K, L) + [[0.5, 1.0], [-3.0, 3.0], [4.0, 3.0], [2.0, -5.0]]
    clip = clipping(K, L, v, CAMERA)
    uv, covariance = apparent_positions(clip, thin, np.tile(np.eye(2), (len(K), 1, 1)))
    np.testing.assert_allclose(uv, apparent_position(thin, K, L, v, CAMERA), atol=5e-3)
    np.testing.assert_allclose(chief_ray_positions(clip, uv), thin, atol=1e-3)
    # The covariance goes with the derivative of the way there.
    step = 1e-2
    ahead, behind = (
        np.array([apparent_positions(clip, thin + sign * unit, covariance)[0] for unit in np.eye(2)])
        for sign in (step, -step)
    )
    jacobian = np.moveaxis((ahead - behind) / (2 * step), 0, -1)
    np.testing.assert_allclose(covariance, jacobian @ jacobian.transpose(0, 2, 1), rtol=0.1, atol=0.02)


def test_without_a_camera_nothing_shifts() -> None:
    clip = no_clipping(CAMERA.micro_images, K, L)
    uv = CAMERA.micro_images.center(K, L) + [3.0, -2.0]
    np.testing.assert_array_equal(chief_ray_positions(clip, uv), uv)
    there, covariance = apparent_positions(clip, uv, np.tile(np.eye(2), (len(K), 1, 1)))
    np.testing.assert_allclose(there, uv, atol=1e-9)
    np.testing.assert_allclose(covariance, np.tile(np.eye(2), (len(K), 1, 1)), atol=1e-9)
    assert not knows_clipping(None)
    assert knows_clipping(CAMERA)


def test_place_that_is_unknown_stays_unknown() -> None:
    clip = no_clipping(CAMERA.micro_images, K[:1], L[:1])
    uv, _ = apparent_positions(clip, np.full((1, 2), np.nan), np.zeros((1, 2, 2)))
    assert np.isnan(uv).all()


def test_points_and_what_lies_about_them_make_up_the_whole_blur() -> None:
    plain, shaped = (clipping(K, L, np.full(len(K), 5.0), CAMERA, shaped=which) for which in (False, True))
    assert plain.nodes.shape[2] == 1
    assert not plain.nodes.any()
    assert shaped.nodes.shape[2] > 10
    np.testing.assert_allclose(shaped.nodes.mean(axis=2), 0, atol=1e-12)
    total = shaped.table[..., 1:3] + (shaped.nodes**2).mean(axis=2)
    np.testing.assert_allclose(total, plain.table[..., 1:3], atol=1e-6)
    assert (shaped.table[..., 1:3] <= 0.35 * plain.table[..., 1:3] + 1e-9).all()


def test_pixels_see_from_where_most_of_their_light_falls() -> None:
    """In the middle evenly, farther out from their inner half: in focus nothing else moves a corner."""
    middle = clipping(K, L, np.full(len(K), 5.0), CAMERA).table[..., 3]
    np.testing.assert_array_equal(middle[:, 0], 0)
    assert (middle < 1e-12).all()
    step = 8 * middle.shape[1] // 12  # of the micro-image's radius
    assert ((middle[:, step] < -0.01) & (middle[:, step] > -0.1)).all()
