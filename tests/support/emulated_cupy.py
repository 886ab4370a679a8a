"""As much of CuPy as the CUDA backend uses, on the CPU: kernels are compiled by g++ and run by `emulated_cuda.h`.

So the kernels and what launches them are tested where there is no GPU. Memory is poisoned before it is written.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from plenodepth.depth.kernels.cuda import device, plan, search

HEADER = Path(__file__).with_name("emulated_cuda.h")
KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\(\d+\)\s+)?(\w+)\(')
DYNAMIC_SHARED = re.compile(r"extern __shared__ (?:__align__\(16\) )?([\w ]+?) (\w+)\[\];")


class Array(np.ndarray):
    """An array 'on the device'."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        def memset(value: int, count: int) -> None:
            ctypes.memset(self.ctypes.data, value, count)

        def copy(other: Any, count: int) -> None:
            ctypes.memmove(self.ctypes.data, other.ptr, count)

        return SimpleNamespace(ptr=self.ctypes.data, memset_async=memset, copy_from_device_async=copy)


def empty(shape: Any, dtype: Any) -> Array:
    made = np.empty(shape, dtype)
    made.view(np.uint8).fill(0xFF)  # NaN
    return made.view(Array)


def built(code: str) -> ctypes.CDLL:
    """The kernels of a source, compiled by g++ once."""
    source = DYNAMIC_SHARED.sub(r"\1* \2 = reinterpret_cast<\1*>(emulated::shared);", code)
    launchers = "".join(
        f'extern "C" int emulate_{name}(unsigned blocks, unsigned threads, size_t shared, void** arguments, int back) '
        f"{{ return emulated::launch({name}, blocks, threads, shared, arguments, back); }}\n"
        for name in KERNEL.findall(code)
    )
    text = HEADER.read_text() + source + launchers
    folder = Path(tempfile.gettempdir()) / "plenodepth-emulated-cuda"
    folder.mkdir(exist_ok=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    library = folder / f"{name}.so"
    if not library.exists():
        (folder / f"{name}.cpp").write_text(text)
        options = ["-std=c++17", "-O2", "-ffp-contract=fast", "-march=native", "-fPIC", "-shared", "-w"]
        subprocess.run(["g++", *options, "-o", str(library), str(folder / f"{name}.cpp")], check=True)
    return ctypes.CDLL(str(library))


class RawModule:
    """Kernels of a source; `backwards` blocks and threads take their turns in the opposite order."""

    backwards = False

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        self.library = built(code)

    def get_function(self, name: str) -> Any:
        return _Kernel(getattr(self.library, f"emulate_{name}"))


class _Kernel:
    num_regs = 64
    max_dynamic_shared_size_bytes = 48 * 1024

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, grid: Any, block: Any, arguments: Any, *, shared_mem: int) -> None:
        kept, places = [], (ctypes.c_void_p * len(arguments))()
        for n, value in enumerate(arguments):
            held = np.array([value.ctypes.data], np.uint64) if isinstance(value, Array) else np.atleast_1d(value)
            kept.append(held)
            places[n] = held.ctypes.data
        back = int(RawModule.backwards)
        if self.function(grid[0], block[0], ctypes.c_size_t(shared_mem), places, back):
            raise AssertionError("a block wrote beyond its shared memory")


def emulated(free: int = 8_000_000_000) -> ModuleType:
    """A module that stands for CuPy, on a device with so many bytes of memory free."""
    module = ModuleType("cupy")
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1,
        memGetInfo=lambda: (free, free),
        getDeviceProperties=lambda number: {"name": b"emulated"},
        deviceGetAttribute=lambda value, number: value,
        cudaDevAttrMultiProcessorCount=2,
        cudaDevAttrMaxSharedMemoryPerBlockOptin=232448,
        cudaDevAttrMaxSharedMemoryPerMultiprocessor=233472,
    )
    module.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        runtime=runtime,
        memory=SimpleNamespace(OutOfMemoryError=MemoryError),
        Device=lambda: SimpleNamespace(id=0, compute_capability="90"),
    )
    for name, value in {
        "ndarray": Array,
        "RawModule": RawModule,
        "empty": empty,
        "zeros": lambda shape, dtype: np.zeros(shape, dtype).view(Array),
        "asarray": lambda values: np.array(values, order="C").view(Array),
        "asnumpy": lambda values: np.array(values).view(np.ndarray),
        "get_default_memory_pool": lambda: SimpleNamespace(free_bytes=lambda: 0),
    }.items():
        setattr(module, name, value)
    return module


@contextmanager
def emulated_cupy(free: int = 8_000_000_000, *, backwards: bool = False) -> Iterator[None]:
    """Inside the block the CUDA backend runs on the CPU."""
    before = sys.modules.get("cupy")
    _forget()
    sys.modules["cupy"] = emulated(free)
    RawModule.backwards = backwards
    try:
        yield
    finally:
        RawModule.backwards = False
        del sys.modules["cupy"]
        if before is not None:
            sys.modules["cupy"] = before
        _forget()


def _forget() -> None:
    for kept in (device.cupy, device.gpu_problem, device.gpu, search.kernel, search._module):
        kept.cache_clear()
    plan.PLANS.clear()
