"""The grid of micro-images, found with no hint, against the camera that made the image."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from plenodepth.calib.whites.grid import find_grid
from plenodepth.camera import predicted_center, preset
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose
from plenodepth.raw.vignetting import model_white_image

TRUE = shrunk(preset("r12-a"))


@cache
def white_image(f_number: float) -> NDArray[np.float64]:
    """A white image of the small camera with the noise of a sensor."""
    light = model_white_image(TRUE, f_number)
    return with_noise(light)


def with_noise(light: NDArray[np.float32]) -> NDArray[np.float64]:
    return light + np.random.default_rng(0).normal(0, 0.01, light.shape) * np.sqrt(light + 0.01)


def drawn(lattice: Lattice, pose: PlanarPose, width: int, height: int, radius: float) -> NDArray[np.float64]:
    """Soft discs on a lattice."""
    v, u = np.indices((height, width)).astype(np.float64)
    place = pose.inverse()(np.stack([u, v], axis=-1))
    distance = np.linalg.norm(place - lattice.node(*lattice.nearest(place)), axis=-1)
    return np.clip((radius - distance) / 3, 0, 1)


@pytest.mark.parametrize("f_number", [4.0, 8.0, 16.0])
def test_centres_are_those_of_the_camera_at_every_aperture(f_number: float) -> None:
    grid = find_grid(white_image(f_number))
    assert grid.white
    assert grid.notes == ()
    lattice, truth = grid.fit.lattice, TRUE.micro_images.lattice
    assert (lattice.arrangement, lattice.columns, lattice.rows) == (truth.arrangement, truth.columns, truth.rows)
    assert lattice.shifted_parity == truth.shifted_parity
    error = grid.centers.uv - predicted_center(grid.centers.k, grid.centers.l, TRUE)
    assert np.sqrt(np.mean(error**2)) < 0.03
    assert np.abs(error.mean(axis=0)).max() < 0.006
    # The discs do not spread about the axis: no light is lost on one side of them.
    away = grid.centers.uv - TRUE.sensor.principal_point
    assert abs(np.sum(error * away) / np.sum(away**2)) < 5e-5
    # The covariance is the truth about the error.
    sigma = np.sqrt(np.trace(grid.centers.covariance, axis1=1, axis2=2) / 2)
    assert 0.6 < np.sqrt(np.mean(error**2)) / np.median(sigma) < 1.6


def test_a_mosaic_of_colour_filters_has_the_same_grid() -> None:
    mosaic = white_image(5.6) * np.tile([[1.0, 0.4], [0.5, 1.0]], (TRUE.sensor.height // 2, TRUE.sensor.width // 2))
    grid = find_grid(mosaic)
    error = grid.centers.uv - predicted_center(grid.centers.k, grid.centers.l, TRUE)
    assert np.sqrt(np.mean(error**2)) < 0.03


@pytest.mark.parametrize("arrangement", list(Arrangement))
@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("angle", [0.0, -0.004, 0.03])
def test_any_arrangement_is_told(arrangement: Arrangement, parity: int, angle: float) -> None:
    lattice = Lattice(arrangement, 60, 60, np.full(2, 14.3), parity)
    pose = PlanarPose(angle, np.array([-60.0, -70.0]))
    image = drawn(lattice, pose, 470, 410, 7.0)
    fit = find_grid(image).fit
    assert fit.lattice.arrangement is arrangement
    assert fit.lattice.diameter == pytest.approx(14.3, abs=0.003)
    assert fit.image_from_lattice.angle == pytest.approx(angle, abs=2e-4)
    found = fit.image_from_lattice(fit.lattice.node(*fit.lattice.indices())).reshape(-1, 2)
    inside = ((found > -0.5) & (found < np.array([470, 410]) - 0.5)).all(axis=1)
    place = pose.inverse()(found)
    assert np.abs(place - lattice.node(*lattice.nearest(place))).max() < 0.05
    every = pose(lattice.node(*lattice.indices())).reshape(-1, 2)
    on_sensor = ((every > -0.5) & (every < np.array([470, 410]) - 0.5)).all(axis=1)
    assert np.count_nonzero(inside) == np.count_nonzero(on_sensor)


def test_lens_counts_that_are_known_are_kept() -> None:
    """The grid has one more column than lenses on the sensor, beyond its left border, as that of the authors' R12."""
    truth = TRUE.micro_images
    left = replace(
        truth,
        lattice=replace(truth.lattice, columns=25),
        image_from_lattice=PlanarPose(0.0, truth.image_from_lattice.translation - [truth.lattice.pitch[0], 0.0]),
    )
    cut = white_image(8.0)[:, :-11]  # leaves less room at the right, and none for a lens
    grid = find_grid(cut, columns=25, rows=20)
    assert (grid.fit.lattice.columns, grid.fit.lattice.rows, grid.fit.lattice.shifted_parity) == (25, 20, 0)
    found = grid.fit.image_from_lattice(grid.fit.lattice.node(*left.lattice.indices()))
    assert np.abs(found - left.center(*left.lattice.indices())).max() < 0.1
    assert set(grid.centers.k) == set(range(1, 24))


def test_a_textured_image_has_a_grid_and_the_result_says_so() -> None:
    generator = np.random.default_rng(3)
    camera = fitted_to_lenses(shrunk(preset("r12-a"), 40, 36))
    texture = generator.random((camera.sensor.height // 8 + 1, camera.sensor.width // 8 + 1))
    texture = np.kron(texture, np.ones((8, 8)))[: camera.sensor.height, : camera.sensor.width]
    image = with_noise((model_white_image(camera, 4.0) * (0.2 + 0.8 * texture)).astype(np.float32))
    grid = find_grid(image)
    assert not grid.white
    assert any("no white one" in note for note in grid.notes)
    lattice = grid.fit.lattice
    k, l = lattice.indices()
    found = grid.fit.image_from_lattice(lattice.node(k, l))
    nearest = camera.micro_images.owner(found)
    assert np.abs(found - predicted_center(*nearest, camera)).max() < 0.3


@pytest.mark.parametrize("kind", ["noise", "flat", "smooth", "stripes"])
def test_what_is_no_raw_image_is_refused_in_one_line(kind: str) -> None:
    generator = np.random.default_rng(0)
    v, u = np.indices((300, 400)).astype(np.float64)
    images = {
        "noise": generator.random((300, 400)),
        "flat": np.ones((300, 400)),
        "smooth": 1 + np.sin(u / 150) * np.cos(v / 110),
        "stripes": 1 + np.sin(u / 3),
    }
    with pytest.raises(InputError) as caught:
        find_grid(images[kind], name="white.png")
    assert str(caught.value).startswith("white.png: ")
    assert "\n" not in str(caught.value)


def test_a_dark_image_is_refused() -> None:
    with pytest.raises(InputError, match="is dark"):
        find_grid(np.zeros((200, 200)))
