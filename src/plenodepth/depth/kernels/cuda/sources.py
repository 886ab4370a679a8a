"""The CUDA C++ source of the kernels: constants and structures of the CPU's, then the files of this folder.

Nothing is written down twice: constants come from `kernels.constants`, and the structures that kernels take have the
fields of the tuples that CPU kernels take (`Tiles`, `Views`, …), arrays as pointers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.aperture.resampling import ResamplingTables
from plenodepth.depth.kernels import constants
from plenodepth.depth.maps import MapArrays
from plenodepth.depth.tiles import NoiseGain, Tiles
from plenodepth.depth.views import Views

FOLDER = Path(__file__).parent
FILES = ("cut.cu", "resample.cu", "coarse.cu", "refined.cu", "agreement.cu")
OPTIONS = ("--std=c++17",)
POINTERS = {np.float32: "float*", np.int32: "int*", np.int16: "short*"}
INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.MULTILINE)


class Compared(NamedTuple):
    """Tiles as they are compared: as they were cut, or resampled for each plane of some rows of lenses."""

    gray: NDArray[np.float32]  # (J · side² + padding,), or (lenses of the rows, planes, side²) + padding
    detail: NDArray[np.float32]
    planes: int  # 1: the same tiles for all hypotheses
    first_row: int  # of lenses that the resampled tiles begin with


class Shapes(NamedTuple):
    """Lengths of arrays that the other structures point to."""

    neighbours: int
    types: int  # of lenses
    hypotheses: int
    entries: int  # of a resampling table


STRUCTURES: tuple[type[Any], ...] = (NoiseGain, Tiles, Views, ResamplingTables, Compared, Shapes, MapArrays)
WRITTEN = (MapArrays,)  # the others are only read


def source_of(name: str, *, resampled: bool = False, together: int = 1) -> str:
    """The whole source of a file of `FILES`, to be compiled alone.

    `resampled`: tiles are resampled for each plane; `together`: hypotheses that the refined search takes at a time.
    """
    choices = f"constexpr bool RESAMPLED = {str(resampled).lower()};\nconstexpr int TOGETHER = {together};\n"
    return "\n".join(
        [constant_lines(), choices, *(structure(kind) for kind in STRUCTURES), _with_includes(name, set())]
    )


def _with_includes(name: str, taken: set[str]) -> str:
    """A file's text with what it includes in its place, each once: CuPy's cache of compiled code sees it all."""
    if name in taken:
        return ""
    taken.add(name)
    text = (FOLDER / name).read_text(encoding="utf-8")
    return INCLUDE.sub(lambda found: _with_includes(found[1], taken), text)


def constant_lines() -> str:
    """All numbers of `kernels.constants`; whole ones as int, others as float."""
    numbers = {name: value for name, value in vars(constants).items() if name.isupper()}
    return "\n".join(
        f"constexpr int {name} = {value};"
        if isinstance(value, int)
        else f"constexpr float {name} = {np.float32(value)!s}f;"
        for name, value in numbers.items()
    )


def structure(kind: type[Any]) -> str:
    """The structure of a tuple."""
    fields = "".join(f"  {_field(kind, hint)} {name};\n" for name, hint in get_type_hints(kind).items())
    return f"struct {kind.__name__} {{\n{fields}}};\n"


def _field(kind: type[Any], hint: Any) -> str:
    pointed = _pointed(hint)
    if pointed is not None:
        return POINTERS[pointed] if kind in WRITTEN else f"const {POINTERS[pointed]}"
    if hint in (int, bool):
        return "int"
    return "float" if hint is np.float32 else str(hint.__name__)


def _pointed(hint: Any) -> Any:
    """The type of an array's values; None of what is no array."""
    return next((kind for kind in POINTERS if hint == NDArray[kind]), None)  # type: ignore[valid-type]


def layout(kind: type[Any]) -> np.dtype[Any]:
    """How a structure lies in memory."""
    return np.dtype([(name, _layout_of(hint)) for name, hint in get_type_hints(kind).items()], align=True)


def _layout_of(hint: Any) -> Any:
    if _pointed(hint) is not None:
        return np.uint64
    if hint in (int, bool):
        return np.int32
    return np.float32 if hint is np.float32 else layout(hint)


def packed(values: Any, address: Any) -> NDArray[Any]:
    """A tuple as a kernel takes it, (1,); `address` gives the address on the device of an array of it."""
    out = np.zeros(1, layout(type(values)))
    for name, value in zip(values._fields, values, strict=True):
        is_array = _pointed(get_type_hints(type(values))[name]) is not None
        out[name] = address(value) if is_array else packed(value, address) if isinstance(value, tuple) else value
    return out
