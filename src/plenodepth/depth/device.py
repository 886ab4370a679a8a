"""Where depth is searched: on the CPU, or on a GPU of NVIDIA's."""

from __future__ import annotations

from typing import Literal, get_args

from plenodepth.depth.kernels.cuda.device import gpu_problem
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError

Device = Literal["auto", "cpu", "cuda"]
UsedDevice = Literal["cpu", "cuda"]


def chosen_device(wanted: Device, settings: DepthSettings | None = None) -> UsedDevice:
    """The device that a search runs on: for auto the GPU where there is one that can do what the settings ask for."""
    if wanted not in get_args(Device):
        raise InputError(f"is {wanted!r}", field="device", fix="use auto, cpu or cuda")
    if wanted == "cpu":
        return "cpu"
    problem = _only_for_cpu(settings or DepthSettings()) or gpu_problem()
    if problem is None:
        return "cuda"
    if wanted == "cuda":
        raise problem
    return "cpu"


def _only_for_cpu(settings: DepthSettings) -> InputError | None:
    """What of the settings the GPU cannot do."""
    if settings.kernel != "cpu":
        return InputError(f"the kernel {settings.kernel} is for the CPU only", field="device", fix="use device cpu")
    if settings.search != "sweep":
        return InputError(f"the search {settings.search} is for the CPU only", field="device", fix="use device cpu")
    return None
