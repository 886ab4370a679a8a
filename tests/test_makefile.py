"""`make test` fails where a test, the style, a type or an import does. The tools are stand-ins that only say so."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("ruff", "mypy", "lint-imports", "pytest", "plenodepth")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="the program make is not installed")


def make_test(folder: Path, failing: str | None, target: str = "test") -> tuple[int, str]:
    """Exit code and output of a target with tools that print their name, and of which one fails."""
    for tool in TOOLS:
        path = folder / tool
        path.write_text(f"#!/bin/sh\necho this is {tool}\nexit {int(tool == failing)}\n")
        path.chmod(0o755)
    ready = folder / "ready"  # newer than pyproject.toml: no environment is made
    if not ready.exists():
        ready.touch()
    command = ["make", "-C", ROOT, target, f"BIN={folder}", f"READY={ready}", f"WARM={folder / 'warm'}"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # of a make around this
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout


def test_what_runs_beside_the_tests_is_shown_after_them(tmp_path: Path) -> None:
    code, shown = make_test(tmp_path, None)
    assert code == 0
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("this is")] == [
        "ruff", "ruff", "plenodepth", "pytest", "mypy", "lint-imports",
    ]  # fmt: skip
    assert "failed" not in shown


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_can_fail_it(tmp_path: Path, tool: str) -> None:
    code, shown = make_test(tmp_path, tool)
    assert code != 0
    assert ("tests: failed" in shown) == (tool == "pytest")
    assert ("types or imports: failed" in shown) == (tool in {"mypy", "lint-imports"})
    assert ("this is pytest" in shown) == (tool not in {"ruff", "plenodepth"})  # style and kernels come first


def test_kernels_are_compiled_once_before_the_tests_and_not_for_lint(tmp_path: Path) -> None:
    assert "this is plenodepth" not in make_test(tmp_path, None, "lint")[1]
    assert "this is plenodepth" in make_test(tmp_path, None)[1]
    assert "this is plenodepth" not in make_test(tmp_path, None, "test-all")[1]
