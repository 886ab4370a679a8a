"""Order in short lists of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.depth.filters.smoothing import sorting_exchanges
from plenodepth.metric.kernels.sorting import kth_smallest, sort_columns


@pytest.mark.parametrize("rows", [1, 2, 7, 31, 32])
def test_exchanges_for_many_rows_sort_fewer(rows: int) -> None:
    values = np.random.default_rng(rows).normal(size=(rows, 50)).round(1).astype(np.float32)
    values[rows // 2, :20] = np.inf
    expected = np.sort(values, axis=0)
    sort_columns(values, len(values), np.array(sorting_exchanges(32)))
    assert np.array_equal(values, expected)


def test_the_kth_smallest_is_that_of_the_sorted_list() -> None:
    values = np.random.default_rng(3).integers(0, 12, 40).astype(np.float32)
    for rank in range(40):
        assert kth_smallest(values.copy(), 0, 39, rank) == np.sort(values)[rank]
