"""Whether there is a GPU that can be used, and what it offers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

from plenodepth.errors import InputError

FIELD = "device"
INSTALL = "pip install 'plenodepth[cuda13]', or [cuda12] for an older driver; or use device cpu"
LEAST_ARCHITECTURE = 60  # compute capability 6.0


@dataclass(frozen=True)
class Gpu:
    """What a launch depends on."""

    name: str
    multiprocessors: int
    shared_of_block: int  # bytes, at most
    shared_of_multiprocessor: int


@cache
def cupy() -> Any:
    """CuPy, imported at first use; an `InputError` where it or a GPU is missing."""
    problem = gpu_problem()
    if problem is not None:
        raise problem
    import cupy

    return cupy


@cache
def gpu_problem() -> InputError | None:
    """What keeps the GPU from being used; None where nothing does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of several CuPys, or of an old NumPy
            import cupy
    except ImportError:
        return InputError("CuPy is not installed", field=FIELD, fix=INSTALL)
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        capability = int(cupy.cuda.Device().compute_capability) if count else 0
    except Exception as error:  # CuPy's own classes; a broken installation may raise anything
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "InsufficientDriver" in text:
            return InputError(
                "the NVIDIA driver is missing, or too old for this CuPy", field=FIELD, fix=f"update it, or {INSTALL}"
            )
        return InputError(f"no GPU can be used: {text}", field=FIELD, fix="use device cpu")
    if not count:
        return InputError("there is no NVIDIA GPU", field=FIELD, fix="use device cpu")
    if capability < LEAST_ARCHITECTURE:
        return InputError(
            f"the GPU is too old: compute capability {capability / 10}", field=FIELD, fix="use device cpu"
        )
    return None


@cache
def gpu() -> Gpu:
    """The current GPU."""
    runtime, number = cupy().cuda.runtime, cupy().cuda.Device().id
    wanted = "MultiProcessorCount", "MaxSharedMemoryPerBlockOptin", "MaxSharedMemoryPerMultiprocessor"
    numbers = (int(runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), number)) for name in wanted)
    return Gpu(runtime.getDeviceProperties(number)["name"].decode(), *numbers)


def free_bytes() -> int:
    """Device memory that an allocation may take: what is free, and what CuPy keeps for later."""
    return int(cupy().cuda.runtime.memGetInfo()[0]) + int(cupy().get_default_memory_pool().free_bytes())
