"""Datasets ready to be evaluated: calibrated from their own images alone.

Only nominal numbers are given to the calibration: pixel, focal length, f-number, focus distance and board.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.cache import WorkFolder, cache_key
from plenodepth.calib.blur.step import kappa_step
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ListedImage
from plenodepth.calib.steps import CAMERA, GridOptions, adjust_step, features_step, white_step
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera
from plenodepth.errors import InputError
from plenodepth.studies.reproduction.methods import CameraModel
from plenodepth.studies.reproduction.sources import RECIPES, Shot, Source, source_of
from plenodepth.studies.reproduction.study import Study

ADJUST_RECORD = "adjust.json"


@dataclass(frozen=True, eq=False)
class ScaleBoards:
    """Boards that Γ is fitted to, with the corners found in their images."""

    board: Board
    images: list[ListedImage]
    white: Path  # of their camera, which may be another dataset's
    features: Features


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset with its calibrated cameras."""

    name: str
    source: Source
    white: Path  # at the aperture of the images
    scale_boards: ScaleBoards
    camera: PlenopticCamera  # the blur-aware model, without Γ
    pinhole: PlenopticCamera  # the pinhole-array model
    work: Path

    @property
    def shots(self) -> list[Shot]:
        """Images of targets at known distances, nearest first."""
        if not self.source.shots:
            raise InputError("has no images at known distances", file=self.source.root, fix="see the docs on layout")
        return self.source.shots

    def model(self, which: CameraModel) -> PlenopticCamera:
        """One of the cameras, without Γ."""
        return self.camera if which == "blur_aware" else self.pinhole


@cache  # looking whether gigabytes of images are up to date takes its time, too
def prepared(study: Study, name: str) -> Dataset:
    """The dataset, simulated and calibrated as far as it is not yet."""
    source = source_of(study, name)
    own = RECIPES[name].camera_of or name
    calibration = source if own == name else source_of(study, own)
    optics, white = calibration.optics, calibration.white
    board, boards = calibration.boards.board, calibration.boards.images
    work = study.work(study.folder("calibration", own))

    def progress(done: int, total: int, what: str) -> None:
        study.progress(done, total, f"{own}, calibration: {what}")

    first = white_step(work, optics, calibration.whites, None, GridOptions(), progress)
    features = features_step(boards, white, board, first.camera, work, study.threads, progress).features
    aware = AdjustSettings(aperture=True)
    camera = _adjusted(work, first.camera, features, first.centers, board, aware, progress)
    camera = kappa_step(boards, white, features, camera, work, progress, threads=study.threads).camera
    holes = study.work(study.folder("calibration", f"{own}-pinhole"))
    plain = white_step(holes, optics, calibration.whites, None, GridOptions(type_count=0), progress)
    pinhole = _adjusted(holes, plain.camera, features, plain.centers, board, AdjustSettings(use_rho=False), progress)
    scale_boards = ScaleBoards(board, boards, white, features)
    if source.scale_boards is not None:
        # As in the paper: boards across the axis, where there are such, else those held by hand.
        board, boards = source.scale_boards.board, source.scale_boards.images
        across = study.work(study.folder("calibration", f"{own}-scale"))
        features = features_step(boards, white, board, first.camera, across, study.threads, progress).features
        scale_boards = ScaleBoards(board, boards, white, features)
    return Dataset(name, source, source.white, scale_boards, camera, pinhole, work.path)


def _adjusted(
    work: WorkFolder,
    start: PlenopticCamera,
    features: Features,
    centers: Any,
    board: Board,
    settings: AdjustSettings,
    progress: Any,
) -> PlenopticCamera:
    """The camera of an adjustment; kept, since it takes its time."""
    made_of = {
        "camera": start,
        "features": features,
        "centers": centers,
        "board": board,
        "settings": settings,
    }
    key = cache_key(made_of)
    if work.kept(ADJUST_RECORD, key) is None:
        if start.type_count == 0:
            features = replace(features, rho=np.full(len(features), np.nan), rho_sigma=np.full(len(features), np.nan))
        step = adjust_step(features, centers, board, start, work, settings, progress, work.path.name)
        work.keep(ADJUST_RECORD, key, [CAMERA], {"rmse_uv": step.adjustment.rmse_uv})
    return load_plenoptic_camera(work / CAMERA)
