"""Figurines and the surfaces that they are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from plenodepth.errors import InputError
from plenodepth.sim.scenes.figurines import FIGURINES, HEIGHT, figurine
from plenodepth.sim.scenes.isosurface import blend, block, ellipsoid, surface_of
from plenodepth.sim.scenes.sweeps import Surface, ball, lathe, tube

Array = NDArray[np.float64]

QUICK = 4000


def loose_edges(surface: Surface) -> int:
    """How many directed edges lack their partner: 0 for a closed surface of one orientation."""
    f = surface.faces.astype(np.int64)
    start, end = np.concatenate([f[:, 0], f[:, 1], f[:, 2]]), np.concatenate([f[:, 1], f[:, 2], f[:, 0]])
    n = len(surface.vertices)
    forth, back = np.sort(start * n + end), np.sort(end * n + start)
    return int((forth != back).sum())


def volume(surface: Surface) -> float:
    """Volume within a closed surface, mm³; negative where its faces are turned inwards."""
    return float(trimesh.Trimesh(*surface, process=False).volume)


@pytest.fixture(scope="module", params=list(FIGURINES))
def quick(request: pytest.FixtureRequest) -> Surface:
    return figurine(request.param, QUICK)


# --- figurines --------------------------------------------------------------------------------------------------


def test_there_are_at_least_five() -> None:
    assert len(FIGURINES) >= 5


def test_a_figurine_stands_on_the_ground_100_mm_high(quick: Surface) -> None:
    low, high = quick.vertices.min(axis=0), quick.vertices.max(axis=0)
    assert high[1] == pytest.approx(0, abs=1e-9)
    assert low[1] == pytest.approx(-HEIGHT)
    assert (low + high)[[0, 2]] == pytest.approx([0, 0], abs=1e-9)
    assert (high - low).max() < 160


def test_a_figurine_is_closed_and_turned_outwards(quick: Surface) -> None:
    assert quick.faces.dtype == np.int32
    assert loose_edges(quick) == 0
    assert volume(quick) > 10_000  # mm³


def test_no_triangle_of_a_figurine_is_degenerate(quick: Surface) -> None:
    a, b, c = quick.vertices.astype(np.float32)[quick.faces].transpose(1, 0, 2)
    assert (np.linalg.norm(np.cross(b - a, c - a), axis=1) > 0).all()


def test_detail_is_about_the_number_of_triangles(quick: Surface) -> None:
    assert len(quick.faces) == pytest.approx(QUICK, rel=0.15)


@pytest.mark.parametrize(
    "shape", [pytest.param(s, marks=[pytest.mark.slow] if s in ("cat", "elephant") else []) for s in FIGURINES]
)
def test_a_figurine_of_100_000_triangles_is_still_closed(shape: str) -> None:
    fine = figurine(shape, 110_000)
    assert len(fine.faces) >= 100_000
    assert loose_edges(fine) == 0


@pytest.mark.parametrize("shape", ["tower", "boulder", "vase"])
def test_more_detail_keeps_the_body(shape: str) -> None:
    assert volume(figurine(shape, 40_000)) == pytest.approx(volume(figurine(shape, QUICK)), rel=0.08)


def test_a_figurine_is_the_same_every_time() -> None:
    for one, again in zip(figurine("cat", QUICK), figurine("cat", QUICK), strict=True):
        assert one.tobytes() == again.tobytes()


def test_an_unknown_shape_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"shape: is 'dog', needs one of cat, "):
        figurine("dog")


@pytest.mark.parametrize("detail", [0, -5, 10**9])
def test_an_absurd_detail_is_refused(detail: int) -> None:
    with pytest.raises(InputError, match="detail"):
        figurine("cat", detail)


# --- surfaces of fields -----------------------------------------------------------------------------------------


@given(
    center=st.tuples(*[st.floats(-3, 3)] * 3),
    radius=st.floats(6, 15),
    triangles=st.integers(500, 8000),
)
@settings(max_examples=25, deadline=None)
def test_the_surface_of_a_ball_lies_on_the_ball(
    center: tuple[float, float, float], radius: float, triangles: int
) -> None:
    box = np.array(center) - 1.3 * radius, np.array(center) + 1.3 * radius
    surface = surface_of(lambda p: ellipsoid(p, center, [radius] * 3), *box, triangles)
    assert np.linalg.norm(surface.vertices - center, axis=1) == pytest.approx(radius, rel=2e-3)
    assert len(surface.faces) == pytest.approx(triangles, rel=0.3)
    assert loose_edges(surface) == 0
    # Flat triangles cut off a share of the ball that falls with their number.
    assert 1 - volume(surface) / (4 / 3 * np.pi * radius**3) == pytest.approx(0, abs=18 / len(surface.faces))


def test_a_cube_whose_faces_lie_on_the_grid_has_no_degenerate_triangle() -> None:
    surface = surface_of(lambda p: block(p, (0, 0, 0), (8, 8, 8)), (-16, -16, -16), (16, 16, 16), 6 * 2 * 16 * 16)
    a, b, c = surface.vertices[surface.faces].transpose(1, 0, 2)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).min() > 1e-9
    assert loose_edges(surface) == 0
    assert volume(surface) == pytest.approx(16**3, rel=0.05)


@given(a=st.floats(-20, 20), b=st.floats(-20, 20), width=st.floats(0.1, 10))
def test_a_blend_is_a_union_that_fills_its_seam(a: float, b: float, width: float) -> None:
    value = float(blend(width, np.array([a]), np.array([b]))[0])
    assert min(a, b) - width / 4 - 1e-9 <= value <= min(a, b) + 1e-9
    if abs(a - b) >= width:
        assert value == pytest.approx(min(a, b))


# --- surfaces of sweeps -----------------------------------------------------------------------------------------


def ring(radius: float, spokes: int) -> Surface:
    t = np.arange(200) * (2 * np.pi / 200)
    side = np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    return tube(30 * side, side, np.broadcast_to([0.0, 0.0, -1.0], side.shape), radius, spokes)


def half_circle(radius: float) -> list[tuple[float, float]]:
    return [(float(radius * np.cos(t)), float(radius * np.sin(t))) for t in np.linspace(-1.5, 1.5, 40)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: lathe([(0, 0), (10, 0), (10, 50), (0, 50)], 20_000), np.pi * 100 * 50),
        (lambda: lathe([(0, -20), *half_circle(20), (0, 20)], 20_000), 4 / 3 * np.pi * 8000),
        (lambda: ball(5000), 4 / 3 * np.pi),
        (lambda: ring(5, 60), 2 * np.pi**2 * 30 * 25),
    ],
    ids=["cylinder", "turned ball", "ball", "ring"],
)
def test_a_sweep_is_closed_and_holds_its_volume(make: Callable[[], Surface], expected: float) -> None:
    surface = make()
    assert loose_edges(surface) == 0
    assert volume(surface) == pytest.approx(expected, rel=0.02)


@given(triangles=st.integers(100, 3000))
@settings(max_examples=20, deadline=None)
def test_the_triangles_of_a_ball_are_almost_alike(triangles: int) -> None:
    surface = ball(triangles)
    a, b, c = surface.vertices[surface.faces].transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    assert area.max() < 4 * area.min()
    assert len(surface.faces) == pytest.approx(triangles, rel=0.3)
