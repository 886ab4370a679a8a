"""``plenodepth demo``: the whole chain on a simulated scene."""

from __future__ import annotations

import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.shared.common import JsonOption, print_json
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.progress import row_progress, step_progress
from plenodepth.io import require_writable

if TYPE_CHECKING:
    from plenodepth.studies.demo import DemoResult

VIEWER = "viser"  # the package behind `plenodepth view`


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")] = Path("demo"),
    quick: Annotated[bool, typer.Option("--quick", help="A small sensor: seconds instead of a minute.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate a scene through an R12 camera, estimate its depth, compare it with the truth. Needs no files.

    Example: [bold]plenodepth demo --out demo[/bold]
    """
    from plenodepth.io.figures import write_figure
    from plenodepth.studies.demo import run_demo
    from plenodepth.view.figures.demo import demo_figure
    from plenodepth.view.reports import write_depth_report

    require_writable(out)
    began = time.perf_counter()

    def say(what: str, line: str) -> None:
        if not as_json:
            print(f"{what:12s} {line}", flush=True)

    with row_progress("", quiet=as_json) as bar, compiling_notice(bar.note, refined=True):
        result = run_demo(out, quick=quick, progress=step_progress(bar), say=say)
        bar.describe("pictures")
        write_figure(demo_figure(result), out / "demo.png", dpi=120)
        write_depth_report(result.coarse, out / "coarse" / "raw.html")
    if as_json:
        print_json(_content(result, out, time.perf_counter() - began))
        return
    say("dense", f"{out}/coarse/raw.view.png and raw.dense.ply: the picture, with a depth for every pixel")
    say("picture", f"{out}/demo.png: the raw image, the scene put together from it, and depth beside the truth")
    say("page", f"{out}/coarse/raw.html: open it in a browser; the scene can be turned")
    missing = "" if find_spec(VIEWER) else "  (after: pip install 'plenodepth[view]')"
    images = f"--raw {out}/scene/raw.png --white {out}/white/raw.png"  # what shows costs and neighbours of a point
    say("look around", f"plenodepth view {out}/coarse --camera {out}/scene/camera.yaml {images} --open{missing}")
    print(f"{time.perf_counter() - began:.0f} s in all")


def _content(result: DemoResult, out: Path, seconds: float) -> dict[str, object]:
    from plenodepth.studies.demo import agreement

    found = {"coarse": result.coarse, "refined": result.refined}
    return {
        "out": str(out),
        "rays": result.frame.info.rays,
        **{name: asdict(agreement(depth, result.frame)) for name, depth in found.items()},
        "pictures": [str(out / "demo.png"), str(out / "coarse" / "raw.html")],
        "seconds": round(seconds, 1),
    }
