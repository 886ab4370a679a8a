"""Figures that cannot be written."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

from plenodepth.errors import InputError
from plenodepth.view import depth_figure, save_figure

resource = pytest.importorskip("resource", reason="limits of a process are not known here")


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_that_the_system_cuts_short_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    noise = np.random.default_rng(1).random((60, 60), np.float32)
    figure = depth_figure(noise, "noise", "mm")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match=rf"a\.{suffix}: cannot be written: File too large"):
            save_figure(figure, tmp_path / f"a.{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
