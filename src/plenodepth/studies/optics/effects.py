"""What each effect of real lenses does to depth: walls through a camera that is known, but for the effect.

The camera that depth is estimated with is the true one of thin lenses, with the exit pupil and the grid of micro-images
that the effect gives it. White images go through the same lenses. So what is left is what the effect does to matching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, metric_from_virtual
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.evaluate import median_depth
from plenodepth.geometry import Pose
from plenodepth.metric.frame import estimate_depth
from plenodepth.raw import clean_image
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.optics.presets import optics_preset
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, render_scene, render_white

Float64 = NDArray[np.float64]
Told = Callable[[int, int, str], None]  # effects done, effects in all, the one that is next

REAL = optics_preset("r12-es-real")


@dataclass(frozen=True)
class Effect:
    """What is not as the camera has it: its lenses, and its f-number, times which the images were taken at."""

    optics: RealOptics = field(default_factory=RealOptics)
    f_number: float = 1.0


# Each effect of the twins alone, those that they lack, and all together. Pupils are as wide as f/4 makes them.
EFFECTS: dict[str, Effect] = {
    "none": Effect(),
    "exit pupil, e = −15 mm": Effect(RealOptics(exit_pupil=Stop(-15.0, 16.25))),
    "exit pupil, e = +15 mm": Effect(RealOptics(exit_pupil=Stop(15.0, 8.75))),
    "exit pupil 1 mm off the axis": Effect(RealOptics(exit_pupil=Stop(0.0, None, (1.0, 0.0)))),
    "exit pupil and rim": Effect(REAL.only("exit_pupil", "rim")),
    "f-number 10 % larger than said": Effect(f_number=1.1),
    "f-number 10 % smaller than said": Effect(f_number=0.9),
    "clear aperture 0.95": Effect(RealOptics(clear_aperture=0.95)),
    "clear aperture 0.90": Effect(RealOptics(clear_aperture=0.9)),
    "hexagonal lenses": Effect(RealOptics(corner_reach=1.1)),
    "spherical aberration": Effect(REAL.only("spherical_aberration")),
    "diffraction": Effect(REAL.only("wavelength")),
    "colours": Effect(REAL.only("main_lens_color", "micro_lens_color")),
    "cross-talk": Effect(REAL.only("crosstalk")),
    "angular response": Effect(REAL.only("half_angle")),
    "curved field": Effect(REAL.only("field_radius")),
    "walls": Effect(RealOptics(mask=True)),
    "all of r12-es-real": Effect(REAL),
}


@dataclass(frozen=True, eq=False)
class EffectOnDepth:
    """Relative errors (n,) of the median depth of walls at n distances."""

    name: str
    effect: Effect
    errors: Float64


def effects_on_depth(
    camera: PlenopticCamera,
    distances: Sequence[float],
    effects: Mapping[str, Effect] | None = None,
    settings: DepthSettings | None = None,
    *,
    rays: int = 64,
    seed: int = 0,
    threads: int | None = None,
    told: Told | None = None,
) -> tuple[EffectOnDepth, ...]:
    """The error of walls at `distances` mm for each effect (default: `EFFECTS`), without Γ."""
    effects = EFFECTS if effects is None else effects
    camera = replace(camera, depth_scale=None)
    if camera.main_lens.f_number is None:
        raise InputError("the camera has none", field="main_lens.f_number", fix="give one")
    rows = []
    for index, (name, effect) in enumerate(effects.items()):
        if told is not None:
            told(index, len(effects), name)
        number = camera.main_lens.f_number * effect.f_number
        tracing = RenderSettings(rays, seed, f_number=number, threads=threads, optics=effect.optics)
        frames = FrameSettings(tracing, SensorSettings(seed=seed))
        white = render_white(number, camera, frames)
        errors = []
        for distance in distances:
            wall = render_scene(wall_scene(distance, seed + int(distance), camera), camera, frames)
            image = clean_image(wall.raw, wall.camera, white=white.raw)
            found = estimate_depth(image, wall.camera, settings, threads=threads)
            errors.append(median_depth(found.z) / distance - 1)
        rows.append(EffectOnDepth(name, effect, np.array(errors)))
    return tuple(rows)


def away_from_axis(camera: PlenopticCamera, x: float, y: float) -> PlenopticCamera:
    """The same camera with its lens array and its sensor moved by x and y mm: a part of a larger one off the axis."""
    step = np.array([x, y, 0.0])
    pose = camera.micro_lenses.cam_from_mla
    return fitted_to_lenses(
        replace(
            camera,
            sensor=replace(camera.sensor, position=camera.sensor.position + step),
            micro_lenses=replace(camera.micro_lenses, cam_from_mla=Pose(pose.rotation, pose.translation + step)),
        )
    )


def wall_distances(camera: PlenopticCamera, virtual_depths: Sequence[float]) -> list[float]:
    """Distances, mm, at which walls have these virtual depths."""
    return [float(z) for z in metric_from_virtual(list(virtual_depths), replace(camera, depth_scale=None))]
