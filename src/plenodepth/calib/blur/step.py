"""The step of a calibration on files that finds κ: skipped if up to date.

The work folder gets its record, `kappa.json`, which holds κ and what it comes from. No more images are held at a time
than there are threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.cache import WorkFolder, cache_key, file_hash
from plenodepth.calib.blur.kappa import BlurCoefficientFit, kappa_of_pairs
from plenodepth.calib.blur.pairs import BlurPairs, blur_pairs
from plenodepth.calib.feature_check import require_features_of
from plenodepth.calib.features import Features
from plenodepth.calib.image_list import ListedImage
from plenodepth.camera.micro_lenses import require_blur
from plenodepth.camera.model import Array, PlenopticCamera, Provenance
from plenodepth.errors import InputError
from plenodepth.io.images import read_image
from plenodepth.progress import Progress, no_progress
from plenodepth.raw import clean_image

RECORD = "kappa.json"
NOTE = "κ = "  # how the note about κ begins, in a camera's provenance


@dataclass(frozen=True, eq=False)
class KappaStep:
    """The camera with κ; the record has `kappa`, `standard_error`, `pairs`, `outliers`, `frames` and `notes`."""

    camera: PlenopticCamera
    record: dict[str, Any]
    fresh: bool  # made now


def kappa_step(
    boards: Sequence[ListedImage],
    white: Path | None,
    features: Features,
    camera: PlenopticCamera,
    work: WorkFolder,
    progress: Progress = no_progress,
    *,
    threads: int = 1,
) -> KappaStep:
    """κ by the images of boards and the features found in them, with clusters and blur radii.

    `camera` needs lens types and the grid that the features were found with; `white` is a white image at the aperture
    of the boards. Frames without an image, and images without features, are left out. Each thread takes some 0.4 GB.
    """
    require_blur(camera)
    require_features_of(features, camera)
    shown = frames_with_features(boards, features)
    files = [image.path for image in shown] + ([white] if white else [])
    frames = [image.frame for image in shown]
    settings = {
        "camera": camera,
        "features": features,
        "frames": [image.frame for image in boards],
    }
    key = cache_key(settings, files)
    known = work.kept(RECORD, key)
    if known is not None:
        return KappaStep(_with_kappa(camera, known), known, False)
    white_image = None if white is None else read_image(white)
    done = 0

    def one(image: ListedImage) -> BlurPairs:
        nonlocal done
        clean = clean_image(read_image(image.path), camera, white=white_image, name=str(image.path))
        pairs = blur_pairs(features.where(features.frame == image.frame), clean.gray, camera)
        done += 1
        progress(done, len(shown), f"κ: {image_name(image.path)}")
        return pairs

    progress(0, len(shown), "κ")
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(one, shown))
    fit = kappa_of_pairs(BlurPairs.joined(parts))
    known = work.keep(RECORD, key, [], _content(fit, frames, files, notes_on_frames(boards, features)))
    return KappaStep(_with_kappa(camera, known), known, True)


def frames_with_features(boards: Sequence[ListedImage], features: Features) -> list[ListedImage]:
    """The images that features were found in; an `InputError` where there is none."""
    there = set(features.frames.tolist())
    shown = [image for image in boards if image.frame in there]
    if not shown:
        raise InputError(
            f"are of frames {_some(sorted(there))}, the images are {_some(sorted(image.frame for image in boards))}",
            field="features",
            fix="give the images that the features were found in, or number them in a manifest.yaml",
        )
    return shown


def notes_on_frames(boards: Sequence[ListedImage], features: Features) -> list[str]:
    """Which frames are left out: those without an image, and images without features."""
    images, there = {image.frame for image in boards}, set(features.frames.tolist())
    without = {"have features but no image": there - images, "are images without features": images - there}
    return [f"left out: frames {_some(sorted(frames))} {what}" for what, frames in without.items() if frames]


def image_name(path: Path) -> str:
    """What tells a file from the others: its folder where it is called raw, as simulated ones are."""
    return path.parent.name if path.stem == "raw" else path.name


def with_note(provenance: Provenance, begins: str, note: str) -> Provenance:
    """The note added, instead of an earlier one that begins like it."""
    kept = tuple(old for old in provenance.notes if not old.startswith(begins))
    return replace(provenance, notes=(*kept, note))


def _with_kappa(camera: PlenopticCamera, record: dict[str, Any]) -> PlenopticCamera:
    kappa = float(record["kappa"])
    note = f"{NOTE}{kappa:.4f} ± {record['standard_error']:.4f}, from {record['pairs']} pairs of views"
    provenance = with_note(camera.provenance, NOTE, note)
    return replace(camera, blur_coefficient=kappa, blur_operator="depth", provenance=provenance)


def _content(
    fit: BlurCoefficientFit, frames: Sequence[int], files: Sequence[Path], notes: Sequence[str]
) -> dict[str, Any]:
    silent = sorted(set(frames) - set(fit.frame.tolist()))
    error = frame_errors(fit)
    return {
        "kappa": fit.kappa,
        "standard_error": fit.standard_error,
        "pairs": len(fit.pairs),
        "outliers": fit.outliers,
        "frames": [
            {
                "frame": int(frame),
                "kappa": _or_none(fit.frame_kappa[index]),
                "standard_error": _or_none(error[index]),
                "pairs": int((fit.pairs.frame == frame).sum()),
            }
            for index, frame in enumerate(fit.frame)
        ],
        "notes": [*notes, *([f"frames {_some(silent)} tell nothing about κ"] if silent else [])],
        "images": {str(path): file_hash(path) for path in files},
    }


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


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _some(numbers: Sequence[int], most: int = 5) -> str:
    shown = ", ".join(map(str, numbers[:most]))
    return f"{shown}, …" if len(numbers) > most else shown
