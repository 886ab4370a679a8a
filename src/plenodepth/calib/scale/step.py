"""The step of a calibration that finds the depth scale Γ: depth of board images, scale errors, fit.

The work folder gets the record `scale.json`. The step is skipped if it is up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.blur.step import with_note
from plenodepth.calib.features import Board, Features, require_corners_of, require_features_of
from plenodepth.calib.image_list import (
    ListedImage,
    clean_board_image,
    frames_with_features,
    image_name,
    notes_on_frames,
)
from plenodepth.calib.records import finite, keep_record, kept_record
from plenodepth.calib.scale.boards import BoardScaleFit, fit_board_scale
from plenodepth.calib.scale.fit import ScaleOrder
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel, Array, Provenance
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.relative_blur import used_kappa
from plenodepth.depth.settings import DepthSettings
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress

RECORD = "scale.json"
NOTE = "Γ: "  # how the note about Γ begins, in a camera's provenance
WINDOW = 1  # px to each side, whose median is the depth at a feature of a refined map


@dataclass(frozen=True)
class ScaleCorrection:
    """Relative scale errors of a board, positive where it was found too small, and its weight in the fit."""

    frame: int
    distance: float  # mm, without Γ
    before: float
    after: float
    weight: float


@dataclass(frozen=True)
class HeldOutErrors:
    """Scale errors of boards that the fit has not seen: their median size, and each (None: not known)."""

    median: float | None
    errors: tuple[float | None, ...]


@dataclass(frozen=True)
class ScaleRecord:
    """What the step found."""

    aperture_model: ApertureModel  # that Γ is for
    refined: bool  # whether the depth maps were
    order: ScaleOrder
    best_order: ScaleOrder  # by cross-validation
    depth_scale: tuple[float, ...]  # γ0 (mm), γ1, γ2 (1/mm)
    standard_errors: tuple[float | None, ...]
    depth_range: tuple[float, float]  # mm
    rmse: float
    median_before: float
    median_after: float
    median_size_before: float
    median_size_after: float
    frames: tuple[ScaleCorrection, ...]
    held_out: dict[str, HeldOutErrors]  # by order
    notes: tuple[str, ...]
    images: dict[str, str] = field(default_factory=dict)  # path: SHA-256


@dataclass(frozen=True, eq=False)
class ScaleStep:
    """The camera with Γ, and what Γ rests on."""

    camera: PlenopticCamera
    record: ScaleRecord
    fresh: bool  # made now, not by an earlier run


def scale_step(
    boards: Sequence[ListedImage],
    features: Features,
    board: Board,
    camera: PlenopticCamera,
    work: WorkFolder,
    *,
    white: Path | None = None,
    order: ScaleOrder | None = None,
    settings: DepthSettings | None = None,
    filters: FilterSettings | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
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
    bare = replace(camera, depth_scale=None, depth_scale_model="off")
    values = {
        "camera": replace(bare, name="", provenance=Provenance()),
        "features": features,
        "frames": [image.frame for image in boards],
        "board": board,
        "order": order,
        "depth": chosen,
        "kappa": used_kappa(camera, chosen),
        "filters": filters,
    }
    key = cache_key(values, files)
    known = kept_record(ScaleRecord, work, RECORD, key)
    if known is not None:
        return ScaleStep(with_scale(camera, known), known, False)
    white_image = None if white is None else read_image(white)

    def map_of(image: ListedImage) -> VirtualDepthMap:
        nonlocal chosen
        clean = clean_board_image(image, bare, white_image, white)
        found = estimate_virtual_depth(clean, bare, chosen, threads=threads)
        chosen = replace(chosen, aperture_model=found.aperture_model)
        return apply_filters(found, bare, filters, chosen.virtual_range)

    found = board_depths(shown, features, map_of, lambda done, total, path: progress(done, total, f"scale: {path}"))
    fit = fit_board_scale(features, found.depth, board, bare, order, apparent=found.aperture_model != "off")
    notes = sorted({*found.notes, *notes_on_frames(boards, features)})
    record = scale_record(fit, found.aperture_model, chosen.refined, notes)
    record = replace(record, images={str(path): file_hash(path) for path in files})
    keep_record(record, work, RECORD, key)
    return ScaleStep(with_scale(camera, record), record, True)


class BoardDepths(NamedTuple):
    """Virtual depth at the features of boards."""

    depth: Array  # (n,) virtual; NaN: none
    aperture_model: ApertureModel  # that was undone
    notes: frozenset[str]  # about it


def board_depths(
    images: Sequence[ListedImage],
    features: Features,
    map_of: Callable[[ListedImage], VirtualDepthMap],
    progress: Progress = no_progress,
) -> BoardDepths:
    """Virtual depth at the features of images. `map_of` gives the filtered depth map of an image."""
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


def with_scale(camera: PlenopticCamera, record: ScaleRecord) -> PlenopticCamera:
    """The camera with the Γ of a record, and a note about it."""
    note = (
        f"{NOTE}{record.order}, for aperture model {record.aperture_model}, by {len(record.frames)} boards at "
        f"{record.depth_range[0]:.0f} to {record.depth_range[1]:.0f} mm; median scale error "
        f"{100 * record.median_before:+.3f} % before, {100 * record.median_after:+.3f} % after"
    )
    provenance = with_note(camera.provenance, NOTE, note)
    residuals = {**provenance.residuals, "depth_scale": record.rmse}
    return replace(
        camera,
        depth_scale=np.array(record.depth_scale),
        depth_scale_model=record.aperture_model,
        provenance=replace(provenance, residuals=residuals),
    )


def scale_record(fit: BoardScaleFit, model: ApertureModel, refined: bool, notes: Sequence[str]) -> ScaleRecord:
    """What a fit found, with a note where Γ is no gain."""
    held_out: dict[str, HeldOutErrors] = {
        order: HeldOutErrors(_median_size(errors), tuple(map(finite, errors))) for order, errors in fit.held_out.items()
    }
    tested = held_out[fit.scale.order].median if fit.scale.order in held_out else None
    if fit.size_after >= fit.size_before or (tested is not None and tested >= fit.size_before):
        notes = [*notes, "boards have no better sizes with this Γ than without: use the camera without it"]
    rows = zip(fit.frame, fit.distance, fit.before, fit.after, fit.scale.weights, strict=True)
    near, far = fit.scale.depth_range
    return ScaleRecord(
        aperture_model=model,
        refined=refined,
        order=fit.scale.order,
        best_order=fit.best_order,
        depth_scale=tuple(fit.scale.coefficients.tolist()),
        standard_errors=tuple(map(finite, fit.scale.standard_errors)),
        depth_range=(float(near), float(far)),
        rmse=float(fit.scale.rmse),
        median_before=float(fit.median_before),
        median_after=float(fit.median_after),
        median_size_before=float(fit.size_before),
        median_size_after=float(fit.size_after),
        frames=tuple(ScaleCorrection(int(row[0]), *map(float, row[1:])) for row in rows),
        held_out=held_out,
        notes=tuple(notes),
    )


def _median_size(errors: Array) -> float | None:
    known = np.abs(errors[np.isfinite(errors)])
    return float(np.median(known)) if len(known) else None
