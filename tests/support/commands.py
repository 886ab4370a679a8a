"""What a command did, as a shell sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # some CI systems ask for them
COMPILING = re.compile(r"compiling kernels, once \(about \d+ s\)\n")  # of the first run on a machine
# Of a slow machine, where there is no terminal.
PROGRESS = re.compile(r"[^\n]*\d+ (?:%, [^\n]* so far|of \d+ frames,)[^\n]*\n|looking at what is there: [^\n]*\n")


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What a strict reader of JSON makes of stdout: no NaN, no Infinity."""

        def refuse(constant: str) -> float:
            raise ValueError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def words(self) -> str:
        """Stdout on one line, with single spaces and without the frames of help texts."""
        return " ".join(re.sub("[│╭╮╰╯─]", " ", self.out).split())


Run = Callable[..., Outcome]
Refused = Callable[..., str]
