"""The machine: Python, cores, memory, GPU, and the folders that are written to."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from plenodepth.cli.doctor.findings import Finding
from plenodepth.compiling import PACKAGE, cache_folder, kernel_cache
from plenodepth.threads import thread_count
from plenodepth.version import __version__

LEAST_MEMORY = 2.0  # GB: a frame of 12 megapixels takes 0.8 to 1.2
LEAST_SPACE = 1.0  # GB
GIGA, MEGA = 1e9, 1e6


def machine_findings() -> list[Finding]:
    """All about the machine."""
    return [_program(), _cores(), *_memory(), _gpu(), *_caches(), _temporary()]


def _program() -> Finding:
    where = f"plenodepth {__version__} in {PACKAGE}"
    return Finding(
        "program", "ok", f"{where}; Python {platform.python_version()} ({sys.executable}); {platform.platform()}"
    )


def _cores() -> Finding:
    cores, used = os.cpu_count() or 1, thread_count()
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    if allowed < used:
        return Finding("threads", "note", f"{used}, but this process may use {allowed} cores", f"--threads {allowed}")
    return Finding("threads", "ok", f"{used} by default, on {cores} cores")


def _memory() -> list[Finding]:
    """What /proc/meminfo says; nothing where there is none."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        total, free = (int(lines[name].split()[0]) * 1024 / GIGA for name in ("MemTotal", "MemAvailable"))
    except (OSError, ValueError, KeyError):
        return []
    text = f"{free:.1f} of {total:.1f} GB free"
    if free < LEAST_MEMORY:
        return [Finding("memory", "note", f"{text}: large frames need more", "end other programs, or crop the frames")]
    return [Finding("memory", "ok", text)]


def _gpu() -> Finding:
    from plenodepth.depth.kernels.cuda.device import free_bytes, gpu, gpu_problem

    problem = gpu_problem()
    if problem is not None:
        return Finding("GPU", "note", f"not used: {problem.message}", problem.fix or "")
    return Finding("GPU", "ok", f"{gpu().name}, {free_bytes() / GIGA:.1f} GB free")


def _caches() -> list[Finding]:
    """Where compiled kernels are kept, how much that is, and whether more can be."""
    base = cache_folder()
    kept = {folder: _size(folder) for folder in base.glob("kernels-*")} if base.is_dir() else {}
    current = {kernel_cache(path) for path in PACKAGE.rglob("*.py") if "kernels" in path.parts}
    old = sum(size for folder, size in kept.items() if str(folder) not in current)
    text = f"compiled kernels in {base}: {sum(kept.values()) / MEGA:.0f} MB"
    if old > 0:
        text += f", {old / MEGA:.0f} MB of them by earlier versions"
    problem = _write_problem(base)
    if problem:
        fix = "make the folder writable, or name another one with the variable NUMBA_CACHE_DIR"
        return [Finding("cache", "failed", f"{text}; {problem}: every run compiles anew", fix)]
    fix = "plenodepth warm-up compiles them" if not kept else "it may be deleted; kernels are compiled anew"
    return [Finding("cache", "ok" if kept else "note", f"{text}, writable", fix if old > 0 or not kept else "")]


def _temporary() -> Finding:
    folder = Path(tempfile.gettempdir())
    problem = _write_problem(folder)
    if problem:
        return Finding("temporary files", "failed", f"{folder}: {problem}", "name another folder with TMPDIR")
    free = shutil.disk_usage(folder).free / GIGA
    if free < LEAST_SPACE:
        return Finding("temporary files", "note", f"{folder}: {free:.1f} GB free", "make room, or set TMPDIR")
    return Finding("temporary files", "ok", f"{folder}: {free:.0f} GB free")


def _size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _write_problem(folder: Path) -> str:
    """Why no file can be written into a folder, which is made if need be; empty where one can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return (error.strerror or str(error)).lower()
