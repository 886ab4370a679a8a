"""Γ of a method, fitted to the sizes of boards in its depth maps. The distances of the boards are not used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from plenodepth.cache import cache_key
from plenodepth.calib.features import require_features_of
from plenodepth.calib.image_list import frames_with_features
from plenodepth.calib.records import keep_record, kept_record
from plenodepth.calib.scale.boards import BoardScaleFit, fit_board_scale
from plenodepth.calib.scale.fit import ScaleOrder
from plenodepth.calib.scale.step import ScaleRecord, board_depths, scale_record, with_scale
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Array
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.studies.reproduction.datasets import BoardShots, Dataset
from plenodepth.studies.reproduction.frames import FILTERS, load_map, map_job
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import CameraModel, Method, Scaling
from plenodepth.studies.reproduction.results import BoardScaleError, HeldOutBoards, ScaleErrors
from plenodepth.studies.reproduction.study import Study

LOWER: list[ScaleOrder] = ["quadratic", "linear", "constant"]
ORDERS: dict[Scaling, ScaleOrder | None] = {"linear": "linear", "quadratic": "quadratic", "best": None}


@dataclass(frozen=True, eq=False)
class ScaleFit:
    """The camera with Γ, and the scale errors of the boards before and after it."""

    camera: PlenopticCamera
    errors: ScaleErrors


def camera_with_scale(dataset: Dataset, method: Method, fit: ScaleFit | None) -> PlenopticCamera:
    """The camera of a method: with Γ where there is a fit."""
    return dataset.model(method.camera) if fit is None else fit.camera


def scale_job(dataset: Dataset, method: Method, stage: str) -> Job[ScaleFit] | None:
    """Fit Γ of a method; None for a method without Γ.

    Γ of refined maps is that of coarse ones: all views of a corner together tell more.
    """
    if method.scaling == "none":
        return None
    settings = replace(method.scaled_as or method.settings, refined=False)
    boards = dataset.scale_boards
    maps = tuple(
        map_job(dataset, image.path, settings, stage, camera=method.camera, white=boards.white)
        for image in frames_with_features(boards.images, boards.features)
    )
    what = f"{dataset.name}, Γ of {method.label}"
    return Job(fit_scale, (dataset, settings, method.camera, method.scaling, maps), stage, what)


def fit_scale(
    study: Study,
    dataset: Dataset,
    settings: DepthSettings,
    model: CameraModel,
    scaling: Scaling,
    maps: tuple[Path, ...],
) -> ScaleFit:
    """Γ by the boards of a dataset, of whose frames with corners `maps` are the coarse depth maps."""
    camera, boards, order = dataset.model(model), dataset.scale_boards, ORDERS[scaling]
    require_features_of(boards.features, camera)
    key = cache_key(
        {
            "camera": camera,
            "features": boards.features,
            "board": boards.board,
            "settings": settings,
            "filters": FILTERS,
            "order": order,
            "maps": [path.name for path in maps],  # a name holds the key of its map
        }
    )
    work, name = study.work_folder("scale", dataset.calibration.name), f"{model}-{key[:16]}.json"
    record = kept_record(ScaleRecord, work, name, key)
    if record is None:
        images = frames_with_features(boards.images, boards.features)
        files = {image.path: path for image, path in zip(images, maps, strict=True)}
        found = board_depths(images, boards.features, lambda image: load_map(files[image.path]), study.progress)
        apparent = found.aperture_model != "off"
        fit, notes = _fit_growing(boards, found.depth, camera, order, apparent=apparent)
        record = scale_record(fit, found.aperture_model, False, [*sorted(found.notes), *notes])
        keep_record(record, work, name, key)
    return ScaleFit(with_scale(camera, record), _scale_errors(record))


def _fit_growing(
    boards: BoardShots, depth: Array, camera: PlenopticCamera, order: ScaleOrder | None, *, apparent: bool
) -> tuple[BoardScaleFit, list[str]]:
    """The fit of an order, or of the next lower one whose Γ grows with distance; and notes about orders not taken."""
    notes: list[str] = []
    orders = [order] if order is None else LOWER[LOWER.index(order) :]
    for tried in orders:
        try:
            return fit_board_scale(boards.features, depth, boards.board, camera, tried, apparent=apparent), notes
        except InputError as error:
            refused = error
            notes.append(f"{tried or 'best'} Γ was not taken: {error}")
    raise refused


def _scale_errors(record: ScaleRecord) -> ScaleErrors:
    """The part of a record of Γ that is reported."""

    def numbers(values: tuple[float | None, ...]) -> tuple[float, ...]:
        return tuple(float("nan") if value is None else value for value in values)

    return ScaleErrors(
        order=record.order,
        best_order=record.best_order,
        depth_scale=record.depth_scale,
        standard_errors=numbers(record.standard_errors),
        median_before=record.median_before,
        median_after=record.median_after,
        median_size_before=record.median_size_before,
        median_size_after=record.median_size_after,
        frames=tuple(BoardScaleError(**vars(row)) for row in record.frames),
        held_out={order: HeldOutBoards(held.median, numbers(held.errors)) for order, held in record.held_out.items()},
        aperture_model=record.aperture_model,
    )
