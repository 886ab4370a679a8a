"""Quantities with units on the command line: 9x5:10mm, 5.5um, 450mm, inf."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.features import Board

COUNTS = re.compile(r"\s*(\d+)\s*[x×X]\s*(\d+)\s*")


def parse_board(text: str) -> Board:
    """`"9x5:10mm"`: inner corners along x and y, and the side of a square."""
    from plenodepth.calib.features import Board

    return Board.from_text(text, field="--board")


def parse_counts(text: str | None, option: str) -> tuple[int | None, int | None]:
    """`"176x152"` → (176, 152)."""
    if text is None:
        return None, None
    match = COUNTS.fullmatch(text)
    if match is None:
        raise InputError(f"is '{text}'", field=option, fix="give columns and rows, as in 176x152")
    return int(match[1]), int(match[2])


def parse_priors(texts: list[str]) -> dict[str, tuple[float, float]]:
    """`"main_lens.focal_length=50+-0.2"` → {name: (50.0, 0.2)}."""
    priors = {}
    for text in texts:
        match = re.fullmatch(r"\s*([\w.]+)\s*=\s*([-+0-9.eE]+?)\s*(?:±|\+-|\+/-)\s*([0-9.eE-]+)\s*", text)
        if match is None:
            raise InputError(f"is '{text}'", field="--prior", fix="give NAME=VALUE±SIGMA, as in F=50±0.2")
        priors[parameter_name(match[1])] = (float(match[2]), float(match[3]))
    return priors


SHORT_NAMES = {
    "F": "main_lens.focal_length",
    "pitch": "micro_lenses.pitch",
    "f": "micro_lenses.focal_lengths",
    "tilt": "micro_lenses.rotation",
    "e": "main_lens.exit_pupil.distance",
    "pupil": "main_lens.exit_pupil",
    "pupil_diameter": "main_lens.exit_pupil.diameter",
    "clear_aperture": "micro_lenses.clear_aperture",
}


def parameter_name(name: str) -> str:
    """The full name of a parameter, or of a group of them, that has a short one."""
    return SHORT_NAMES.get(name, name)
