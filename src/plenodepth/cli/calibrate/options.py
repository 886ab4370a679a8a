"""Options that the steps of a calibration share: what is printed on the camera, what is adjusted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plenodepth.cli.shared.quantities import parameter_name, parse_counts, parse_length, parse_priors
from plenodepth.errors import InputError

if TYPE_CHECKING:
    from plenodepth.calib.bundle.settings import AdjustSettings
    from plenodepth.calib.steps import GridOptions
    from plenodepth.calib.whites.initial_camera import Optics


@dataclass(frozen=True)
class OpticsOptions:
    """What is printed on the camera and its lens."""

    sensor: Annotated[str, typer.Option("--sensor", help="Pixel size, as in 5.5um.")]
    focal: Annotated[str, typer.Option("--focal", help="Focal length of the main lens, as in 50 (mm).")]
    aperture: Annotated[float, typer.Option("--aperture", help="f-number of the board images.")]
    focus: Annotated[str, typer.Option("--focus", help="Focus distance from the sensor, as in 450 (mm), or inf.")]
    types: Annotated[int, typer.Option("--types", help="Lens types; 0: pinholes (no blur).")] = 3
    configuration: Annotated[
        Literal["galilean", "keplerian", "unfocused"], typer.Option("--configuration", help="Of the micro-lenses.")
    ] = "galilean"
    lenses: Annotated[
        str | None, typer.Option("--lenses", metavar="KxL", help="Columns x rows of the array; default: found.")
    ] = None
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    black_level: Annotated[
        float, typer.Option("--black-level", help="What the sensor counts without light, as a part of full scale.")
    ] = 0.0

    def optics(self, example: Path) -> Optics:
        """The nominal optics of a camera that makes images like `example`."""
        from plenodepth.calib.whites.initial_camera import Optics
        from plenodepth.camera.model import Configuration
        from plenodepth.io.images import read_image

        height, width = read_image(example).shape[:2]
        return Optics(
            focal_length=parse_length(self.focal, "--focal"),
            f_number=self.aperture,
            focus_distance=parse_length(self.focus, "--focus"),
            pixel_size=parse_length(self.sensor, "--sensor", unit="um"),
            width=width,
            height=height,
            configuration=Configuration(self.configuration),
            bayer=self.bayer,
            black_level=self.black_level,
        )

    def grid(self) -> GridOptions:
        """What is known of the array."""
        from plenodepth.calib.steps import GridOptions

        columns, rows = parse_counts(self.lenses, "--lenses")
        return GridOptions(columns, rows, type_count=self.types)


@dataclass(frozen=True)
class AdjustOptions:
    """What is adjusted."""

    aperture_aware: Annotated[
        bool | None,
        typer.Option(
            "--aperture-aware/--no-aperture-aware",
            help="Corners are where they appear through the aperture. Default: yes, but not for libpleno's features.",
        ),
    ] = None
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", help="Hold a parameter: F, f, pitch, tilt, distortion, …"),
    ] = None
    prior: Annotated[
        list[str] | None,
        typer.Option("--prior", help="NAME=VALUE±SIGMA (or +-), of F, D, d, …: F=50±0.2."),
    ] = None
    rho: Annotated[bool, typer.Option("--rho/--no-rho", help="Use the blur radii of the features.")] = True

    def settings(self, *, foreign: bool, types: int) -> AdjustSettings:
        """For features of libpleno (`foreign`) or ours, and a camera of so many lens types."""
        from plenodepth.calib.bundle.settings import AdjustSettings

        aware = self.aperture_aware if self.aperture_aware is not None else not foreign
        return AdjustSettings(
            aperture=aware and types > 0,
            hold=tuple(parameter_name(name) for name in self.hold or ()),
            priors=parse_priors(self.prior or []),
            use_rho=self.rho and types > 0,
        )


BoardOption = Annotated[
    str, typer.Option("--board", help="Inner corners and side of a square: 9x5:10mm.", show_default=False)
]
WorkOption = Annotated[
    Path | None, typer.Option("--work", help="Folder for results of steps; default: beside --out, OUT-calibration.")
]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Default: all cores.")]


def threads_for(given: int | None) -> int:
    """The number given, or one for each core."""
    if given is not None and given < 1:
        raise InputError(f"is {given}, needs 1 or more", field="--threads")
    return given or os.cpu_count() or 1
