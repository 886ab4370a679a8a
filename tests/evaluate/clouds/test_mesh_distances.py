"""Distances to triangles: by hand, and against another method over all triangles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.evaluate.clouds.mesh_distances import compare_to_mesh, sample_mesh

CORNERS = np.array([[0.0, 0, 0], [4, 0, 0], [0, 3, 0]])
ONE = np.array([[0, 1, 2]])


def brute_force(points: np.ndarray, vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Over all triangles: the foot on the plane where it is inside, else the nearest place on the three edges."""
    best = np.full(len(points), np.inf)
    for a, b, c in vertices[faces]:
        for one, other in ((a, b), (b, c), (c, a)):
            edge = other - one
            along = np.clip((points - one) @ edge / max(edge @ edge, 1e-300), 0, 1)
            best = np.minimum(best, np.linalg.norm(points - one - along[:, None] * edge, axis=1))
        normal = np.cross(b - a, c - a)
        if normal @ normal > 1e-12:
            away = (points - a) @ normal / np.sqrt(normal @ normal)
            foot = points - away[:, None] * normal / np.sqrt(normal @ normal)
            sides = [np.cross(q - p, foot - p) @ normal >= 0 for p, q in ((a, b), (b, c), (c, a))]
            best = np.where(np.all(sides, axis=0), np.minimum(best, np.abs(away)), best)
    return best


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ((1, 1, 2), 2),  # above the inside
        ((1, 1, -2), 2),  # both sides alike
        ((-3, -4, 0), 5),  # corner a
        ((7, 0, 4), 5),  # corner b
        ((0, 6, 4), 5),  # corner c
        ((2, -3, 4), 5),  # edge ab
        ((-3, 1, 4), 5),  # edge ac
        ((2 + 3, 1.5 + 4, 0), 5),  # edge bc, along its normal (3, 4)/5 from its middle
    ],
)
def test_every_region_of_a_triangle(point: tuple[float, ...], expected: float) -> None:
    assert compare_to_mesh([point], CORNERS, ONE).distance == pytest.approx([expected])


@pytest.mark.parametrize("corners", [[0, 1, 2], [2, 0, 1], [1, 2, 0], [1, 0, 2]])
def test_a_triangle_without_area_is_its_longest_edge(corners: list[int]) -> None:
    line = np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]])
    points = [[2, 5, 0], [-3, 4, 0], [6, 4, 0]]
    assert compare_to_mesh(points, line, [corners]).distance == pytest.approx([5, 5, 5])
    assert compare_to_mesh(points, line[:1], [[0, 0, 0]]).distance == pytest.approx([np.sqrt(29), 5, np.sqrt(52)])


@given(st.integers(0, 10_000), st.integers(1, 60), st.booleans())
def test_the_tree_finds_what_all_triangles_find(seed: int, count: int, thin: bool) -> None:
    generator = np.random.default_rng(seed)
    vertices = generator.normal(0, 10, (count + 2, 3)) * [1, 1, 1e-4 if thin else 1]
    faces = generator.integers(0, count + 2, (count, 3))
    points = generator.normal(0, 15, (40, 3))
    result = compare_to_mesh(points, vertices, faces)
    np.testing.assert_allclose(result.distance, brute_force(points, vertices, faces), rtol=1e-6, atol=1e-9)
    for point, face, distance in zip(points, result.face, result.distance, strict=True):
        assert brute_force(point[None], vertices, faces[[face]]) == pytest.approx([distance], rel=1e-6, abs=1e-9)


def wavy(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A surface of 2 (n − 1)² triangles, 200 mm wide."""
    x, y = np.meshgrid(np.linspace(-100, 100, n), np.linspace(-100, 100, n))
    vertices = np.stack([x, y, 900 + 10 * np.sin(x / 20) * np.cos(y / 15)], axis=-1).reshape(-1, 3)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + n], 1), np.stack([corner + 1, corner + n + 1, corner + n], 1)]
    )
    return vertices, faces


def test_points_of_the_mesh_are_on_it_and_the_figures_are_of_their_shift() -> None:
    vertices, faces = wavy(60)
    points = sample_mesh(vertices, faces, 20_000)
    assert compare_to_mesh(points, vertices, faces).accuracy.largest < 1e-9
    far = compare_to_mesh(points + [0, 0, 500], vertices, faces, cap=100)
    assert (far.accuracy.mean, far.accuracy.beyond) == (100, 1)
    assert (far.face == -1).all()


def test_points_of_a_mesh_are_uniform_by_area_and_seeded() -> None:
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [10, 0, 0], [13, 0, 0], [10, 1, 0]])
    points = sample_mesh(vertices, [[0, 1, 2], [3, 4, 5]], 40_000, seed=1)
    assert np.mean(points[:, 0] > 5) == pytest.approx(0.75, abs=0.01)
    near = points[points[:, 0] < 5]
    assert near.mean(axis=0) == pytest.approx([1 / 3, 1 / 3, 0], abs=0.01)
    np.testing.assert_array_equal(points, sample_mesh(vertices, [[0, 1, 2], [3, 4, 5]], 40_000, seed=1))


def test_what_is_no_mesh_is_refused() -> None:
    with pytest.raises(InputError, match="not there"):
        compare_to_mesh([[0, 0, 0]], CORNERS, [[0, 1, 3]])
    with pytest.raises(InputError, match="triangles"):
        compare_to_mesh([[0, 0, 0]], CORNERS, np.empty((0, 3), int))
    with pytest.raises(InputError, match="no area"):
        sample_mesh(CORNERS, [[0, 0, 1]], 5)
