"""The step of a calibration on files that finds the depth scale Γ: depth of board images, scale errors, fit.

The work folder gets its record, `scale.json`. Skipped if up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.blur.step import (
    frames_with_features,
    image_name,
    notes_on_frames,
    with_note,
)
from plenodepth.calib.feature_check import require_corners_of, require_features_of
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ListedImage
from plenodepth.calib.scale.boards import BoardScaleFit, fit_board_scale
from plenodepth.calib.scale.fit import ScaleOrder
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel, Array
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.relative_blur import used_kappa
from plenodepth.depth.settings import DepthSettings
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import clean_image

RECORD = "scale.json"
NOTE = "Γ: "  # how the note about Γ begins, in a camera's provenance
WINDOW = 1  # px to each side, whose median is the depth at a feature of a refined map


@dataclass(frozen=True, eq=False)
class ScaleStep:
    """The camera with Γ; the record has its coefficients, the scale errors of each frame and the cross-validation."""

    camera: PlenopticCamera
    record: dict[str, Any]
    fresh: bool  # made now


def scale_step(
    boards: Sequence[ListedImage],
    white: Path | None,
    features: Features,
    board: Board,
    camera: PlenopticCamera,
    work: WorkFolder,
    order: ScaleOrder | None = None,
    settings: DepthSettings | None = None,
    filters: FilterSettings | None = None,
    progress: Progress = no_progress,
    *,
    threads: int | None = None,
) -> ScaleStep:
    """Γ for depths that are estimated with these settings; `order` None takes what cross-validation names.

    A Γ of `camera` is left aside. Which aperture model is undone, where the settings leave it open, the first image
    decides for all: Γ is for one.
    """
    chosen, filters = settings or DepthSettings(), filters or FilterSettings()
    require_features_of(features, camera)
    require_corners_of(board, features)
    shown = frames_with_features(boards, features)
    files = [image.path for image in shown] + ([white] if white else [])
    made_of = {
        "camera": camera,
        "features": features,
        "frames": [image.frame for image in boards],
        "board": board,
        "order": order,
        "depth": chosen,
        "kappa": used_kappa(camera, chosen),
        "filters": filters,
    }
    key = cache_key(made_of, files)
    known = work.kept(RECORD, key)
    if known is not None:
        return ScaleStep(with_scale(camera, known), known, False)
    bare = replace(camera, depth_scale=None, depth_scale_model="off")
    white_image = None if white is None else read_image(white)

    def map_of(image: ListedImage) -> VirtualDepthMap:
        nonlocal chosen
        clean = clean_image(read_image(image.path), bare, white=white_image, name=str(image.path))
        found = estimate_virtual_depth(clean, bare, chosen, threads=threads)
        chosen = replace(chosen, aperture_model=found.aperture_model)
        return apply_filters(found, bare, filters, chosen.virtual_range)

    found = board_depths(shown, features, map_of, lambda done, total, path: progress(done, total, f"scale: {path}"))
    fit = fit_board_scale(features, found.depth, board, bare, order, apparent=found.aperture_model != "off")
    notes = sorted({*found.notes, *notes_on_frames(boards, features)})
    content = scale_record(fit, found.aperture_model, chosen.refined, notes)
    known = work.keep(RECORD, key, [], {**content, "images": {str(path): file_hash(path) for path in files}})
    return ScaleStep(with_scale(camera, known), known, True)


class BoardDepths(NamedTuple):
    """What depth maps of boards say of the features in them."""

    depth: Array  # (n,) virtual; NaN: none
    aperture_model: ApertureModel  # that was undone
    notes: frozenset[str]  # about it


def board_depths(
    images: Sequence[ListedImage],
    features: Features,
    map_of: Callable[[ListedImage], VirtualDepthMap],
    progress: Progress = no_progress,
) -> BoardDepths:
    """Virtual depth at the features of images, each of which has some; `map_of` an image is its filtered map."""
    depth, notes = np.full(len(features), np.nan), set[str]()
    for done, image in enumerate(images):
        progress(done, len(images), image_name(image.path))
        found = map_of(image)
        mine = features.frame == image.frame
        depth[mine] = depth_at_features(found, features.where(mine))
        notes |= {found.aperture_note} - {""}
    progress(len(images), len(images), image_name(image.path))
    return BoardDepths(depth, found.aperture_model, frozenset(notes))


def depth_at_features(found: VirtualDepthMap, features: Features) -> Array:
    """Virtual depth (n,) at features: of their micro-image, or of the pixels about them; NaN where there is none."""
    v = found.virtual_depth
    if not found.refined:
        return v[features.l, features.k].astype(np.float64)
    column, row = np.rint(features.uv).astype(np.int64).T
    away = range(-WINDOW, WINDOW + 1)
    near = [v[(row + y).clip(0, v.shape[0] - 1), (column + x).clip(0, v.shape[1] - 1)] for y in away for x in away]
    values = np.stack(near).astype(np.float64)
    depth = np.full(len(features), np.nan)
    known = np.isfinite(values).any(axis=0)
    depth[known] = np.nanmedian(values[:, known], axis=0)
    return depth


def with_scale(camera: PlenopticCamera, record: Mapping[str, Any]) -> PlenopticCamera:
    """The camera with the Γ of a record, and a note about it."""
    model: ApertureModel = record["aperture_model"]
    note = (
        f"{NOTE}{record['order']}, for aperture model {model}, by {len(record['frames'])} boards at "
        f"{record['depth_range'][0]:.0f} to {record['depth_range'][1]:.0f} mm; median scale error "
        f"{100 * record['median_before']:+.3f} % before, {100 * record['median_after']:+.3f} % after"
    )
    provenance = with_note(camera.provenance, NOTE, note)
    residuals = {**provenance.residuals, "depth_scale": float(record["rmse"])}
    return replace(
        camera,
        depth_scale=np.array(record["depth_scale"]),
        depth_scale_model=model,
        provenance=replace(provenance, residuals=residuals),
    )


def scale_record(fit: BoardScaleFit, model: ApertureModel, refined: bool, notes: list[str]) -> dict[str, Any]:
    """What a fit found, as JSON has it."""
    held_out: dict[str, dict[str, Any]] = {
        order: {"median": _middle(errors), "errors": [_or_none(error) for error in errors]}
        for order, errors in fit.held_out.items()
    }
    tested = held_out.get(fit.scale.order, {"median": None})["median"]
    if fit.size_after >= fit.size_before or (tested is not None and tested >= fit.size_before):
        notes = [*notes, "boards have no better sizes with this Γ than without: use the camera without it"]
    rows = zip(fit.frame, fit.distance, fit.before, fit.after, fit.scale.weights, strict=True)
    names = ("frame", "distance", "before", "after", "weight")
    return {
        "aperture_model": model,
        "refined": refined,
        "order": fit.scale.order,
        "best_order": fit.best_order,
        "depth_scale": fit.scale.coefficients.tolist(),
        "standard_errors": [_or_none(error) for error in fit.scale.standard_errors],
        "depth_range": list(fit.scale.depth_range),
        "rmse": fit.scale.rmse,
        "median_before": fit.median_before,
        "median_after": fit.median_after,
        "median_size_before": fit.size_before,
        "median_size_after": fit.size_after,
        "frames": [dict(zip(names, (int(row[0]), *map(float, row[1:])), strict=True)) for row in rows],
        "held_out": held_out,
        "notes": notes,
    }


def _middle(errors: Array) -> float | None:
    known = np.abs(errors[np.isfinite(errors)])
    return float(np.median(known)) if len(known) else None


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
