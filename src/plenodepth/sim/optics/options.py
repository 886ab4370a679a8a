"""The options of real lenses. By default every one is off: thin lenses, as the camera model has them.

docs/real-optics.md has the physics of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from plenodepth.errors import InputError

Triple = tuple[float, float, float]

CHANNELS = "RGB"


@dataclass(frozen=True)
class Stop:
    """A round opening across the optical axis that the light must pass, as the sensor sees it; mm.

    `distance` from the thin main lens towards the sensor (negative: on the scene's side), `offset` (x, y) of its middle
    from the axis.
    """

    distance: float = 0.0
    diameter: float | None = None
    offset: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        _require_finite("distance", self.distance)
        _require_finite("offset", *self.offset)
        if self.diameter is not None and not (math.isfinite(self.diameter) and self.diameter > 0):
            raise InputError(f"is {self.diameter:g}, needs a number > 0", field="diameter", fix="give it in mm")


@dataclass(frozen=True)
class RealOptics:
    """What real lenses and a real sensor do that thin lenses and ideal pixels do not. Everything is off by default."""

    # Takes the place of the camera's own exit pupil. `diameter` holds at the camera's f-number, at another one it is in
    # proportion; None: (F − e)/N.
    exit_pupil: Stop | None = None
    # A second opening, such as the front rim: the stop becomes a cat's eye off the axis. Its diameter is fixed.
    rim: Stop | None = None
    # mm, of the main lens' curved image; > 0: it bends towards the lens. None: it is flat.
    field_radius: float | None = None
    # Relative change of the focal length in red, green and blue.
    main_lens_color: Triple = (0.0, 0.0, 0.0)
    micro_lens_color: Triple = (0.0, 0.0, 0.0)
    # Diameter of a micro-lens as a part of the pitch, and how far its corners reach, as a part of its radius. With 1 it
    # is a disc; beyond, the cell of the array (hexagon or square) with its corners cut by a circle.
    clear_aperture: float = 1.0
    corner_reach: float = 1.0
    # Relative change of a micro-lens' focal length from its middle to half a pitch; > 0: the rim bends more.
    spherical_aberration: float = 0.0
    # nm, of the light that micro-lenses diffract. None: no diffraction.
    wavelength: float | None = None
    # Walls between the micro-lenses: each micro-image ends half a pitch from its centre.
    mask: bool = False
    # Part of a pixel's signal that goes to its four neighbours, together.
    crosstalk: float = 0.0
    # Degrees from the sensor's normal at which a pixel answers half as well. None: it answers to all light alike.
    half_angle: float | None = None

    def __post_init__(self) -> None:
        if self.rim is not None and self.rim.diameter is None:
            raise InputError("is missing", field="rim.diameter", fix="give it in mm")
        if self.field_radius is not None and not (math.isfinite(self.field_radius) and self.field_radius != 0):
            raise InputError(f"is {self.field_radius:g}, needs a number other than 0", field="field_radius")
        for name in ("main_lens_color", "micro_lens_color"):
            _require_within(name, -0.2, 0.2, *getattr(self, name))
        _require_within("spherical_aberration", -0.5, 0.5, self.spherical_aberration)
        _require_within("clear_aperture", 0.05, 1.0, self.clear_aperture)
        _require_within("corner_reach", 1.0, 2.0, self.corner_reach)
        _require_within("crosstalk", 0.0, 0.5, self.crosstalk)
        if self.wavelength is not None:
            _require_within("wavelength", 100.0, 20_000.0, self.wavelength)
        if self.half_angle is not None:
            _require_within("half_angle", 1.0, 89.0, self.half_angle)

    @property
    def bends_colors(self) -> bool:
        """Whether a colour has focal lengths of its own."""
        return any(self.main_lens_color) or any(self.micro_lens_color)

    def only(self, *names: str) -> RealOptics:
        """These options alone, all others off: to see what one effect does."""
        return RealOptics(**{name: getattr(self, name) for name in names})

    @property
    def used(self) -> tuple[str, ...]:
        """The names of the options that are on."""
        ideal = RealOptics()
        return tuple(part.name for part in fields(self) if getattr(self, part.name) != getattr(ideal, part.name))


def _require_finite(name: str, *values: float) -> None:
    for value in values:
        if not math.isfinite(value):
            raise InputError(f"is {value}, needs a finite number", field=name)


def _require_within(name: str, low: float, high: float, *values: float) -> None:
    for value in values:
        if not low <= value <= high:
            raise InputError(f"is {value:g}", field=name, fix=f"give a number from {low:g} to {high:g}")
