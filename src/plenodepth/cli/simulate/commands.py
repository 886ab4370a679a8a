"""``plenodepth simulate scene | white | dataset``: raw images with ground truth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plenodepth.camera import load_plenoptic_camera
from plenodepth.cli.shared.common import JsonOption, console, print_json
from plenodepth.cli.shared.option_groups import expand_groups
from plenodepth.cli.shared.progress import ray_progress

if TYPE_CHECKING:  # the simulator's imports (Numba, Embree) take a second; `--help` should not
    from plenodepth.sim.sensor import SensorSettings

CameraOption = Annotated[str, typer.Option("--camera", help="A preset (r12-e, …) or a camera file.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder to write; it appears whole or not at all.")]
RaysOption = Annotated[int, typer.Option("--rays", help="Rays per pixel.")]
SeedOption = Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Default: all cores.")]
ApertureOption = Annotated[float | None, typer.Option("--aperture", help="f-number; default: the camera's.")]
VignettingOption = Annotated[bool, typer.Option("--vignetting/--no-vignetting", help="Keep or remove the vignetting.")]
NeighbourOption = Annotated[
    bool, typer.Option("--neighbour-light", help="Also trace light through the lenses around a pixel's own.")
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
        """As the simulator takes them."""
        from plenodepth.sim.sensor import SensorSettings

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


@expand_groups
def scene(
    *,
    scene_file: Annotated[Path, typer.Argument(metavar="SCENE", help="Scene file (.yaml, .json).", show_default=False)],
    out: OutOption,
    camera: CameraOption = "r12-e",
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    aperture: ApertureOption = None,
    sensor: SensorOptions,
    vignetting: VignettingOption = True,
    neighbour_light: NeighbourOption = False,
    lidar: Annotated[bool, typer.Option("--lidar", help="Also scan the scene from beside the camera.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Render a scene: raw image, depth per pixel and per micro-image, masks, board corners, lidar.

    Example: [bold]plenodepth simulate scene examples/scenes/figurines.yaml --camera r12-e --out figurines[/bold]
    """
    from plenodepth.sim.lidar import settings_for
    from plenodepth.sim.render import RenderSettings
    from plenodepth.sim.scenes.scene_file import load_scene
    from plenodepth.sim.simulate import FrameSettings, simulate_scene

    loaded, optics = load_scene(scene_file), load_plenoptic_camera(camera)
    settings = FrameSettings(
        RenderSettings(rays, seed, aperture, vignetting, neighbour_light, threads),
        sensor.settings(seed),
        settings_for(loaded, range_sigma=1.0, seed=seed) if lidar else None,
    )
    with ray_progress(scene_file.stem, quiet=as_json) as progress:
        info = simulate_scene(loaded, optics, out, settings, scene_file=scene_file, progress=progress)
    _report(info, out, as_json)


@expand_groups
def white(
    *,
    out: OutOption,
    camera: CameraOption = "r12-e",
    aperture: ApertureOption = None,
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    sensor: SensorOptions,
    neighbour_light: NeighbourOption = False,
    as_json: JsonOption = False,
) -> None:
    """Render a white image, at any f-number.

    Example: [bold]plenodepth simulate white --camera r12-e --aperture 5.66 --out white[/bold]
    """
    from plenodepth.errors import InputError
    from plenodepth.sim.render import RenderSettings
    from plenodepth.sim.simulate import FrameSettings, simulate_white

    optics = load_plenoptic_camera(camera)
    number = aperture or optics.main_lens.f_number
    if number is None:
        raise InputError("the camera has no f-number", field="--aperture", fix="give one")
    settings = FrameSettings(
        RenderSettings(rays, seed, number, neighbour_light=neighbour_light, threads=threads),
        sensor.settings(seed),
    )
    with ray_progress(f"white f/{number:g}", quiet=as_json) as progress:
        info = simulate_white(number, optics, out, settings, progress=progress)
    _report(info, out, as_json)


def dataset(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="r12-a, r12-b, r12-c, r12-es, r12-elp20 or upc-s.", show_default=False)
    ],
    out: OutOption,
    quick: Annotated[bool, typer.Option("--quick", help="A small sensor: seconds instead of minutes.")] = False,
    rays: RaysOption = 64,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the twin of one of the paper's datasets; goes on where an earlier run stopped.

    Example: [bold]plenodepth simulate dataset r12-a --quick --out twins/r12-a[/bold]
    """
    from plenodepth.sim.dataset import simulate_dataset

    with ray_progress(name, quiet=as_json) as progress:
        report = simulate_dataset(
            name, out, quick=quick, rays=rays, seed=seed, threads=threads, on_frame=progress.frame, progress=progress
        )
    if as_json:
        print_json(asdict(report))
    else:
        console().print(
            f"{out}: {report.frames} frames, {report.made} made now, {report.rays / 1e6:.0f} million rays in "
            f"{report.cpu_seconds:.1f} CPU-seconds ({report.seconds:.1f} s)"
        )


def _report(info: dict[str, Any], out: Path, as_json: bool) -> None:
    if as_json:
        print_json({field: info[field] for field in ("rays", "seconds", "cpu_seconds")} | {"out": str(out)})
    else:
        console().print(
            f"{out}: {info['rays'] / 1e6:.0f} million rays in {info['cpu_seconds']:.1f} CPU-seconds "
            f"({info['seconds']:.1f} s)"
        )
