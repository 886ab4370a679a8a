"""``plenodepth doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from plenodepth.cli.doctor.findings import Finding
from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.cli.shared.compiling_notice import compiling_notice
from plenodepth.cli.shared.progress import row_progress

FAILED = 1  # exit code
SIGNS = {"ok": ("ok", "green"), "note": ("note", "yellow"), "failed": ("FAILED", "bold red")}
WIDTH, NAMES = 8, 18  # columns of the signs, and of the names


def doctor(
    test: Annotated[
        bool, typer.Option("--self-test/--no-self-test", help="Simulate a small frame and estimate its depth.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Check the installation: versions, threads, GPU, caches, extras, and a self-test from raw image to depth.

    Exit code 0: it works; 1: something does not, and what to do about it.

    Example: [bold]plenodepth doctor[/bold]
    """
    from plenodepth.cli.doctor.machine import machine_findings
    from plenodepth.cli.doctor.packages import package_findings

    found = list[Finding]()
    for findings in (machine_findings, package_findings, *([_self_test] if test else [])):
        label = "self-test" if findings is _self_test else ""
        with row_progress(label, quiet=as_json) as bar, compiling_notice(bar.note, refined=False):
            new = findings()
        found += new
        if not as_json:
            _print(new)
    failed = [finding for finding in found if finding.state == "failed"]
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in found]})
    else:
        failures = "1 check" if len(failed) == 1 else f"{len(failed)} checks"
        console().print(f"{failures} failed" if failed else "all is well")
    if failed:
        raise typer.Exit(FAILED)


def _self_test() -> list[Finding]:
    """The chain on the CPU, and on the GPU if there is one."""
    from plenodepth.depth.kernels.cuda.device import gpu_problem
    from plenodepth.studies.self_test import DISTANCE, MOST_ERROR, self_test

    found = list[Finding]()
    for device in ("cpu", "cuda") if gpu_problem() is None else ("cpu",):
        try:
            result = self_test("cuda" if device == "cuda" else "cpu")
        except Exception as error:  # whatever it is, the other findings are worth more than a traceback
            fix = "install plenodepth anew; --debug prints more of depth's errors"
            found.append(Finding(f"self-test {device}", "failed", f"{type(error).__name__}: {error}", fix))
            continue
        text = (
            f"a wall at {DISTANCE:.0f} mm is found {100 * result.median_error:.2f} % off, in the dense view "
            f"{100 * result.dense_error:.2f} % ({100 * MOST_ERROR:.0f} % would do), in {result.seconds:.1f} s"
            + (f", compiling {result.compiled} functions" if result.compiled else "")
        )
        if result.passed:
            found.append(Finding(f"self-test {device}", "ok", text))
        else:
            fix = "reinstall the packages in their tested versions (constraints.txt); report it with this output"
            found.append(Finding(f"self-test {device}", "failed", text, fix))
    return found


def _print(findings: Sequence[Finding]) -> None:
    for finding in findings:
        word, style = SIGNS[finding.state]
        line = Text.assemble((f"{word:{WIDTH}}", style), (f"{finding.name:{NAMES}}", "bold"), finding.text)
        console().print(line, soft_wrap=True)
        if finding.fix:
            console().print(f"{'':{WIDTH + NAMES}}→ {finding.fix}", soft_wrap=True)
