"""The CUDA sources: complete, with the CPU's numbers and structures, and accepted by NVIDIA's compiler."""

import ctypes
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from plenodepth.depth.kernels import constants
from plenodepth.depth.kernels.cuda.plan import PAIR_BYTES, PIXELS_OF_THREAD
from plenodepth.depth.kernels.cuda.sources import FILES, FOLDER, OPTIONS, STRUCTURES, layout, source_of
from plenodepth.depth.tiles import Tiles


def test_all_constants_are_in_the_source() -> None:
    found = dict(re.findall(r"constexpr (?:int|float) (\w+) = ([^;]+);", source_of("cut.cu")))
    numbers = {name: value for name, value in vars(constants).items() if name.isupper()}
    assert found.keys() - {"TOGETHER"} == numbers.keys()
    for name, value in numbers.items():
        assert np.float32(found[name].rstrip("f")) == np.float32(value)


def test_includes_are_in_place_once() -> None:
    text = source_of("refined.cu")
    assert "#include" not in text
    assert text.count("struct Pair {") + text.count("struct __align__(16) Pair {") == 1


def test_structures_lie_in_memory_as_in_c() -> None:
    assert layout(Tiles).fields["gray"][1] == 8  # type: ignore[index]  # a pointer after an int
    assert all(layout(kind).itemsize % layout(kind).alignment == 0 for kind in STRUCTURES)


def test_numbers_that_the_host_knows_of_kernels() -> None:
    assert f"constexpr int PIXELS = {PIXELS_OF_THREAD};" in (FOLDER / "refined.cu").read_text()
    words = re.search(r"struct __align__\(16\) Pair \{(.*?)\n\};", (FOLDER / "pairs.cuh").read_text(), re.DOTALL)
    assert words
    fields = re.findall(r"^  (?:int|float) ([\w, ]+);", words[1], re.MULTILINE)
    assert 4 * sum(len(field.split(",")) for field in fields) == PAIR_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("resampled", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_nvidias_compiler_accepts(name: str, resampled: bool) -> None:
    library = nvrtc()
    if library is None:
        pytest.skip("no NVRTC: pip install nvidia-cuda-nvrtc")
    status, log = compiled(library, source_of(name, resampled=resampled, together=2))
    assert status == 0, log


def nvrtc() -> ctypes.CDLL | None:
    """The library of NVIDIA's wheel; it needs no GPU."""
    package = find_spec("nvidia")
    folders = [] if package is None else [Path(place) for place in package.submodule_search_locations or []]
    found = [path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*") if "builtins" not in path.name]
    return ctypes.CDLL(str(min(found, key=lambda path: len(path.name)))) if found else None


def compiled(library: ctypes.CDLL, code: str) -> tuple[int, str]:
    """Status and messages of the compiler."""
    program, options = ctypes.c_void_p(), [option.encode() for option in (*OPTIONS, "--gpu-architecture=compute_75")]
    library.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernel.cu", 0, None, None)
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return int(status), log.value.decode()
