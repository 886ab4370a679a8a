"""Matrix products on one thread, so that theirs do not take the cores from ours."""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from plenodepth.blas import single_blas_thread


def threads_of_numpy() -> int:
    libraries = list(Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*"))
    if not libraries or not hasattr(os, "RTLD_NOLOAD"):
        pytest.skip("this NumPy has no OpenBLAS of its own")
    return int(ctypes.CDLL(str(libraries[0])).scipy_openblas_get_num_threads64_())


def test_a_block_has_one_thread_and_puts_the_number_back() -> None:
    before = threads_of_numpy()
    with single_blas_thread():
        assert threads_of_numpy() == 1
        with single_blas_thread():
            assert threads_of_numpy() == 1
        assert threads_of_numpy() == 1
    assert threads_of_numpy() == before


def test_an_error_puts_it_back_too() -> None:
    before = threads_of_numpy()

    @single_blas_thread()
    def fails() -> None:
        assert threads_of_numpy() == 1
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fails()
    assert threads_of_numpy() == before


def test_blocks_of_several_threads_may_overlap() -> None:
    before, entered, leave = threads_of_numpy(), threading.Event(), threading.Event()

    def other() -> None:
        with single_blas_thread():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with single_blas_thread():
        thread.start()
        entered.wait()
    assert threads_of_numpy() == 1  # the other block is open
    leave.set()
    thread.join()
    assert threads_of_numpy() == before
