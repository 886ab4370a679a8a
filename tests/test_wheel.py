"""The package as it is installed: a wheel, made from the source archive, in an environment without this checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from plenodepth.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "plenodepth"
EVERY_MODULE = """
import importlib, pkgutil, plenodepth
names = [module.name for module in pkgutil.walk_packages(plenodepth.__path__, "plenodepth.")]
for name in names:
    importlib.import_module(name)
print(plenodepth.__file__)
print(len(names))
"""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Installed:
    """The wheel, and an environment that has it and the packages that it needs, but not this checkout."""

    wheel: Path
    python: Path

    def run(self, *command: object, folder: Path) -> str:
        left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        env = {name: value for name, value in os.environ.items() if name not in left_out}
        words = [str(self.python.with_name(str(command[0]))), *map(str, command[1:])]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout


def build(target: str, source: Path, out: Path) -> Path:
    """The archive that the pinned build system makes; nothing is downloaded."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", out]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=source, check=True, capture_output=True, env=env)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    archive = build("sdist", ROOT, folder / "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    wheel = build("wheel", folder / archive.name.removesuffix(".tar.gz"), folder / "dist")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder / "venv")}))
    # The packages that ours needs are those of the tests. What a path file leads to may not lead on to the checkout.
    (site / "needed.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    return Installed(wheel, python)


def test_every_file_of_the_package_is_in_the_wheel(installed: Installed) -> None:
    ours = {
        path.relative_to(PACKAGE.parent).as_posix(): path
        for folder, _, names in os.walk(PACKAGE, followlinks=True)
        for path in (Path(folder) / name for name in names)
        if "__pycache__" not in path.parts
    }
    assert {Path(name).suffix for name in ours} >= {".py", ".cu", ".cuh", ".j2", ".css", ".js", ".yaml", ".typed"}
    with zipfile.ZipFile(installed.wheel) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert packed == set(ours)
        assert all(wheel.read(name) == path.read_bytes() for name, path in ours.items())
    assert installed.wheel.name == f"plenodepth-{__version__}-py3-none-any.whl"


def test_every_module_can_be_imported(installed: Installed, tmp_path: Path) -> None:
    file, count = installed.run("python", "-W", "ignore", "-c", EVERY_MODULE, folder=tmp_path).split()
    assert installed.python.parents[1] in Path(file).parents
    assert int(count) > 400


def test_every_command_has_its_help(installed: Installed, tmp_path: Path) -> None:
    from plenodepth.cli.app import COMMANDS

    assert installed.run("plenodepth", "--version", folder=tmp_path) == f"plenodepth {__version__}\n"
    assert "Exit codes" in installed.run("plenodepth", "--help", folder=tmp_path)
    for words in COMMANDS:
        assert "Usage: plenodepth" in installed.run("plenodepth", *words, "--help", folder=tmp_path)


def test_the_demo_runs_without_a_checkout(installed: Installed, tmp_path: Path) -> None:
    found = json.loads(installed.run("plenodepth", "demo", "--quick", "--json", folder=tmp_path))
    assert found["coarse"]["median_error"] < 0.02
    assert found["coarse"]["good"] > 0.85
    for name in ("demo.png", "coarse/raw.html", "coarse/raw.dense.ply", "refined/raw.ply", "scene/scene.yaml"):
        assert (tmp_path / "demo" / name).stat().st_size > 1000, name


def test_the_doctor_finds_nothing_wrong(installed: Installed, tmp_path: Path) -> None:
    found = json.loads(installed.run("plenodepth", "doctor", "--json", folder=tmp_path))
    assert found["ok"]
    program = next(check["text"] for check in found["checks"] if check["name"] == "program")
    assert str(installed.python.parents[1]) in program


def test_scenes_ship_with_it(installed: Installed, tmp_path: Path) -> None:
    printed = installed.run(
        "plenodepth", "simulate", "scene", "plane", "--camera", "r12-mini", "--rays", "2", "--out", "plane",
        folder=tmp_path,
    )  # fmt: skip
    assert printed.startswith("plane: ")
    shipped = (tmp_path / "plane" / "scene.yaml").read_bytes()
    assert shipped == (ROOT / "examples" / "scenes" / "plane.yaml").read_bytes()
