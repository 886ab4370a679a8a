"""The page from paper to code names every equation once, and functions and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documented_names import find_name

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.splitlines() if line[:1] == "|"]
ROWS = [row for row in ROWS if len(row) == 4 and not row[0].startswith(("no.", "-"))]
EQUATIONS = [*map(str, range(1, 42)), "S1", "S2", "S3"]  # numbered ones of the paper and its supplement


def test_every_equation_has_its_row() -> None:
    numbers = [number for row in ROWS for number in row[0].split(", ") if number]
    assert numbers == EQUATIONS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1][:40])
def test_functions_and_tests_of_a_row_exist(row: list[str]) -> None:
    functions = re.findall(r"`([\w.]+):([\w.]+)`", row[2])
    assert functions
    assert not [name for name in functions if not find_name("plenodepth." + ".".join(name))]
    tests = re.findall(r"`([\w/]+\.py)::(\w+)`", row[3])
    assert tests
    for file, name in tests:
        assert re.search(rf"^ *def {name}\(", (ROOT / "tests" / file).read_text(encoding="utf-8"), re.MULTILINE), name
