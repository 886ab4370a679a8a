"""Plausible real lenses by name: those of the paper's camera, a Raytrix R12 with a 50 mm lens for SLR cameras."""

from __future__ import annotations

from plenodepth.errors import InputError
from plenodepth.sim.optics.options import RealOptics, Stop

# docs/real-optics.md says where each number comes from. Both cameras have the same lens, focused elsewhere.
R12_REAL = RealOptics(
    exit_pupil=Stop(distance=-15.0, diameter=16.25),
    rim=Stop(distance=-45.0, diameter=34.0),
    field_radius=2000.0,
    main_lens_color=(0.0004, 0.0, 0.0006),
    micro_lens_color=(0.006, 0.0, -0.009),
    clear_aperture=0.95,
    spherical_aberration=0.03,
    wavelength=550.0,
    crosstalk=0.015,
    half_angle=30.0,
)

OPTICS_PRESETS = {"r12-a-real": R12_REAL, "r12-es-real": R12_REAL}


def optics_preset(name: str) -> RealOptics:
    """The real lenses called `name`, one of `OPTICS_PRESETS`."""
    if name not in OPTICS_PRESETS:
        raise InputError(f"no real lenses of that name (there are: {', '.join(OPTICS_PRESETS)})", file=name)
    return OPTICS_PRESETS[name]
