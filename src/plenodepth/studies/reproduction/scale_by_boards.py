"""Γ of a method, by the sizes of boards as it sees them; it knows nothing of their distances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from plenodepth.cache import cache_key
from plenodepth.calib.blur.step import frames_with_features
from plenodepth.calib.scale.boards import BoardScaleFit, fit_board_scale
from plenodepth.calib.scale.fit import ScaleOrder
from plenodepth.calib.scale.step import board_depths, scale_record, with_scale
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import Array
from plenodepth.errors import InputError
from plenodepth.studies.reproduction.datasets import Dataset, ScaleBoards
from plenodepth.studies.reproduction.frames import FILTERS, virtual_map
from plenodepth.studies.reproduction.methods import Method, Scaling
from plenodepth.studies.reproduction.sources import RECIPES
from plenodepth.studies.reproduction.study import Study

LOWER: list[ScaleOrder] = ["quadratic", "linear", "constant"]
ORDERS: dict[Scaling, ScaleOrder | None] = {"linear": "linear", "quadratic": "quadratic", "best": None}


class ScaleFit(NamedTuple):
    """The camera with Γ, and the record of how it was found (as of `calibrate scale`)."""

    camera: PlenopticCamera
    record: dict[str, Any]


def scaled_camera(study: Study, dataset: Dataset, method: Method) -> PlenopticCamera:
    """The camera of a method, with Γ if it has one."""
    return dataset.model(method.camera) if method.scaling == "none" else scale_of(study, dataset, method).camera


def scale_of(study: Study, dataset: Dataset, method: Method) -> ScaleFit:
    """Γ of a method. That of refined maps is the coarse ones': all views of a corner together tell more."""
    coarse = replace(method, settings=replace(method.scaled_as or method.settings, refined=False))
    camera, boards = dataset.model(method.camera), dataset.scale_boards
    features = boards.features
    made_of = {
        "camera": camera,
        "features": features,
        "board": boards.board,
        "settings": coarse.settings,
        "filters": FILTERS,
        "order": ORDERS[method.scaling],
        "virtual_range": RECIPES[dataset.name].virtual_range,
        "images": dataset.source.checksum,
    }

    def compute() -> dict[str, Any]:
        found = board_depths(
            frames_with_features(boards.images, features),
            features,
            lambda image: virtual_map(study, dataset, image.path, coarse, white=boards.white),
            lambda done, total, board: study.progress(done, total, f"{dataset.name}, {method.label}: board {board}"),
        )
        undone = found.aperture_model != "off"
        fit, lower = _growing(camera, boards, found.depth, ORDERS[method.scaling], apparent=undone)
        return scale_record(fit, found.aperture_model, False, [*sorted(found.notes), *lower])

    name = f"{method.camera}-{cache_key(made_of)[:16]}"
    record = study.kept(study.folder("scale", dataset.work.name), name, made_of, compute)
    return ScaleFit(with_scale(camera, record), record)


def _growing(
    camera: PlenopticCamera, boards: ScaleBoards, depth: Array, order: ScaleOrder | None, *, apparent: bool
) -> tuple[BoardScaleFit, list[str]]:
    """The fit of an order, or of the next lower one whose Γ grows with distance; and a note about that."""
    notes: list[str] = []
    orders = [order] if order is None else LOWER[LOWER.index(order) :]
    for tried in orders:
        try:
            return fit_board_scale(boards.features, depth, boards.board, camera, tried, apparent=apparent), notes
        except InputError as error:
            refused = error
            notes.append(f"{tried or 'best'} Γ was not taken: {error}")
    raise refused
