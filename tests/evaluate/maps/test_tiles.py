from __future__ import annotations

import numpy as np

from plenodepth.evaluate.maps.tiles import tile_errors


def test_every_error_is_in_one_tile_and_tiles_without_errors_are_left_out() -> None:
    signed = np.random.default_rng(0).normal(2, 3, (50, 33))
    signed[:13] = np.nan
    tiles = tile_errors(signed, (4, 3))
    assert {tile.name for tile in tiles} == {f"r0{r}c0{c}" for r in (1, 2, 3) for c in range(3)}
    assert sum(tile.count for tile in tiles) == np.isfinite(signed).sum()
    total = sum(tile.mean * tile.count for tile in tiles)
    np.testing.assert_allclose(total, np.nansum(np.abs(signed)))
    last = signed[37:, 22:]
    np.testing.assert_allclose((tiles[-1].median, tiles[-1].bias), (np.median(np.abs(last)), np.median(last)))


def test_a_map_smaller_than_the_tiles_has_a_tile_for_each_pixel() -> None:
    assert [tile.mean for tile in tile_errors(np.array([[1.0, -2.0]]))] == [1, 2]
