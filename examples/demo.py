"""The whole chain on a simulated scene, as `plenodepth demo` runs it: simulate, estimate, compare with the truth.

python examples/demo.py OUT
"""

from __future__ import annotations

import sys
from pathlib import Path

from plenodepth.studies.demo import run_demo
from plenodepth.view.figures import write_figure
from plenodepth.view.figures.demo import demo_figure


def main(out: Path, *, quick: bool = False) -> None:
    """Make the folder `out` and print what came out."""
    result = run_demo(out, quick=quick, say=lambda what, line: print(f"{what:12s} {line}", flush=True))
    write_figure(demo_figure(result), out / "demo.png", dpi=120)
    print(f"picture      {out}/demo.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
