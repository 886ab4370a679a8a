"""Datasets ready to be evaluated: calibrated from their own images alone.

Only nominal numbers are given to the calibration: pixel, focal length, f-number, focus distance and board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.calib.blur.step import kappa_step
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.step import CAMERA, adjust_step
from plenodepth.calib.corners.step import features_step
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.image_list import ListedImage
from plenodepth.calib.whites.step import GridOptions, white_step
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera
from plenodepth.errors import InputError
from plenodepth.progress import Progress
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import CameraModel
from plenodepth.studies.reproduction.sources import DATASET_SPECS, Shot, Source, find_source
from plenodepth.studies.reproduction.study import Study

ADJUST_RECORD = "adjust.json"


@dataclass(frozen=True, eq=False)
class BoardShots:
    """Images of a board, with the corners found in them."""

    board: Board
    images: tuple[ListedImage, ...]
    white: Path  # of their camera
    features: Features


@dataclass(frozen=True, eq=False)
class DatasetCalibration:
    """What the white images and the boards of a dataset gave."""

    name: str  # of the dataset that has the images
    start: PlenopticCamera  # from the white images alone
    camera: PlenopticCamera  # the blur-aware model, without Γ
    pinhole: PlenopticCamera  # the pinhole-array model
    boards: BoardShots


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its calibrated cameras, and the boards that Γ is fitted to."""

    name: str
    source: Source
    calibration: DatasetCalibration  # may be that of another dataset with the same camera
    scale_boards: BoardShots

    @property
    def camera(self) -> PlenopticCamera:
        """The blur-aware camera, without Γ."""
        return self.calibration.camera

    @property
    def white(self) -> Path:
        """The white image at the aperture of the other images."""
        return self.source.white

    @property
    def shots(self) -> tuple[Shot, ...]:
        """Images of targets at known distances, nearest first."""
        if not self.source.shots:
            raise InputError("has no images at known distances", file=self.source.root, fix="see the docs on layout")
        return self.source.shots

    @property
    def virtual_range(self) -> tuple[float, float]:
        """The range of virtual depths to search."""
        return DATASET_SPECS[self.name].virtual_range

    def model(self, which: CameraModel) -> PlenopticCamera:
        """One of the cameras, without Γ."""
        return self.calibration.camera if which == "blur_aware" else self.calibration.pinhole


def simulation_stage(name: str) -> str:
    """The stage of the plan in which a twin is simulated."""
    return f"{name}: simulation"


def calibration_stage(name: str) -> str:
    """The stage of the plan in which a dataset is calibrated."""
    return f"{name}: calibration"


def datasets_job(names: Sequence[str]) -> Job[tuple[tuple[str, Dataset], ...]]:
    """Make several datasets ready, each beside its name."""
    jobs = tuple((name, dataset_job(name)) for name in names)
    return Job(_collect, (jobs,), "datasets", weight=0, in_caller=True)


def _collect(study: Study, datasets: tuple[tuple[str, Dataset], ...]) -> tuple[tuple[str, Dataset], ...]:
    return datasets


def dataset_job(name: str) -> Job[Dataset]:
    """Simulate a dataset where it is a twin, calibrate its camera, and find the boards that Γ is fitted to."""
    own = DATASET_SPECS[name].camera_of or name
    calibration = Job(calibrate, (own, _source_job(own)), calibration_stage(own), f"{own}, calibration")
    arguments = (name, _source_job(name), calibration)
    return Job(prepare_dataset, arguments, calibration_stage(own), f"{name}, boards for Γ", weight=0.1)


def _source_job(name: str) -> Job[Source]:
    return Job(find_source, (name,), simulation_stage(name), f"{name}, images")


def calibrate(study: Study, name: str, source: Source) -> DatasetCalibration:
    """The cameras of a dataset, from its white images and boards."""
    optics, white, board, images = source.optics, source.white, source.boards.board, source.boards.images
    work, progress = study.work_folder("calibration", name), study.progress
    first = white_step(source.whites, optics, work, threads=study.threads, progress=progress)
    features = features_step(
        images, board, first.camera, work, white=white, threads=study.threads, progress=progress
    ).features
    camera = _adjust(work, first.camera, features, first.centers, board, AdjustSettings(aperture=True), progress)
    camera = kappa_step(images, features, camera, work, white=white, threads=study.threads, progress=progress).camera
    work = study.work_folder("calibration", f"{name}-pinhole")
    plain = white_step(
        source.whites, optics, work, grid=GridOptions(type_count=0), threads=study.threads, progress=progress
    )
    pinhole = _adjust(work, plain.camera, features, plain.centers, board, AdjustSettings(use_rho=False), progress)
    return DatasetCalibration(name, first.camera, camera, pinhole, BoardShots(board, images, white, features))


def prepare_dataset(study: Study, name: str, source: Source, calibration: DatasetCalibration) -> Dataset:
    """The dataset with the boards for Γ, as in the paper: across the axis, where there are such, else held by hand."""
    if source.scale_boards is None:
        return Dataset(name, source, calibration, calibration.boards)
    board, images = source.scale_boards.board, source.scale_boards.images
    work, white = study.work_folder("calibration", f"{name}-scale"), calibration.boards.white
    found = features_step(
        images, board, calibration.start, work, white=white, threads=study.threads, progress=study.progress
    )
    return Dataset(name, source, calibration, BoardShots(board, images, white, found.features))


def _adjust(
    work: WorkFolder,
    start: PlenopticCamera,
    features: Features,
    centers: Centers,
    board: Board,
    settings: AdjustSettings,
    progress: Progress,
) -> PlenopticCamera:
    """The camera of a bundle adjustment; kept, since that takes its time."""
    key = cache_key({"camera": start, "features": features, "centers": centers, "board": board, "settings": settings})
    if work.kept(ADJUST_RECORD, key) is None:
        if start.type_count == 0:
            features = replace(features, rho=np.full(len(features), np.nan), rho_sigma=np.full(len(features), np.nan))
        step = adjust_step(
            features, centers, board, start, work, settings=settings, name=work.path.name, progress=progress
        )
        work.keep(ADJUST_RECORD, key, [CAMERA], {"rmse_uv": step.adjustment.rmse_uv})
    return load_plenoptic_camera(work / CAMERA)
