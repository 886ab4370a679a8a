"""The kernels of views against plain ones that share nothing with them."""

from __future__ import annotations

import numpy as np

from plenodepth.render.kernels.samples import fill_from_behind, find_samples
from plenodepth.render.kernels.splat import splat
from plenodepth.render.kernels.surfaces import enlarge_surface, fill_hidden, warp_surface
from plenodepth.render.opening import Opening

RADIUS = np.float32(5.0)
CENTER = np.array([[6.3, 7.1], [17.2, 7.9]])


def opening() -> Opening:
    distance = np.arange(8)
    area = np.stack([1 - 0.1 * distance, 0.9 - 0.08 * distance])
    centroid, spread = np.stack([0.2 * distance, 0.3 * distance]), np.stack([9.0 - distance, 8.0 - distance])
    rows = [part.astype(np.float32) for part in (area, centroid, spread, np.array([0.42, 0.38]))]
    return Opening(np.float32(1.2), *rows, np.float32(1 / 12), np.float32(2.0))


def test_samples_fall_where_their_pixels_look() -> None:
    inverse = np.linspace(0.05, 0.4, 12).astype(np.float32)
    rng = np.random.default_rng(0)
    # Places of a lens: c + v x, so that place / v is linear in 1/v.
    places = np.empty((2, 12, 4), np.float32)
    places[..., :2] = CENTER[:, None] / 2
    places[..., 2:] = 1 / (2 * inverse[:, None])
    seen = rng.uniform(0.08, 0.35, (16, 24)).astype(np.float32)
    seen[rng.random(seen.shape) < 0.2] = np.nan
    found = tuple(np.zeros(seen.shape, np.float32) for _ in range(3))
    table, types = opening(), np.array([0, 1], np.int32)
    find_samples(0, 2, CENTER, places, inverse, seen, types, tuple(table), RADIUS, found)
    for row, column in np.ndindex(*seen.shape):
        inside = [lens for lens in (0, 1) if np.hypot(column - CENTER[lens, 0], row - CENTER[lens, 1]) < RADIUS]
        if not inside or np.isnan(seen[row, column]):
            assert found[2][row, column] == 0
            continue
        lens = inside[0]
        x, y = column - CENTER[lens, 0], row - CENTER[lens, 1]
        away, u = np.hypot(x, y), float(seen[row, column])
        entries = np.arange(8) / 1.2
        centroid, spread, area = (
            np.interp(away, entries, part[lens]) for part in (table.centroid, table.spread, table.area)
        )
        gap = u - table.focus[lens]
        stretch = 1 + gap * centroid / away
        expected = CENTER[lens] / 2 + np.array([x, y]) * stretch / (2 * u)
        np.testing.assert_allclose([found[0][row, column], found[1][row, column]], expected, atol=2e-3)
        np.testing.assert_allclose(found[2][row, column], area * (1 / 12 + gap**2 * spread) ** -2, rtol=2e-3)


def test_samples_are_shared_among_four_pixels_once() -> None:
    rng = np.random.default_rng(1)
    light = rng.uniform(0, 1, (16, 24, 3)).astype(np.float32)
    light[4, 5] = np.nan
    column, row, weight = (rng.uniform(*ends, (16, 24)).astype(np.float32) for ends in ((-1, 15), (-1, 11), (0.1, 1)))
    channel_of = np.array([[0, 1], [1, 2]], np.int32)
    extent = np.array([[-1, 13], [-1, 13]], np.int32)
    for channels in (channel_of, np.full((2, 2), -1, np.int32)):
        total, sums = np.zeros((12, 14, 3), np.float32), np.zeros((12, 14, 3), np.float32)
        for first, last in ((0, 5), (5, 12)):
            given = CENTER, extent, RADIUS, (column, row, weight), light, channels
            splat(first, last, *given, total, sums)
        expected, expected_sums = np.zeros((12, 14, 3)), np.zeros((12, 14, 3))
        for v, u in np.ndindex(16, 24):
            if not any(np.hypot(u - x, v - y) < RADIUS for x, y in CENTER) or np.isnan(light[v, u, 0]):
                continue
            for r, c in np.ndindex(12, 14):
                near = max(0, 1 - abs(row[v, u] - 0.5 - r)) * max(0, 1 - abs(column[v, u] - 0.5 - c)) * weight[v, u]
                for channel in range(3):
                    if channels[v % 2, u % 2] in (-1, channel):
                        expected[r, c, channel] += near * light[v, u, channel]
                        expected_sums[r, c, channel] += near
        np.testing.assert_allclose(total, expected, atol=1e-5)
        np.testing.assert_allclose(sums, expected_sums, atol=1e-5)


def test_what_lies_behind_an_outline_goes_on() -> None:
    seen = np.full((16, 24), np.nan, np.float32)
    seen[:, :6], seen[:, 7:] = 0.1, 0.3  # near to the left; one column sees past the outline
    out = np.full_like(seen, np.nan)
    fill_from_behind(0, 1, CENTER[:1], RADIUS, 2, seen, out)
    inside = np.hypot(*(np.indices(seen.shape) - CENTER[0, ::-1, None, None])) < RADIUS
    assert (out[:, 6][inside[:, 6]] == np.float32(0.3)).all()
    np.testing.assert_array_equal(out[:, :6][inside[:, :6]], np.float32(0.1))
    assert np.isnan(out[~inside]).all()


def test_a_surface_moves_with_its_depth_and_hides_what_lies_behind() -> None:
    surface = np.full((20, 40), 0.3, np.float32)
    surface[:, 10:20] = 0.1  # a near bar
    inverse = np.linspace(0.05, 0.35, 31).astype(np.float32)
    shift = np.stack([10 * (0.3 - inverse) / 0.2, np.zeros(31)], axis=1).astype(np.float32)  # the bar moves by 10 px
    seen, origin = np.empty_like(surface), np.empty(surface.shape, np.int32)
    warp_surface(0, 20, surface, inverse, shift, np.float32(0.03), seen, origin)
    np.testing.assert_allclose(seen[:, 20:30], 0.1, atol=1e-6)
    np.testing.assert_allclose(seen[:, :10], 0.3, atol=1e-6)
    np.testing.assert_allclose(seen[:, 30:], 0.3, atol=1e-6)
    assert np.isnan(seen[:, 10:20]).all(), "the bar hid it"
    assert (origin[:, 20:30] % 40 == np.arange(10, 20)).all()
    out, of = np.empty_like(seen), np.empty_like(origin)
    fill_hidden(0, 20, seen, origin, 12, out, of)
    np.testing.assert_allclose(out[:, 10:20], 0.3, atol=1e-6)


def test_an_enlarged_surface_keeps_its_edges() -> None:
    row, column = np.indices((10, 12))
    surface = np.where(column < 6, 0.1 + 0.001 * row, 0.3 + 0.002 * column).astype(np.float32)
    out = np.empty((20, 24), np.float32)
    enlarge_surface(0, 20, surface, np.float32(2), np.float32(0.03), out)
    y, x = np.indices(out.shape)
    expected = np.where(x < 12, 0.1 + 0.001 * ((y + 0.5) / 2 - 0.5), 0.3 + 0.002 * ((x + 0.5) / 2 - 0.5))
    flat = (np.abs(x - 11.5) > 1) & (y > 0) & (y < 19) & (x > 0) & (x < 23)
    np.testing.assert_allclose(out[flat], expected[flat], atol=1e-6)
    assert not ((out > 0.15) & (out < 0.29)).any(), "nothing between the surfaces"
