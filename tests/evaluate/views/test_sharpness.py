"""MTF50 of edges whose blur is known, and where a view has edges."""

import math

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erf

from plenodepth.camera import central_pinhole, preset
from plenodepth.evaluate import edge_line, edge_sharpness
from plenodepth.evaluate.views.edges import SIDE, find_edges
from plenodepth.geometry import Pose
from plenodepth.sim.scenes.scene import Checkerboard, Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.views import true_view

FINE = 16  # samples along a pixel's side


def blurred_edge(sigma: float, degrees: float, side: int = 41, offset: float = 0.3) -> NDArray[np.float64]:
    """An edge of a Gaussian blur of σ px, from 0.1 to 0.9, `degrees` off the columns, as pixels average it."""
    angle, place = math.radians(degrees), (np.arange(side * FINE) + 0.5) / FINE - side / 2
    distance = (place - offset) * math.cos(angle) - place[:, None] * math.sin(angle)
    light = 0.5 + 0.4 * erf(distance / sigma / math.sqrt(2))
    return np.asarray(light.reshape(side, FINE, side, FINE).mean(axis=(1, 3)))


def true_mtf50(sigma: float, degrees: float) -> float:
    """Of that blur and of the square pixels: their transfer functions are known."""
    frequency, angle = np.linspace(0, 1, 100_001), math.radians(degrees)
    pixels = np.sinc(frequency * math.cos(angle)) * np.sinc(frequency * math.sin(angle))
    return float(frequency[np.argmax(np.exp(-2 * (np.pi * sigma * frequency) ** 2) * pixels < 0.5)])


@pytest.mark.parametrize("sigma", [0.5, 0.8, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("degrees", [4, -5, 7, 12, 85, 96])
def test_mtf50_is_that_of_the_blur(sigma: float, degrees: float) -> None:
    measured = edge_sharpness(blurred_edge(sigma, degrees))
    assert measured is not None
    assert measured.mtf50 == pytest.approx(true_mtf50(sigma, degrees), rel=0.012)


def test_it_is_little_moved_by_noise() -> None:
    noise = 0.01 * np.random.default_rng(0).standard_normal((41, 41))
    measured = edge_sharpness(blurred_edge(1.0, 5) + noise, edge_line(blurred_edge(1.0, 5)))
    assert measured is not None
    assert measured.mtf50 == pytest.approx(true_mtf50(1.0, 5), rel=0.06)


def test_the_line_of_an_edge() -> None:
    line = edge_line(blurred_edge(0.7, 5))
    assert line is not None
    assert line.upright
    assert line.slope == pytest.approx(math.tan(math.radians(5)), abs=2e-3)
    assert line.offset + 20 * line.slope == pytest.approx(20.3, abs=0.03)
    assert line.residual < 0.03


def test_what_is_no_slanted_edge_has_no_sharpness() -> None:
    assert edge_sharpness(np.full((41, 41), 0.5)) is None
    assert edge_sharpness(blurred_edge(1, 0.5)) is None  # not slanted enough to be sampled finely
    holes = blurred_edge(1, 5)
    holes[0, 0] = np.nan
    assert edge_sharpness(holes) is None


def test_a_views_edges_are_found_on_boards_and_not_in_texture_or_at_outlines() -> None:
    board = Checkerboard(3, 3, 24, Pose.from_rotation_vector([0, 0, math.radians(5)], [-20, -30, 600]), margin=10)
    wall = Rectangle(
        900, 900, Pose(np.eye(3), np.array([0, 0, 1200.0])), Material(texture=noise_image(512, 512, cell=16))
    )
    camera = preset("r12-mini")
    view = true_view(Scene((board, wall)), central_pinhole(camera, 1), (404, 560))
    gray = view.light.mean(axis=2)
    edges = find_edges(gray, view.depth)
    assert len(edges) >= 8
    assert all(edge.depth == pytest.approx(600, abs=1) for edge in edges)
    taken = np.zeros(gray.shape, int)
    for edge in edges:
        taken[edge.window] += 1
        assert (view.object_index[edge.window] == 0).all()
        soft = edge_sharpness(cv2.GaussianBlur(gray, (0, 0), 1.5)[edge.window], edge.line)
        assert soft is not None
        assert soft.mtf50 == pytest.approx(true_mtf50(1.5, 5), rel=0.02)
    assert taken.max() == 1
    assert find_edges(gray[: SIDE - 1]) == []
