"""Lattices: index ↔ position, exact nearest node, half-turn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice

arrangements = st.sampled_from(list(Arrangement))
lattices = st.builds(
    lambda arrangement, columns, rows, px, py, parity: Lattice(arrangement, columns, rows, np.array([px, py]), parity),
    arrangements,
    st.integers(1, 12),
    st.integers(1, 12),
    st.floats(0.5, 30),
    st.floats(0.5, 30),
    st.sampled_from([None, 0, 1]),
)


@given(lattices)
def test_nearest_node_of_every_node_is_itself(lattice: Lattice) -> None:
    k, l = lattice.indices()
    found_k, found_l = lattice.nearest(lattice.node(k, l))
    assert (found_k == k).all()
    assert (found_l == l).all()


@given(lattices, st.integers(0, 2**32 - 1))
def test_nearest_agrees_with_a_search_over_all_nodes(lattice: Lattice, seed: int) -> None:
    size = lattice.node(lattice.columns, lattice.rows)
    points = np.random.default_rng(seed).uniform(-0.1 * size, 1.1 * size, (40, 2))
    l, k = np.mgrid[-4 : lattice.rows + 5, -4 : lattice.columns + 5]
    distances = np.linalg.norm(points[:, None, None] - lattice.node(k, l), axis=-1)
    found = np.linalg.norm(points - lattice.node(*lattice.nearest(points)), axis=-1)
    assert np.allclose(found, distances.min(axis=(1, 2)), rtol=1e-12)


def test_neighbours_of_a_hexagonal_node_are_one_pitch_away() -> None:
    for arrangement in (Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS):
        lattice = Lattice(arrangement, 9, 9, np.array([2.0, 2.0]))
        k, l = lattice.indices()
        distance = np.linalg.norm(lattice.node(k, l) - lattice.node(4, 4), axis=-1)
        assert np.isclose(distance, 2.0).sum() == 6
        assert (distance[distance > 0] > 2.0 - 1e-12).all()


def test_even_rows_and_odd_columns_are_shifted_as_in_libpleno() -> None:
    rows = Lattice(Arrangement.HEXAGONAL_ROWS, 3, 3, np.ones(2))
    columns = Lattice(Arrangement.HEXAGONAL_COLUMNS, 3, 3, np.ones(2))
    assert rows.node([0, 0], [0, 1])[:, 0].tolist() == [0.5, 0.0]
    assert columns.node([0, 1], [0, 0])[:, 1].tolist() == [0.0, -0.5]


@given(lattices)
def test_half_turned_lattice_has_the_same_layout_upside_down(lattice: Lattice) -> None:
    k, l = lattice.indices()
    turned = -lattice.half_turned().node(lattice.columns - 1 - k, lattice.rows - 1 - l)
    difference = turned - lattice.node(k, l)
    assert np.allclose(difference, difference[0, 0], atol=1e-9)


@given(lattices)
def test_turning_twice_gives_the_lattice_back(lattice: Lattice) -> None:
    assert lattice.half_turned().half_turned().shifted_parity == lattice.shifted_parity


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("pitch", (3, 3, [0.0, 1.0], 0)),
        ("pitch", (3, 3, [1.0], 0)),
        ("pitch", (3, 3, [np.nan, 1.0], 0)),
        ("columns", (0, 3, [1.0, 1.0], 0)),
        ("rows", (3, -1, [1.0, 1.0], 0)),
        ("shifted_parity", (3, 3, [1.0, 1.0], 2)),
    ],
)
def test_an_impossible_lattice_names_the_field(field: str, values: tuple) -> None:
    columns, rows, pitch, parity = values
    with pytest.raises(InputError) as error:
        Lattice(Arrangement.ORTHOGONAL, columns, rows, np.array(pitch), parity)
    assert error.value.field == field
