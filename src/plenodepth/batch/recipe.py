"""What every frame of a batch is made with: camera, settings and files, sent to each worker once."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from plenodepth.batch.frames import BatchFrame
from plenodepth.cache import cache_key, source_hash
from plenodepth.camera import GridCamera, PlenopticCamera
from plenodepth.depth.device import Device
from plenodepth.depth.settings_file import SettingsFile
from plenodepth.metric.result import Output
from plenodepth.version import __version__

# The rooms that make a frame's results; none of them may import another one.
ROOMS = ("geometry", "io", "camera", "raw", "depth", "metric")
LAYOUT = 1  # of a frame's folder


@dataclass(frozen=True)
class Recipe:
    """How a frame is read, cleaned and estimated, and what is written."""

    camera: PlenopticCamera | GridCamera
    outputs: tuple[Output, ...]
    settings: SettingsFile = field(default_factory=SettingsFile)
    white: tuple[Path, ...] = ()
    dark: Path | None = None
    cleaning: dict[str, Any] = field(default_factory=dict)  # further keywords of `load_raw`
    camera_note: str = ""  # what is to be said about the camera with each frame
    size: tuple[int, int] | None = None  # of YUV files whose name does not tell it
    bits: int | None = None
    device: Device = "auto"
    report: bool = False  # a page for each frame
    threads: int = 1  # of one frame; changes no byte

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that every frame needs."""
        return (*self.white, *((self.dark,) if self.dark else ()))

    def key(self) -> str:
        """A hash of everything that the results depend on, but for the frame: settings, camera, files and sources."""
        values = {
            "layout": LAYOUT,
            "recipe": replace(self, white=(), dark=None, threads=1),
            "whites": len(self.white),
        }
        return cache_key(values, self.files, rooms=(*ROOMS, *(["view"] if self.report else [])))

    def moved(self, places: dict[Path, Path]) -> Recipe:
        """The recipe with its files elsewhere."""
        white = tuple(places.get(path, path) for path in self.white)
        return replace(self, white=white, dark=self.dark and places.get(self.dark, self.dark))


def frame_key(recipe_key: str, frame: BatchFrame, content: str) -> str:
    """The key of one frame, whose file has this hash of its content."""
    parts = [recipe_key, content, frame.number, frame.name.rsplit("/", 1)[-1]]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


@cache
def program() -> dict[str, str]:
    """The versions of what makes the results; `sources` is a hash of this package's own."""
    return {
        "plenodepth": __version__,
        "sources": source_hash(*ROOMS),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def unlike(worker: dict[str, str], own: dict[str, str]) -> str:
    """What a worker's program has that ours has not, in words; empty if it makes the same results."""
    for name in ("plenodepth", "sources", "numpy", "numba"):
        if worker.get(name) != own[name]:
            if name == "sources":
                return f"plenodepth {worker.get('plenodepth')} of other sources"
            return f"{name} {worker.get(name)}, not {own[name]}"
    return ""
