"""Blur: the line over 1/v, the focus planes, and the relative blur of two lens types."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from cameras import keplerian, unfocused, without_tilt

from plenodepth.camera import (
    PlenopticCamera,
    blur_line,
    inverse_focus_distance,
    lens_distances,
    preset,
    project,
    relative_blur,
    relative_spread,
    unproject,
    usable_virtual_range,
)
from plenodepth.errors import InputError

NAMES = ["r12-a", "r12-b", "r12-c", "r12-e", "r12-mini"]


def corner(camera: PlenopticCamera) -> tuple[int, int]:
    """The lens whose D and d the paper's table gives."""
    return camera.micro_images.lattice.columns - 1, camera.micro_images.lattice.rows - 1


def samples_of_v(camera: PlenopticCamera) -> np.ndarray:
    far, near = usable_virtual_range(camera)
    return np.linspace(far, near, 50)[1:]


@pytest.mark.parametrize("make", [*(lambda n=n: preset(n) for n in NAMES), keplerian, unfocused])
def test_projected_blur_follows_the_line_over_inverse_virtual_depth(make: object) -> None:
    camera = without_tilt(make())  # type: ignore[operator]
    k, l = np.arange(6)[:, None], 4
    v = samples_of_v(camera)
    points = unproject(camera.micro_images.center(k, l), k, l, v, camera, depth_scale=False)
    projected = project(points, k, l, camera).rho
    assert np.allclose(projected, blur_line(camera).radius(v, camera.micro_images.lens_type(k, l)), atol=1e-9)


def test_blur_line_of_the_papers_r12_a() -> None:
    line = blur_line(preset("r12-a"), *corner(preset("r12-a")))
    assert line.slope == pytest.approx(11.59, abs=0.005)
    assert line.intercepts == pytest.approx([-4.88, -4.13, -4.62], abs=0.005)
    assert line.virtual_depth(0.0, np.arange(3)) == pytest.approx([2.373, 2.804, 2.509], abs=0.0015)


def test_focus_distance_of_the_papers_r12_a() -> None:
    inverse = inverse_focus_distance(preset("r12-a"), *corner(preset("r12-a")))
    assert 1 / inverse == pytest.approx([-0.800, -0.945, -0.846], abs=0.0005)


@pytest.mark.parametrize("name", NAMES)
def test_relative_blur_is_the_difference_of_squared_radii(name: str) -> None:
    camera = preset(name)
    v = samples_of_v(camera)
    line, relative = blur_line(camera), relative_blur(camera)
    pixel = camera.sensor.pixel_size
    for i, j in permutations(range(3), 2):
        squares = (line.radius(v, i) * pixel) ** 2 - (line.radius(v, j) * pixel) ** 2
        assert np.abs(relative.difference(v, i, j) - squares).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_relative_blur_equals_the_projected_one_without_tilt(name: str) -> None:
    camera = without_tilt(preset(name))
    v = samples_of_v(camera)
    l, k = 6, np.array([3, 4, 5])  # three neighbours, one of each type
    points = unproject(camera.micro_images.center(4, l), 4, l, v, camera, depth_scale=False)
    radius = project(points[:, None], k, l, camera).rho * camera.sensor.pixel_size
    types = camera.micro_images.lens_type(k, l)
    for i, j in permutations(range(3), 2):
        expected = radius[:, i] ** 2 - radius[:, j] ** 2
        assert np.abs(relative_blur(camera).difference(v, int(types[i]), int(types[j])) - expected).max() < 1e-12


def test_relative_blur_of_the_papers_r12_a() -> None:
    camera = preset("r12-a")
    relative = relative_blur(camera, *corner(camera))
    pairs = {
        (0, 1): [0.968, 3.286, 4.590, 5.315],
        (0, 2): [0.469, 1.286, 1.745, 2.000],
        (1, 2): [-0.499, -2.000, -2.845, -3.314],
    }
    for (i, j), expected in pairs.items():
        found = relative.difference([3, 5, 8, 12], i, j) / camera.sensor.pixel_size**2
        assert found == pytest.approx(expected, abs=0.002)


def test_spread_is_kappa_times_the_root_of_the_difference() -> None:
    camera = preset("r12-a")
    difference = relative_blur(camera).difference(8.0, 0, 1)
    assert camera.blur_coefficient is not None
    expected = camera.blur_coefficient * np.sqrt(difference) / camera.sensor.pixel_size
    assert relative_spread(8.0, 0, 1, camera) == pytest.approx(float(expected), rel=1e-14)
    assert relative_spread(8.0, 1, 0, camera) == relative_spread(8.0, 0, 1, camera)
    with pytest.raises(InputError, match="blur_coefficient"):
        relative_spread(8.0, 0, 1, replace(camera, blur_coefficient=None))


def test_an_unfocused_camera_has_its_focus_at_infinity() -> None:
    camera = unfocused()
    assert inverse_focus_distance(camera) == pytest.approx(0, abs=1e-10)
    assert np.isinf(blur_line(camera).virtual_depth(0.0, 0))


def test_tilt_makes_the_blur_differ_from_lens_to_lens() -> None:
    camera = preset("r12-e")
    first, last = blur_line(camera, 0, 0), blur_line(camera, *corner(camera))
    assert first.slope == last.slope
    assert np.abs(first.intercepts - last.intercepts).min() > 0.1
    assert lens_distances(camera, 0, 0).to_sensor > lens_distances(camera, *corner(camera)).to_sensor
