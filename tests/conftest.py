"""Fixtures that every room's tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a test for being slow; with CI set, Hypothesis has such a profile of its own.
if not os.environ.get("CI"):
    settings.register_profile("patient", deadline=None)
    settings.load_profile("patient")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; the test is skipped where there is none."""
    default = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("PLENODEPTH_DATA") or default)
    if not folder.is_dir():
        pytest.skip("no real data: set PLENODEPTH_DATA to its folder")
    return folder
