"""Coarse depth against dense truth, micro-image by micro-image, with all that may tell where it errs.

Simulated frames have `lens_depth.tiff` beside their image: the true depth through the centre of each micro-image.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import cache_key
from plenodepth.camera import PlenopticCamera, load_plenoptic_camera
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.model import MicroImageArray
from plenodepth.evaluate.maps.boundaries import boundary_distance, depth_jumps
from plenodepth.evaluate.maps.splits import lens_type_labels
from plenodepth.io import atomic_path, read_float_map
from plenodepth.metric import metric_depth_map
from plenodepth.studies.reproduction.frames import clean_frame, load_map
from plenodepth.studies.reproduction.sources import Source
from plenodepth.studies.reproduction.study import Study

TRUTH, TRUE_CAMERA = "lens_depth.tiff", "camera.yaml"
MARGIN = 2.5  # px kept from the rim of a micro-image, where devignetting leaves more noise than light
LEAST_SHARE = 0.5  # of the pixels of a micro-image that must be usable
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


def join_lens_errors(parts: list[LensErrors]) -> LensErrors:
    """The micro-images of several frames as one."""
    fields = LensErrors.__dataclass_fields__
    return LensErrors(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in fields})


def frame_lens_errors(image: Path, depth_map: Path, contrast: Path, camera: PlenopticCamera) -> LensErrors:
    """Errors of the micro-images of a frame; `depth_map` and `contrast` are files of its jobs."""
    virtual = load_map(depth_map)
    found = metric_depth_map(virtual, scaled_for(camera, virtual.aperture_model))
    truth = true_lens_depth(image, camera)
    there = np.isfinite(truth)
    return LensErrors(
        error=(found.depth / truth - 1)[there],
        sigma=(found.sigma / truth)[there],
        confidence=found.confidence[there],
        lens_type=lens_type_labels(truth.shape, camera)[there],
        boundary=boundary_distance(depth_jumps(truth))[there],
        contrast=np.load(contrast)[there],
    )


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


def measure_contrast(study: Study, name: str, image: Path, white: Path, camera: PlenopticCamera) -> Path:
    """The file with the contrast (rows, columns) of a frame's micro-images; its name begins with `name`."""
    key = cache_key({"camera": camera}, [image, white])
    work, file = study.work_folder("contrast"), f"{name}-{key[:20]}.npy"
    if not work.has(file):
        contrast = micro_image_contrast(clean_frame(image, white, camera).gray, camera.micro_images)
        with atomic_path(work / file) as temporary, temporary.open("wb") as opened:
            np.save(opened, contrast)
    return work / file


def micro_image_contrast(gray: Float32, micro_images: MicroImageArray, margin: float = MARGIN) -> Float32:
    """Standard deviation of a clean image's `gray` (h, w) inside each micro-image, (rows, columns).

    Noise is in it: a blank micro-image has the noise's. NaN where less than half of the pixels are usable (beyond the
    sensor, or NaN).
    """
    height, width = gray.shape
    center = np.rint(micro_images.center(*micro_images.lattice.indices())).astype(np.int64)
    reach = max(micro_images.radius - margin, 1.0)
    step = np.arange(-int(reach), int(reach) + 1)
    disc = [(dv, du) for dv in step.tolist() for du in step.tolist() if dv**2 + du**2 <= reach**2]
    count, total, squares = (np.zeros(center.shape[:-1]) for _ in range(3))
    for dv, du in disc:  # a few hundred steps over all micro-images at once
        v, u = center[..., 1] + dv, center[..., 0] + du
        value = gray[np.clip(v, 0, height - 1), np.clip(u, 0, width - 1)].astype(np.float64)
        usable = (v >= 0) & (v < height) & (u >= 0) & (u < width) & np.isfinite(value)
        value = np.where(usable, value, 0)
        count += usable
        total += value
        squares += value**2
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = total / count
        contrast = np.sqrt(np.maximum(squares / count - mean**2, 0))
    contrast[count < LEAST_SHARE * len(disc)] = np.nan
    return contrast.astype(np.float32)
