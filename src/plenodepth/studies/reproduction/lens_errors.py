"""Coarse depth against dense truth, micro-image by micro-image, with all that may tell where it errs.

Simulated frames have `lens_depth.tiff` beside their image: the true depth through the centre of each micro-image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import cache_key
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera
from plenodepth.camera.depth import scaled_for
from plenodepth.evaluate.maps.boundaries import boundary_distance, depth_jumps
from plenodepth.evaluate.maps.splits import lens_type_labels
from plenodepth.io import atomic_path, read_float_map
from plenodepth.metric import metric_depth_map
from plenodepth.studies.reproduction.contrast import micro_image_contrast
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.frames import clean_frame, virtual_map
from plenodepth.studies.reproduction.methods import Method
from plenodepth.studies.reproduction.scale_by_boards import scaled_camera
from plenodepth.studies.reproduction.sources import Source
from plenodepth.studies.reproduction.study import Study

TRUTH, TRUE_CAMERA = "lens_depth.tiff", "camera.yaml"
Float32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LensErrors:
    """Micro-images (n,) of all frames that have a true depth; errors and σ are in parts of it (0.01 = 1 %)."""

    error: Float32  # signed, positive: too far; NaN where no depth was found
    sigma: Float32  # predicted standard deviation of the error
    confidence: Float32  # in [0, 1]
    lens_type: NDArray[np.int32]
    boundary: Float32  # micro-images from the next jump of the true depth; ∞ in a frame without any
    contrast: Float32  # of the clean micro-image


def frames_with_truth(source: Source) -> list[Path]:
    """Images of targets and scenes beside which a dense truth lies; none of photographed data."""
    images = [*(shot.path for shot in source.shots), *(scene.image for scene in source.scenes.values())]
    return [path for path in images if path.with_name(TRUTH).is_file() and path.with_name(TRUE_CAMERA).is_file()]


def lens_errors(study: Study, dataset: Dataset, method: Method, images: Sequence[Path]) -> LensErrors:
    """Of all images together; their depth maps are those of the other experiments."""
    camera = scaled_camera(study, dataset, method)
    parts = []
    for index, path in enumerate(images):
        study.progress(index, len(images), f"{dataset.name}, {method.label}: {path.parent.name}")
        parts.append(_frame(study, dataset, method, camera, path))
    fields = LensErrors.__dataclass_fields__
    return LensErrors(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields})


def true_lens_depth(path: Path, camera: PlenopticCamera) -> Float32:
    """True depth (rows, columns), mm, beside an image, for the micro-images of a calibrated camera.

    Its lattice may begin at another micro-image than that of the true camera: each takes the truth of the nearest.
    """
    truth = read_float_map(path.with_name(TRUTH))
    lattice = camera.micro_images.lattice
    k, l = load_plenoptic_camera(path.with_name(TRUE_CAMERA)).micro_images.owner(
        camera.micro_images.center(*lattice.indices())
    )
    return np.where(k >= 0, truth[l, k], np.float32(np.nan))


def _frame(study: Study, dataset: Dataset, method: Method, camera: PlenopticCamera, path: Path) -> LensErrors:
    virtual = virtual_map(study, dataset, path, method)
    found = metric_depth_map(virtual, scaled_for(camera, virtual.aperture_model))
    truth = true_lens_depth(path, camera)
    there = np.isfinite(truth)
    return LensErrors(
        error=(found.depth / truth - 1)[there],
        sigma=(found.sigma / truth)[there],
        confidence=found.confidence[there],
        lens_type=lens_type_labels(camera, truth.shape)[there],
        boundary=boundary_distance(depth_jumps(truth))[there],
        contrast=_contrast(study, dataset, path)[there],
    )


def _contrast(study: Study, dataset: Dataset, path: Path) -> Float32:
    """Contrast of a frame's micro-images (rows, columns); kept, since cleaning a full image takes a second or two."""
    key = cache_key({"camera": dataset.camera}, [path, dataset.white])
    work, name = study.work(study.folder("contrast")), f"{dataset.name}-{key[:20]}.npy"
    kept = work / name
    if work.has(name):
        return np.asarray(np.load(kept))
    gray = clean_frame(path, dataset.camera, dataset.white).gray
    contrast = micro_image_contrast(gray, dataset.camera.micro_images)
    with atomic_path(kept) as temporary, temporary.open("wb") as file:
        np.save(file, contrast)
    return contrast
