"""Damaged files: every reader reads or refuses them, and the driver that says so tells when one does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import fuzz_readers
import pytest
from fuzz_mutations import mutated, png_packed, png_unpacked
from fuzz_readers import READERS

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


def fuzz(tmp_path: Path, *options: object) -> tuple[int, str]:
    command = [sys.executable, ROOT / "benchmarks" / "fuzz.py", "--keep", tmp_path / "kept", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_every_reader_takes_some_damaged_files(tmp_path: Path) -> None:
    code, shown = fuzz(tmp_path, "--count", 15)
    assert code == 0, shown
    assert f"{15 * len(READERS)} inputs for {len(READERS)} readers, 0 failures" in shown


@pytest.mark.slow
def test_every_reader_takes_many_damaged_files(tmp_path: Path) -> None:
    code, shown = fuzz(tmp_path, "--count", 800, "--seed", 2)
    assert code == 0, shown


FAULTS = f"""
import ctypes
sys.path.insert(0, {str(ROOT / "tests" / "support")!r})
from fuzz_readers import READERS, Reader, text
from plenodepth.errors import InputError


def good(path):
    return path.read_bytes() == b"1 2 3"


def crash(path):
    good(path) or ctypes.string_at(0)


def slow(path):
    while not good(path):
        pass


def hungry(path):
    try:
        good(path) or bytearray(2 << 30)
    except MemoryError as error:
        raise InputError("is too large") from error


def fails(path):
    {{True: 0}}[good(path)]


READERS.update({{one.__name__: Reader("a.txt", text("1 2 3"), one) for one in (crash, slow, hungry, fails)}})
"""


@pytest.mark.slow
def test_faults_are_found(tmp_path: Path) -> None:
    """Readers with a fault each: the driver, with these added, tells them."""
    head, main = (ROOT / "benchmarks" / "fuzz.py").read_text(encoding="utf-8").split('if __name__ == "__main__":')
    script = tmp_path / "fuzz.py"  # its worker is the same file, so that it has the readers, too
    script.write_text(f'{head}\n{FAULTS}\nif __name__ == "__main__":{main}', encoding="utf-8")
    command = [sys.executable, script, "--count", "2", "--keep", tmp_path / "kept", "--readers"]
    text = subprocess.run([*command, "crash", "slow", "hungry", "fails"], capture_output=True, text=True, check=False)
    assert text.returncode == 1, text.stderr
    assert "the worker ended with -11" in text.stdout
    assert "s of CPU time" in text.stdout
    assert "more than 1 GB" in text.stdout
    assert "KeyError" in text.stdout
    assert list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("name", READERS)
def test_the_good_file_of_every_reader_is_read(tmp_path: Path, name: str) -> None:
    reader = READERS[name]
    reader.make(tmp_path / reader.file)
    path = tmp_path / reader.file
    path.write_bytes(reader.wrap(path.read_bytes()))
    reader.read(path)


def test_the_same_seed_makes_the_same_files(tmp_path: Path) -> None:
    good = bytes(range(256)) * 3
    assert [mutated(good, Random(n)) for n in range(50)] == [mutated(good, Random(n)) for n in range(50)]
    assert len({mutated(good, Random(n)) for n in range(50)}) > 40


def test_a_png_is_unpacked_and_packed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    fuzz_readers.png(fuzz_readers.GRAY, path)
    inside = path.read_bytes()
    assert png_unpacked(png_packed(inside)) == inside
