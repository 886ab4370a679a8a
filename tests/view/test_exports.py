"""What the room offers, and that it loads Matplotlib at first use only."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

from plenodepth import view
from plenodepth.view import figures, reports


@pytest.mark.parametrize("room", [view, figures, reports], ids=lambda room: room.__name__)
def test_every_name_is_there(room: ModuleType) -> None:
    for name in room.__all__:
        assert callable(getattr(room, name))


def test_importing_the_room_does_not_load_matplotlib_or_jinja() -> None:
    code = "import sys, plenodepth.view.figures, plenodepth.view.reports; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "plenodepth.view.figures" in loaded
    assert not {"matplotlib", "jinja2", "numba"} & {*loaded}
