"""Fixtures that every room's tests may use, and what lets tests run side by side."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import shared_files
from hypothesis import settings

WORKER = os.environ.get("PYTEST_XDIST_WORKER")  # of tests that run side by side
if WORKER:
    # A worker has one core: more threads would only wait for each other. The libraries read these variables when they
    # are imported, which nothing above does. The package itself asks how many cores there are.
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
    os.cpu_count = lambda: 1

# A busy machine must not fail a test for being slow; with CI set, Hypothesis has such a profile of its own.
if not os.environ.get("CI"):
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")


@pytest.fixture(scope="session", autouse=True)
def _share_files(tmp_path_factory: pytest.TempPathFactory) -> None:
    own = tmp_path_factory.getbasetemp()
    shared_files.keep_in((own.parent if WORKER else own) / "shared")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; the test is skipped where there is none."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PLENODEPTH_DATA") or default)
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is no folder; set PLENODEPTH_DATA to where they are")
    return folder
