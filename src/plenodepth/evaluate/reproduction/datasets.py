"""Datasets ready to be evaluated: simulated if they are not there yet, and calibrated from their own images alone.

Only nominal numbers are given to the calibration: pixel, focal length, f-number, focus distance and board.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.calib.adjust_settings import AdjustSettings
from plenodepth.calib.depth_scale import ScaleOrder
from plenodepth.calib.done_steps import fingerprint, up_to_date, write_record
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ListedImage, listed_images
from plenodepth.calib.initial_camera import Optics
from plenodepth.calib.kappa_step import camera_key, features_key, kappa_step
from plenodepth.calib.steps import CAMERA, GridOptions, adjust_step, features_step, white_step
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera
from plenodepth.depth.filters import FilterSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.evaluate.reproduction.methods import CameraModel, Method, Scaling
from plenodepth.evaluate.reproduction.study import Study
from plenodepth.io.frame_distances import read_frame_distances
from plenodepth.metric.scale_step import ScaleStep, scale_step
from plenodepth.sim.dataset import MANIFEST, simulate_dataset
from plenodepth.sim.twins import twin

FOCAL, F_NUMBER = 50.0, 4.0  # nominal, mm


@dataclass(frozen=True)
class Recipe:
    """What there is to know about a dataset beforehand."""

    focus: float  # mm, nominal
    board: Board  # of the images to calibrate with, full size
    calibration: str  # folder of these images
    camera_of: str | None = None  # the dataset that has the calibration images of the same camera


RECIPES = {
    "r12-a": Recipe(450.0, Board(9, 5, 10.0), "boards"),
    "r12-b": Recipe(1000.0, Board(8, 5, 20.0), "boards"),
    "r12-c": Recipe(np.inf, Board(6, 4, 30.0), "boards"),
    "r12-es": Recipe(2133.0, Board(6, 4, 30.0), "calibration"),
    "r12-elp20": Recipe(2133.0, Board(6, 4, 30.0), "calibration", camera_of="r12-es"),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its calibrated cameras."""

    name: str
    root: Path
    board: Board
    white: Path  # at the aperture of the images
    board_white: Path  # the same of the boards, which may be another dataset's
    boards: list[ListedImage]  # to calibrate with
    features: Features  # of the boards
    camera: PlenopticCamera  # the blur-aware model, without Γ
    pinhole: PlenopticCamera  # the pinhole-array model
    work: Path

    def shots(self, group: str) -> list[Shot]:
        """The images of a group with known distances, nearest first."""
        places = read_frame_distances(self.root / group / "distances.txt")
        images = {image.frame: image.path for image in listed_images(self.root / group)}
        missing = sorted(set(images) - set(places))
        if missing:
            raise InputError(f"has no distance for frames {missing}", file=self.root / group / "distances.txt")
        return sorted((Shot(images[frame], frame, places[frame]) for frame in images), key=lambda shot: shot.distance)

    def model(self, which: CameraModel) -> PlenopticCamera:
        """One of the cameras, without Γ."""
        return self.camera if which == "blur_aware" else self.pinhole


@dataclass(frozen=True)
class Shot:
    """An image of a target at a known distance, mm."""

    path: Path
    frame: int
    distance: float


@cache  # looking whether gigabytes of images are up to date takes its time, too
def prepared(study: Study, name: str) -> Dataset:
    """The dataset, simulated and calibrated as far as it is not yet."""
    if name not in RECIPES:
        raise InputError(f"is no dataset (there are: {', '.join(RECIPES)})", field="dataset", file=name)
    recipe = RECIPES[name]
    root = _simulated(study, name)
    own = name if recipe.camera_of is None else recipe.camera_of
    source = _simulated(study, own)
    plan = twin(own, quick=study.quick, seed=study.seed).camera
    factor = plan.sensor.width / twin(own).camera.sensor.width
    board = replace(recipe.board, square=recipe.board.square * factor)
    whites, boards = listed_images(source / "white"), listed_images(source / recipe.calibration)
    white = next(image.path for image in listed_images(root / "white") if image.f_number == F_NUMBER)
    work = study.folder("calibration", own)
    sensor = plan.sensor
    optics = Optics(FOCAL, F_NUMBER, recipe.focus, sensor.pixel_size, sensor.width, sensor.height)

    def progress(done: int, total: int, what: str) -> None:
        study.progress(done, total, f"{own}, calibration: {what}")

    first = white_step(work, optics, whites, None, GridOptions(), progress)
    board_white = next(image.path for image in whites if image.f_number == F_NUMBER)
    second = features_step(work, first.camera, boards, board_white, board, study.threads, progress)
    settings = AdjustSettings(aperture=True)
    camera = _adjusted(work, first.camera, second.features, first.centers, board, settings, progress)
    camera = kappa_step(work, camera, boards, board_white, second.features, progress, threads=study.threads).camera
    holes = study.folder("calibration", f"{own}-pinhole")
    plain = white_step(holes, optics, whites, None, GridOptions(type_count=0), progress)
    pinhole = _adjusted(
        holes, plain.camera, second.features, plain.centers, board, AdjustSettings(use_rho=False), progress
    )
    return Dataset(name, root, board, white, board_white, boards, second.features, camera, pinhole, work)


def scaled_camera(study: Study, dataset: Dataset, method: Method) -> PlenopticCamera:
    """The camera of a method, with the Γ that the calibration's boards give for its settings."""
    return dataset.model(method.camera) if method.scaling == "none" else scale_of(study, dataset, method).camera


def scale_of(study: Study, dataset: Dataset, method: Method) -> ScaleStep:
    """Γ of a method: by the boards that the camera was calibrated with, not by the frames it is judged on."""
    order: dict[Scaling, ScaleOrder | None] = {"linear": "linear", "quadratic": "quadratic", "best": None}
    # Γ of a refined map is that of the coarse one: it is made with all views of a corner, and these tell more.
    settings = replace(method.settings, refined=False)
    return scale_step(
        study.folder("scale", dataset.work.name, _slug(method, settings)),
        dataset.model(method.camera),
        dataset.boards,
        dataset.board_white,
        dataset.features,
        dataset.board,
        order[method.scaling],
        settings,
        FilterSettings(),
        lambda done, total, what: study.progress(done, total, f"{dataset.name}, {method.label}: {what}"),
        threads=study.threads,
    )


def _slug(method: Method, settings: DepthSettings) -> str:
    key = fingerprint({"settings": asdict(settings), "camera": method.camera, "scaling": method.scaling}, [])
    return f"{method.camera}-{method.scaling}-{key[:10]}"


def _simulated(study: Study, name: str) -> Path:
    root = study.twin_folder / name
    simulate_dataset(
        name,
        root,
        quick=study.quick,
        rays=study.rays,
        seed=study.seed,
        threads=study.threads,
        on_frame=lambda index, count, folder: study.progress(index, count, f"{name}: simulating {folder}"),
    )
    return root


def _adjusted(
    work: Path,
    start: PlenopticCamera,
    features: Features,
    centers: Any,
    board: Board,
    settings: AdjustSettings,
    progress: Any,
) -> PlenopticCamera:
    """The camera of an adjustment; kept, since it takes its time."""
    made_of = {
        "camera": camera_key(start),
        "features": features_key(features),
        "board": asdict(board),
        "settings": asdict(settings),
    }
    key, record = fingerprint(made_of, []), work / "adjust.json"
    if up_to_date(record, key) is None:
        if start.type_count == 0:
            features = replace(features, rho=np.full(len(features), np.nan), rho_sigma=np.full(len(features), np.nan))
        step = adjust_step(work, start, features, centers, board, settings, progress, work.name)
        write_record(record, key, [CAMERA], {"rmse_uv": step.adjustment.rmse_uv})
    return load_plenoptic_camera(work / CAMERA)


def checksums(dataset: Dataset) -> str:
    """A fingerprint of a simulated dataset, from its manifest."""
    return fingerprint({"manifest": (dataset.root / MANIFEST).read_text(encoding="utf-8")}, [])[:16]
