"""Compiled kernels are kept on disk, and never run with constants of yesterday."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from numba.core.caching import CompileResultCacheImpl

import plenodepth
from plenodepth.compiling import imported_sources, kernel_cache

PACKAGE = Path(plenodepth.__file__).parent
CONSTANTS = Path("depth/kernels/constants.py")
# Whether two depths 2 % apart are the same: 1 if `AGREEMENT` allows as much.
RUN_A_KERNEL = """
from typing import NamedTuple
import numpy as np
from plenodepth.depth.kernels.cpu.agreement import coarse_agreement

class Views(NamedTuple):
    columns: int
    rows: int
    by_column: bool
    step_k: np.ndarray
    step_l: np.ndarray

beside = np.array([[1], [1]], np.int32)
confidence = np.ones((1, 2), np.float32)
coarse_agreement(0, 1, Views(2, 1, False, beside, 0 * beside), 1, np.array([[5, 5.1]], np.float32), confidence)
print(int(confidence[0, 0] > 0))
"""


def test_a_changed_constant_takes_effect_though_the_kernels_file_is_the_same(tmp_path: Path) -> None:
    package, cache = tmp_path / "plenodepth", tmp_path / "cache"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}

    def result() -> int:
        done = subprocess.run(
            [sys.executable, "-c", RUN_A_KERNEL], env=environment, cwd=tmp_path, check=True, capture_output=True
        )
        return int(done.stdout)

    assert result() == 1
    before = set(cache.iterdir())
    constants = package / CONSTANTS
    text = constants.read_text(encoding="utf-8")
    assert "AGREEMENT = 0.05" in text
    constants.write_text(text.replace("AGREEMENT = 0.05", "AGREEMENT = 0.01"), encoding="utf-8")
    assert result() == 0
    assert set(cache.iterdir()) > before


def test_every_kernel_of_the_matching_depends_on_its_constants() -> None:
    for path in (PACKAGE / "depth/kernels/cpu").glob("[a-z]*.py"):
        assert PACKAGE / CONSTANTS in imported_sources(path), path.name


KERNEL = """
from plenodepth.compiling import compiled

@compiled
def doubled(x):
    return x + x
"""
COMPILE_IT = """
import sys, time
from numba.core.caching import IndexDataCacheFile

save = IndexDataCacheFile._save_index
def slowly(self, overloads):
    time.sleep(1)  # between reading the list of what is kept and writing it
    save(self, overloads)

IndexDataCacheFile._save_index = slowly
from kernel import doubled
doubled(eval(sys.argv[1]))
"""


def test_processes_that_compile_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    values = ("1", "1.0", "1j")
    running = [subprocess.Popen([sys.executable, "-c", COMPILE_IT, value], env=environment) for value in values]
    assert [process.wait() for process in running] == [0, 0, 0]
    (index,) = (tmp_path / "cache").glob("*/*/kernel.doubled-*.nbi")
    with index.open("rb") as file:
        pickle.load(file)  # Numba's version
        _, kept = pickle.loads(file.read())
    assert len(set(kept.values())) == len(values)
    assert all((index.parent / name).is_file() for name in kept.values())


def test_kernels_that_two_threads_load_are_kept_in_their_own_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = CompileResultCacheImpl.__init__

    def slowly(self: CompileResultCacheImpl, function: object) -> None:
        time.sleep(0.05)  # between naming the folder and reading the name
        read(self, function)

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(CompileResultCacheImpl, "__init__", slowly)
    modules = []
    for number in range(6):
        name = f"kernel_{tmp_path.name}_{number}"
        (tmp_path / f"{name}.py").write_text(f"# {number}{KERNEL}", encoding="utf-8")
        modules.append(name)
    monkeypatch.syspath_prepend(tmp_path)
    with ThreadPoolExecutor(len(modules)) as pool:
        loaded = list(pool.map(import_module, modules))
    for module in loaded:
        assert Path(module.doubled._cache.cache_path).is_relative_to(kernel_cache(Path(module.__file__)))
