"""What each effect of real lenses does to depth: walls through a camera that is known, but for the effect.

The camera that depth is estimated with is the true one of thin lenses, with the grid of micro-images that the effect
gives it, and with what it is told of the effect: its exit pupil, unless a row says otherwise. White images go through
the same lenses. So what is left is what the effect does to matching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plenodepth.calib.scale.fit import fit_depth_scale
from plenodepth.camera import PlenopticCamera, metric_from_virtual
from plenodepth.camera.micro_images import fitted_to_lenses
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.evaluate import median_depth
from plenodepth.geometry import Pose
from plenodepth.metric.frame import estimate_depth
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import clean_image
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.optics.presets import optics_preset
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, render_scene, render_white

Float64 = NDArray[np.float64]
Known = Literal["exit_pupil", "clear_aperture"]
Told = Callable[[int, int, str], None]  # effects done, effects in all, the one that is next

REAL = optics_preset("r12-es-real")


@dataclass(frozen=True)
class Effect:
    """What is not as the camera has it: its lenses, and its f-number, times which the images were taken at.

    `known`: what the camera that depth is estimated with knows of these lenses.
    """

    optics: RealOptics = field(default_factory=RealOptics)
    f_number: float = 1.0
    known: tuple[Known, ...] = ("exit_pupil",)


BEFORE, BEHIND = (RealOptics(exit_pupil=stop) for stop in (Stop(-15.0, 16.25), Stop(15.0, 8.75)))
# Each effect of the twins alone, those that they lack, and all together. Pupils are as wide as f/4 makes them.
EFFECTS: dict[str, Effect] = {
    "none": Effect(),
    "exit pupil, e = −15 mm": Effect(BEFORE),
    "exit pupil, e = −15 mm, taken for 0": Effect(BEFORE, known=()),
    "exit pupil, e = +15 mm": Effect(BEHIND),
    "exit pupil, e = +15 mm, taken for 0": Effect(BEHIND, known=()),
    "exit pupil 1 mm off the axis": Effect(RealOptics(exit_pupil=Stop(0.0, None, (1.0, 0.0)))),
    "exit pupil and rim": Effect(REAL.only("exit_pupil", "rim")),
    "f-number 10 % larger than said": Effect(f_number=1.1),
    "f-number 10 % smaller than said": Effect(f_number=0.9),
    "clear aperture 0.95": Effect(RealOptics(clear_aperture=0.95)),
    "clear aperture 0.90": Effect(RealOptics(clear_aperture=0.9)),
    "clear aperture 0.90, known": Effect(RealOptics(clear_aperture=0.9), known=("clear_aperture",)),
    "hexagonal lenses": Effect(RealOptics(corner_reach=1.1)),
    "spherical aberration": Effect(REAL.only("spherical_aberration")),
    "diffraction": Effect(REAL.only("wavelength")),
    "colours": Effect(REAL.only("main_lens_color", "micro_lens_color")),
    "cross-talk": Effect(REAL.only("crosstalk")),
    "angular response": Effect(REAL.only("half_angle")),
    "curved field": Effect(REAL.only("field_radius")),
    "walls": Effect(RealOptics(mask=True)),
    "all of r12-es-real": Effect(REAL),
    "all of r12-es-real, clear aperture known": Effect(REAL, known=("exit_pupil", "clear_aperture")),
}


@dataclass(frozen=True, eq=False)
class EffectOnDepth:
    """Relative errors (n,) of the median depth of walls at n distances; NaN where there is none."""

    name: str
    effect: Effect
    errors: Float64
    scaled_errors: Float64  # with a Γ of first order, fitted to the other walls


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
    """The error of walls at `distances` mm for each effect (default: `EFFECTS`), without and with Γ."""
    effects = EFFECTS if effects is None else effects
    rows = []
    for index, (name, effect) in enumerate(effects.items()):
        if told is not None:
            told(index, len(effects), name)
        errors = wall_errors(effect, camera, distances, settings, rays=rays, seed=seed, threads=threads)
        rows.append(EffectOnDepth(name, effect, errors, errors_of_other_walls_scale(errors, distances)))
    return tuple(rows)


def wall_errors(
    effect: Effect,
    camera: PlenopticCamera,
    distances: Sequence[float],
    settings: DepthSettings | None = None,
    *,
    rays: int = 64,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Float64:
    """Relative errors (n,) of the median depth of walls at `distances` (n,) mm, without Γ."""
    camera = replace(camera, depth_scale=None)
    if camera.main_lens.f_number is None:
        raise InputError("the camera has none", field="main_lens.f_number", fix="give one")
    number = camera.main_lens.f_number * effect.f_number
    tracing = RenderSettings(rays, seed, f_number=number, threads=threads, optics=effect.optics)
    frames = FrameSettings(tracing, SensorSettings(seed=seed))
    progress(0, len(distances) + 1, "white image")
    white, errors = render_white(number, camera, frames), []
    used = camera_that_knows(effect.known, white.camera, camera)
    for index, distance in enumerate(distances):
        progress(index + 1, len(distances) + 1, f"wall at {distance:.0f} mm")
        wall = render_scene(wall_scene(distance, seed + int(distance), camera), camera, frames)
        found = estimate_depth(clean_image(wall.raw, used, white=white.raw), used, settings, threads=threads)
        errors.append(median_depth(found.z) / distance - 1)
    return np.array(errors)


def camera_that_knows(known: Sequence[Known], true: PlenopticCamera, thin: PlenopticCamera) -> PlenopticCamera:
    """The thin-lens camera with the grid of the true one, which white images show, and what is known of its lenses."""
    return replace(
        thin,
        micro_images=true.micro_images,
        main_lens=(true if "exit_pupil" in known else thin).main_lens,
        micro_lenses=(true if "clear_aperture" in known else thin).micro_lenses,
    )


def errors_of_other_walls_scale(errors: Float64, distances: Sequence[float]) -> Float64:
    """Errors (n,) that are left with a Γ of first order that was fitted to the other walls; NaN where none fits."""
    true = np.asarray(distances, dtype=np.float64)
    found, left = true * (1 + errors), np.full(len(true), np.nan)
    for index in np.flatnonzero(np.isfinite(found)):
        others = np.isfinite(found) & (np.arange(len(true)) != index)
        try:
            scale = fit_depth_scale(found[others], true[others], "linear")
        except InputError:  # too few walls, or Γ would not grow with distance
            continue
        left[index] = scale.corrected(found[index]) / true[index] - 1
    return left


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
