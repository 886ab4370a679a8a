"""What can be chosen about the dense central view."""

from __future__ import annotations

from dataclasses import dataclass

from plenodepth.errors import InputError


@dataclass(frozen=True)
class DenseSettings:
    """Whether there is a dense central view, and how it is made. Lengths in its own pixels."""

    enabled: bool = False
    scale: int = 4  # side of one of its pixels, in pixels of the sensor
    hypotheses: int = 36  # evenly spaced in 1/v
    smoothness: float = 1.0  # times the penalties of a step in depth; 0: each pixel chooses by itself
    surface: int = 10  # px to each side over which depths of one surface are averaged
    fill: float = 12.0  # px: farther from what has texture nothing is filled

    def __post_init__(self) -> None:
        checks = {
            "scale": 1 <= self.scale <= 32,
            "hypotheses": self.hypotheses >= 6,
            "smoothness": 0 <= self.smoothness <= 100,
            "surface": 0 <= self.surface <= 100,
            "fill": self.fill >= 0,
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(f"cannot be {getattr(self, name)}", field=f"dense.{name}")
