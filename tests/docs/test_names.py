"""Names of modules, functions and files in the documentation exist."""

import ast
import re
from pathlib import Path

import pytest
from documented_names import find_name

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "plenodepth"
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
ROOMS = "|".join(sorted(path.stem for path in PACKAGE.iterdir() if not path.name.startswith("_")))
DOTTED = re.compile(rf"(?:plenodepth\.)?(?:{ROOMS})(?:\.\w+)+")
DATA_FILE = re.compile(r".*\.(cfg|html|js|json|ply|png|tiff|yaml)")
SOURCE_FILE = re.compile(r"[\w/]+/\w+\.py|(examples|benchmarks|tests)/[\w/.-]+")
VARIABLES = {"distance", "virtual_depth", "baseline"}  # what the table of symbols names that is no function or class

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def code_spans(page: Path) -> list[str]:
    """What stands between single backticks, outside of code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", text)


@every_page
def test_dotted_names_exist(page: Path) -> None:
    names = {span.split("(")[0] for span in code_spans(page)}
    dotted = {name for name in names if DOTTED.fullmatch(name) and not DATA_FILE.fullmatch(name)}
    assert not [name for name in dotted if not find_name(f"plenodepth.{name.removeprefix('plenodepth.')}")]


@every_page
def test_source_files_exist(page: Path) -> None:
    paths = [word for span in code_spans(page) for word in span.split() if SOURCE_FILE.fullmatch(word)]
    assert not [path for path in paths if not (ROOT / path).exists() and not (PACKAGE / path).exists()]


@every_page
def test_python_examples_use_names_that_exist(page: Path) -> None:
    used = []
    for node in (node for block in blocks(page, "python") for node in ast.walk(ast.parse(block))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("plenodepth"):
            used += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "plenodepth":
            used.append(f"plenodepth.{node.attr}")
    assert not [name for name in used if not find_name(name)]


def test_the_symbols_of_the_paper_have_their_names_in_the_code() -> None:
    table = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8").split("## The paper's symbols")[1]
    cells = [line.rsplit("|", 2)[1] for line in table.splitlines() if line.startswith("|")]
    names = {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)} - VARIABLES
    assert len(names) > 40
    rooms = ("plenodepth", "plenodepth.camera")
    assert not [name for name in names if not any(find_name(f"{room}.{name}") for room in rooms)]
