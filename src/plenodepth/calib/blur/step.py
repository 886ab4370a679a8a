"""The step of a calibration that finds the blur coefficient κ.

The work folder gets the record `kappa.json`. The step is skipped if it is up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.blur.kappa import BlurCoefficientFit, kappa_of_pairs
from plenodepth.calib.blur.pairs import BlurPairs, blur_pairs
from plenodepth.calib.features import Features, require_features_of
from plenodepth.calib.image_list import (
    ListedImage,
    ReadImage,
    clean_board_image,
    first_few,
    frames_with_features,
    image_name,
    notes_on_frames,
)
from plenodepth.calib.records import finite, keep_record, kept_record
from plenodepth.camera.micro_lenses import require_blur
from plenodepth.camera.model import Array, PlenopticCamera, Provenance
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress

RECORD = "kappa.json"
NOTE = "κ = "  # how the note about κ begins, in a camera's provenance


@dataclass(frozen=True)
class FrameKappa:
    """κ by one frame alone; None where the frame does not tell it."""

    frame: int
    kappa: float | None
    standard_error: float | None
    pairs: int


@dataclass(frozen=True)
class KappaRecord:
    """What the step found."""

    kappa: float
    standard_error: float
    pairs: int  # pairs of views of a corner through lenses of different types
    outliers: float  # share of them that does not count
    frames: tuple[FrameKappa, ...]
    notes: tuple[str, ...]
    images: dict[str, str]  # path: SHA-256


@dataclass(frozen=True, eq=False)
class KappaStep:
    """The camera with κ, and what κ rests on."""

    camera: PlenopticCamera
    record: KappaRecord
    fresh: bool  # made now, not by an earlier run


def kappa_step(
    boards: Sequence[ListedImage],
    features: Features,
    camera: PlenopticCamera,
    work: WorkFolder,
    *,
    white: Path | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
    read: ReadImage = read_image,
) -> KappaStep:
    """κ by the images of boards and the features found in them, with clusters and blur radii.

    `camera` needs lens types and the grid that the features were found with; `white` is a white image at the aperture
    of the boards. Frames without an image, and images without features, are left out. Each thread takes some 0.4 GB.
    """
    require_blur(camera)
    require_features_of(features, camera)
    shown = frames_with_features(boards, features)
    files = [image.path for image in shown] + ([white] if white else [])
    # κ does not depend on an earlier κ, nor on the camera's name and history.
    optics = replace(camera, name="", provenance=Provenance(), blur_coefficient=None, blur_operator="gaussian")
    frames = [image.frame for image in boards]
    key = cache_key({"camera": optics, "features": features, "frames": frames}, files)
    record = kept_record(KappaRecord, work, RECORD, key)
    fresh = record is None
    if record is None:
        pairs = _pairs(shown, features, camera, white, threads, progress, read)
        record = _record(kappa_of_pairs(pairs), shown, files, notes_on_frames(boards, features))
        keep_record(record, work, RECORD, key)
    return KappaStep(_with_kappa(camera, record), record, fresh)


def _pairs(
    shown: Sequence[ListedImage],
    features: Features,
    camera: PlenopticCamera,
    white: Path | None,
    threads: int,
    progress: Progress,
    read: ReadImage,
) -> BlurPairs:
    white_image = None if white is None else read(white)
    done = 0

    def pairs_of(image: ListedImage) -> BlurPairs:
        nonlocal done
        clean = clean_board_image(image, camera, white_image, white, read)
        pairs = blur_pairs(features.where(features.frame == image.frame), clean.gray, camera)
        done += 1
        progress(done, len(shown), f"κ: {image_name(image.path)}")
        return pairs

    progress(0, len(shown), "κ")
    with ThreadPoolExecutor(threads) as pool:
        return BlurPairs.joined(list(pool.map(pairs_of, shown)))


def with_note(provenance: Provenance, begins: str, note: str) -> Provenance:
    """The provenance with a note, which replaces an earlier note with the same beginning."""
    kept = tuple(old for old in provenance.notes if not old.startswith(begins))
    return replace(provenance, notes=(*kept, note))


def _with_kappa(camera: PlenopticCamera, record: KappaRecord) -> PlenopticCamera:
    note = f"{NOTE}{record.kappa:.4f} ± {record.standard_error:.4f}, from {record.pairs} pairs of views"
    provenance = with_note(camera.provenance, NOTE, note)
    return replace(camera, blur_coefficient=record.kappa, blur_operator="depth", provenance=provenance)


def _record(
    fit: BlurCoefficientFit, shown: Sequence[ListedImage], files: Sequence[Path], notes: Sequence[str]
) -> KappaRecord:
    silent = sorted({image.frame for image in shown} - set(fit.frame.tolist()))
    error = frame_errors(fit)
    frames = tuple(
        FrameKappa(
            int(frame), finite(fit.frame_kappa[index]), finite(error[index]), int((fit.pairs.frame == frame).sum())
        )
        for index, frame in enumerate(fit.frame)
    )
    return KappaRecord(
        kappa=float(fit.kappa),
        standard_error=float(fit.standard_error),
        pairs=len(fit.pairs),
        outliers=fit.outliers,
        frames=frames,
        notes=(*notes, *([f"frames {first_few(silent)} tell nothing about κ"] if silent else [])),
        images={str(path): file_hash(path) for path in files},
    )


def frame_errors(fit: BlurCoefficientFit) -> Array:
    """Standard errors (f,) of κ by each frame alone, from the scatter of its clusters; NaN where it has but one."""
    errors = np.full(len(fit.frame), np.nan)
    for index, frame in enumerate(fit.frame):
        mine = fit.pairs.frame == frame
        weight, gain = fit.weights[mine], fit.pairs.gain[mine]
        kappa, total = fit.frame_kappa[index], float((weight * gain).sum())
        if not (kappa > 0 and total > 0):
            continue
        missed = weight * (fit.pairs.response[mine] - kappa**2 * gain)
        _, cluster = np.unique(fit.pairs.cluster[mine], return_inverse=True)
        squares, count = np.bincount(cluster.reshape(-1), missed) ** 2, int(cluster.max()) + 1
        if count > 1:
            errors[index] = np.sqrt(squares.sum() * count / (count - 1)) / total / (2 * kappa)
    return errors
