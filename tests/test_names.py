"""A name stands for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import plenodepth

PACKAGE = Path(plenodepth.__file__).parent
REFERENCE = PACKAGE / "depth" / "kernels" / "reference"  # the twin of a kernel is called as the kernel is


def test_no_two_classes_have_the_same_name() -> None:
    places = defaultdict[str, list[str]](list)
    for path in sorted(PACKAGE.rglob("*.py")):
        if REFERENCE in path.parents:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_name_that_a_package_gives_is_that_of_a_module_in_it() -> None:
    """Python sets the attribute of a package to the module once that is imported, whatever stood there."""
    clashes = []
    for path in sorted(PACKAGE.rglob("__init__.py")):
        names = {
            alias.asname or alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        modules = {place.stem for place in path.parent.iterdir() if place.suffix == ".py" or place.is_dir()}
        clashes += [f"{path.parent.relative_to(PACKAGE)}: {name}" for name in names & modules]
    assert clashes == []
