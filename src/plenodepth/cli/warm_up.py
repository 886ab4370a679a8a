"""``plenodepth warm-up``: compile what `depth` needs, ahead of the first frame."""

from __future__ import annotations

import time

from rich.console import Console

from plenodepth.cli.shared.common import JsonOption, console, print_json


def warm_up(as_json: JsonOption = False) -> None:
    """Compile the kernels of [bold]plenodepth depth[/bold] and keep them on disk: the first frame need not wait.

    Example: [bold]plenodepth warm-up[/bold]
    """
    from plenodepth.compiling import watched_compilation
    from plenodepth.metric.warm_up import seconds_to_compile
    from plenodepth.metric.warm_up import warm_up as compile_kernels

    shown, compiled = Console(quiet=True) if as_json else console(), list[str]()
    expected = seconds_to_compile(refined=True)
    shown.print(f"compiling kernels, once (about {expected} s)" if expected else "kernels are there; a check")
    start = time.process_time()
    with watched_compilation(lambda function: compiled.append(function.__name__)):
        compile_kernels(lambda what: shown.print(f"  {what}"))
    taken = time.process_time() - start
    if as_json:
        print_json({"compiled": compiled, "cpu_seconds": round(taken, 1)})
        return
    what = f"{len(compiled)} functions compiled" if compiled else "nothing had to be compiled"
    shown.print(f"{what}, {taken:.1f} CPU-seconds")
