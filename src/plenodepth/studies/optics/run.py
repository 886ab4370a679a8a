"""Real lenses: walls through one effect after the other, and twins with real lenses from images to depth."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plenodepth.cache import cache_key
from plenodepth.calib.features import renumbered
from plenodepth.calib.records import keep_record, kept_record
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera, preset
from plenodepth.camera.presets import MINI_COLUMNS, MINI_ROWS, shrunk
from plenodepth.errors import InputError
from plenodepth.io.atomic import made_folder
from plenodepth.sim.scenes.twins import REAL_TWINS
from plenodepth.studies.optics.effects import (
    EFFECTS,
    Effect,
    away_from_axis,
    errors_of_other_walls_scale,
    wall_distances,
    wall_errors,
)
from plenodepth.studies.optics.results import (
    NoScale,
    OpticsResult,
    TwinErrors,
    UsedCamera,
    WallErrors,
    save_optics_result,
)
from plenodepth.studies.reproduction.datasets import Dataset, datasets_job
from plenodepth.studies.reproduction.depth_scale import ScaleFit, fit_scale
from plenodepth.studies.reproduction.experiments.relative import relative_errors, relative_errors_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import AWARE, AWARE_S, AWARE_U, Method
from plenodepth.studies.reproduction.plan import dataset_stages
from plenodepth.studies.reproduction.planned_progress import PlannedProgress, ShowProgress
from plenodepth.studies.reproduction.results import MethodRelativeErrors, Stage
from plenodepth.studies.reproduction.run import calibrated_parameters, check_inputs
from plenodepth.studies.reproduction.study import Study
from plenodepth.studies.reproduction.worker_pool import WorkerPool
from plenodepth.version import __version__

WALL_CAMERA = "r12-es"
VIRTUAL_DEPTHS = (3.5, 5.0, 8.0, 12.0)
# mm from the axis at which effects that are nothing near it are measured, too; the rim covers nothing within 11 mm.
OFF_AXIS = {
    "none": 11.0,
    "exit pupil, e = −15 mm": 11.0,
    "exit pupil, e = +15 mm": 11.0,
    "exit pupil and rim": 13.0,
    "curved field": 11.0,
    "all of r12-es-real, clear aperture known": 11.0,
}
DIAGONAL = (0.8, 0.6)  # the way there, towards a corner of the sensor
FULL_LENSES = 2  # times as many lenses in a row as the smallest camera has
WALLS, TWINS = "walls", "relative depth"
SECONDS = {WALLS: (70.0, 900.0), TWINS: (40.0, 600.0)}  # on 2 cores: quick, full size


@dataclass(frozen=True)
class WallPlace:
    """One effect at one place of the field."""

    name: str
    effect: Effect
    off_axis: float  # mm


def wall_places() -> tuple[WallPlace, ...]:
    """All effects near the axis, then those that do more away from it."""
    near = (WallPlace(name, effect, 0.0) for name, effect in EFFECTS.items())
    return (*near, *(WallPlace(name, EFFECTS[name], distance) for name, distance in OFF_AXIS.items()))


def wall_camera(quick: bool) -> PlenopticCamera:
    """The camera that looks at the walls: a part of R12-ES."""
    factor = 1 if quick else FULL_LENSES
    return shrunk(preset(WALL_CAMERA), factor * MINI_COLUMNS, factor * MINI_ROWS)


def plan_optics(study: Study) -> tuple[Stage, ...]:
    """Stages and about how many seconds each takes on 2 cores; what is there already takes less."""
    own = (Stage(name, seconds[0 if study.quick else 1]) for name, seconds in SECONDS.items())
    return (*dataset_stages(study, compared_twins()), *own)


def compared_twins() -> tuple[str, ...]:
    """The twins with real lenses, each after the same one with thin lenses: what that has as well is not theirs."""
    return tuple(name for real, thin in REAL_TWINS.items() for name in (thin, real))


def study_optics(
    study: Study,
    show: ShowProgress | None = None,
    *,
    camera: PlenopticCamera | None = None,
    places: tuple[WallPlace, ...] | None = None,
    twins: tuple[str, ...] | None = None,
) -> OpticsResult:
    """Measure what real lenses do to depth, and write `optics.json` and `optics.csv` into `study.out`.

    camera: that looks at the walls; by default a part of R12-ES. places: by default all effects. twins: by default
    all with real lenses, and the same with thin ones. What was computed before from the same inputs is read from
    `out/work`. `show(done, total, what)` is told how far it is, in planned seconds.
    """
    check_inputs(study)
    camera = wall_camera(study.quick) if camera is None else camera
    places = wall_places() if places is None else places
    with made_folder(study.out):
        chosen = compared_twins() if twins is None else twins
        return _studied(study, show or (lambda done, total, what: None), camera, places, chosen)


def _studied(
    study: Study, show: ShowProgress, camera: PlenopticCamera, places: tuple[WallPlace, ...], twins: tuple[str, ...]
) -> OpticsResult:
    begun, stages = time.perf_counter(), plan_optics(study)
    with WorkerPool(study, PlannedProgress(stages, show)) as pool:
        ready = pool.run(datasets_job(twins))
        datasets = dict(ready)
        rows = tuple(Job(measure_walls, (place, camera), WALLS, place.name) for place in places)
        walls, errors = pool.run(Job(_collect, (rows, _twin_jobs(study, datasets)), TWINS, weight=0, in_caller=True))
    result = OpticsResult(
        plenodepth=__version__,
        quick=study.quick,
        seed=study.seed,
        rays=study.rays,
        threads=study.threads,
        camera=camera.name,
        walls=walls,
        twins=errors,
        calibration={name: calibrated_parameters(dataset) for name, dataset in datasets.items()},
        plan=stages,
        seconds=round(time.perf_counter() - begun, 1),
    )
    save_optics_result(result, study.out)
    return result


def measure_walls(study: Study, place: WallPlace, camera: PlenopticCamera) -> WallErrors:
    """Errors of walls through one effect, without Γ and with a Γ fitted to the other walls; kept."""
    key = cache_key({"camera": camera, "place": place, "rays": study.rays, "seed": study.seed})
    work, name = study.work_folder("walls"), f"{key[:20]}.json"
    record = kept_record(WallErrors, work, name, key)
    if record is None:
        distances = wall_distances(camera, VIRTUAL_DEPTHS)
        moved = camera if place.off_axis == 0 else away_from_axis(camera, *(place.off_axis * part for part in DIAGONAL))
        errors = wall_errors(
            place.effect,
            moved,
            distances,
            AWARE,
            rays=study.rays,
            seed=study.seed,
            threads=study.threads,
            progress=study.progress,
        )
        scaled = errors_of_other_walls_scale(errors, distances)
        record = WallErrors(
            place.name,
            place.off_axis,
            VIRTUAL_DEPTHS,
            tuple(distances),
            tuple(map(float, errors)),
            tuple(map(float, scaled)),
        )
        keep_record(record, work, name, key)
    return record


TwinJobs = tuple[tuple[str, UsedCamera, Job[MethodRelativeErrors], Job[MethodRelativeErrors | NoScale]], ...]


def _twin_jobs(study: Study, datasets: dict[str, Dataset]) -> TwinJobs:
    """ε_z of each twin with the camera that was calibrated and with the true one, without and with Γ."""
    jobs = []
    for name, dataset in datasets.items():
        cameras: dict[UsedCamera, Dataset] = {
            "calibrated": dataset,
            "true": with_true_camera(dataset, study.twin_folder / name / "camera.yaml"),
        }
        for camera, used in cameras.items():
            jobs.append((name, camera, relative_errors_job(used, AWARE_U, TWINS), _scaled_errors_job(used)))
    return tuple(jobs)


def with_true_camera(dataset: Dataset, path: Path) -> Dataset:
    """A twin's dataset with the true camera of thin lenses, which the simulation wrote.

    The corners are those found with the grid of the white images, whose first lens may be another than the true
    camera's.
    """
    camera, found = replace(load_plenoptic_camera(path), depth_scale=None), dataset.calibration.start.micro_images
    boards = replace(
        dataset.scale_boards, features=renumbered(dataset.scale_boards.features, found, camera.micro_images)
    )
    return replace(dataset, calibration=replace(dataset.calibration, camera=camera), scale_boards=boards)


def _scaled_errors_job(dataset: Dataset) -> Job[MethodRelativeErrors | NoScale]:
    """ε_z with Γ, or why there is none: one twin without Γ must not cost the others their figures."""
    job = relative_errors_job(dataset, AWARE_S, TWINS)
    used, method, scale, maps, corrected = job.arguments
    tried = Job(fit_scale_if_any, scale.arguments, TWINS, scale.what)
    return Job(relative_errors_if_scaled, (used, method, tried, maps, corrected), TWINS, job.what)


def fit_scale_if_any(study: Study, *arguments: Any) -> ScaleFit | NoScale:
    """Γ as `fit_scale` finds it, or why there is none."""
    try:
        return fit_scale(study, *arguments)
    except InputError as error:
        return NoScale(str(error))


def relative_errors_if_scaled(
    study: Study, dataset: Dataset, method: Method, fit: ScaleFit | NoScale, maps: tuple[Path, ...], corrected: bool
) -> MethodRelativeErrors | NoScale:
    """ε_z with a Γ, where there is one."""
    return fit if isinstance(fit, NoScale) else relative_errors(study, dataset, method, fit, maps, corrected)


def _collect(
    study: Study,
    walls: tuple[WallErrors, ...],
    twins: tuple[tuple[str, UsedCamera, MethodRelativeErrors, MethodRelativeErrors | NoScale], ...],
) -> tuple[tuple[WallErrors, ...], tuple[TwinErrors, ...]]:
    return walls, tuple(TwinErrors(*twin) for twin in twins)
