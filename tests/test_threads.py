"""Numbers of threads, and work split into bands."""

from __future__ import annotations

import threading

import pytest

from plenodepth.errors import InputError
from plenodepth.threads import each_band, limited_threads, thread_count


def test_a_number_that_is_given_wins_over_the_limit_around_it() -> None:
    with limited_threads(3):
        assert thread_count() == 3
        assert thread_count(2) == 2
        with limited_threads(None):
            assert thread_count() == 3
    with pytest.raises(InputError, match="threads: is 0"):
        thread_count(0)


def test_bands_cover_all_rows_in_order_on_no_more_threads_than_allowed() -> None:
    seen = set[int]()

    def work(rows: slice) -> list[int]:
        seen.add(threading.get_ident())
        return list(range(rows.start, rows.stop))

    with limited_threads(2):
        assert [row for band in each_band(1000, work, rows=7) for row in band] == list(range(1000))
    assert len(seen) <= 2
    assert each_band(0, work) == []
