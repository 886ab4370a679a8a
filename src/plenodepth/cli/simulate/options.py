"""Options and the closing line that the commands `plenodepth simulate …` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plenodepth.cli.shared.common import complete_camera, console, print_json

if TYPE_CHECKING:  # the simulator's imports (Numba, Embree) take a second; `--help` should not
    from plenodepth.sim import FrameInfo, RealOptics, SensorSettings

CameraOption = Annotated[
    str, typer.Option("--camera", help="A preset (r12-e, …) or a camera file.", autocompletion=complete_camera)
]
OutOption = Annotated[Path, typer.Option("--out", help="Folder to write; it appears complete or not at all.")]
RaysOption = Annotated[int, typer.Option("--rays", help="Rays per pixel.")]
SeedOption = Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Default: all cores.")]
ApertureOption = Annotated[float | None, typer.Option("--aperture", help="f-number; default: the camera's.")]
VignettingOption = Annotated[bool, typer.Option("--vignetting/--no-vignetting", help="Keep or remove the vignetting.")]
OpticsOption = Annotated[
    str | None,
    typer.Option("--optics", help="Real lenses: a file (examples/optics), or r12-a-real, r12-es-real; default: thin."),
]
NeighbourOption = Annotated[
    bool, typer.Option("--neighbour-light", help="Also trace light through the lenses around a pixel's own.")
]


def complete_scene(incomplete: str) -> list[str]:
    """The scenes that ship whose names begin so; where none does, the shell offers files."""
    from plenodepth.sim.scenes.scene_names import scene_names

    return [name for name in scene_names() if name.startswith(incomplete)]


SceneArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SCENE",
        help="Scene file (.yaml, .json), or a scene that ships: figurines, plane, boards, shapes …",
        show_default=False,
        autocompletion=complete_scene,
    ),
]


@dataclass(frozen=True)
class SensorOptions:
    """What a sensor makes of the light."""

    bits: Annotated[int, typer.Option("--bits", help="Bit depth of the raw image: 8, 10, 12 or 16.")] = 12
    mono: Annotated[bool, typer.Option("--mono", help="Gray instead of colour.")] = False
    bayer: Annotated[str | None, typer.Option("--bayer", help="Colour filters: RGGB, GRBG, GBRG or BGGR.")] = None
    noise: Annotated[bool, typer.Option("--noise/--no-noise", help="Photon and read noise.")] = True
    exposure: Annotated[float, typer.Option("--exposure", help="Signal of white, as a part of full scale.")] = 0.9
    gain: Annotated[float, typer.Option("--gain", help="Gain after the photosite, of signal and noise alike.")] = 1.0
    lens_gain_sigma: Annotated[
        float, typer.Option("--lens-gain-sigma", help="Relative differences in brightness from lens to lens.")
    ] = 0.0

    def settings(self, seed: int) -> SensorSettings:
        """The same as the simulator's settings."""
        from plenodepth.sim import SensorSettings

        return SensorSettings(
            bit_depth=self.bits,
            exposure=self.exposure,
            gain=self.gain,
            bayer=self.bayer,
            color=not self.mono,
            lens_gain_sigma=self.lens_gain_sigma,
            noise=self.noise,
            seed=seed,
        )


def chosen_optics(optics: str | None) -> RealOptics | None:
    """The real lenses of a file or of a name; None: thin lenses."""
    from plenodepth.sim import load_optics

    return None if optics is None else load_optics(optics)


def print_cost(info: FrameInfo, out: Path, as_json: bool) -> None:
    """Say where the frame is, and what it cost."""
    if as_json:
        cost = {"rays": info.rays, "seconds": round(info.seconds, 3), "cpu_seconds": round(info.cpu_seconds, 3)}
        print_json({**cost, "out": str(out)})
    else:
        million = info.rays / 1e6
        console().print(
            f"{out}: {million:.0f} million rays in {info.cpu_seconds:.1f} CPU-seconds ({info.seconds:.1f} s)"
        )
