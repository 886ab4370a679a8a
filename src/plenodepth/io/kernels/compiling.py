"""The decorators of this room's kernels."""

from __future__ import annotations

from pathlib import Path

from plenodepth.compiling import compilers

compiled, inlined = compilers(Path(__file__).parent)
