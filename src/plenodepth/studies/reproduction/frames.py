"""Virtual depth maps of single frames, kept as files: several experiments need the same maps."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import cache_key, content_hash
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.io import atomic_path
from plenodepth.io.images import read_image
from plenodepth.metric.dense.pixels import pixel_map
from plenodepth.metric.dense.virtual_view import virtual_view
from plenodepth.raw import clean_image
from plenodepth.raw.image import RawImage
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.jobs import Job
from plenodepth.studies.reproduction.methods import CameraModel
from plenodepth.studies.reproduction.study import Study

ARRAYS = ("virtual_depth", "sigma", "confidence", "cost", "views")
FILTERS = FilterSettings()  # of the maps that are kept
# Before maps are judged, the same for all methods: in blank squares of boards and targets noise passes for texture.
JUDGED = FilterSettings(confidence=True, consistency=True, metric_range=False)
REFINED_WEIGHT = 10.0  # a refined map takes so many times as long as a coarse one
_cameras: dict[str, PlenopticCamera] = {}


def map_job(
    dataset: Dataset,
    image: Path,
    settings: DepthSettings,
    stage: str,
    *,
    camera: CameraModel = "blur_aware",
    white: Path | None = None,
    dense: bool = False,
) -> Job[Path]:
    """Estimate the depth map of a frame. It does not depend on Γ, so methods that differ in Γ alone share it.

    `white`: by default the dataset's own white image. `dense`: the map is that of the raw image's pixels in the dense
    view, with refined settings.
    """
    searched = replace(settings, virtual_range=dataset.virtual_range)
    arguments = (dataset.calibration.name, image, white or dataset.white, dataset.model(camera), searched, dense)
    weight = REFINED_WEIGHT if settings.refined else 1.0
    return Job(estimate_map, arguments, stage, f"{dataset.name}, {image.parent.name}", weight=weight)


def estimate_map(
    study: Study,
    name: str,
    image: Path,
    white: Path,
    camera: PlenopticCamera,
    settings: DepthSettings,
    dense: bool = False,
) -> Path:
    """The file with the filtered map of a frame; its name begins with `name`."""
    camera = first_equal_camera(replace(camera, depth_scale=None, depth_scale_model="off"))
    parts = {"camera": camera, "settings": settings, "filters": FILTERS}
    key = cache_key(parts | ({"dense": DenseSettings()} if dense else {}), [image, white])
    work, file = study.work_folder("maps"), f"{name}-{key[:20]}.npz"
    if not work.has(file):
        clean, searched = clean_frame(image, white, camera), replace(settings, refined=settings.refined and not dense)
        found = estimate_virtual_depth(clean, camera, searched, threads=study.threads)
        found = apply_filters(found, camera, FILTERS, settings.virtual_range)
        if dense:
            view = virtual_view(clean, camera, found, settings, threads=study.threads)
            found = apply_filters(pixel_map(view, camera, found.aperture_model), camera, FILTERS)
        arrays: dict[str, Any] = {name: getattr(found, name) for name in ARRAYS}
        save_arrays(work / file, **arrays, refined=found.refined, model=found.aperture_model, note=found.aperture_note)
    return work / file


def load_map(path: Path) -> VirtualDepthMap:
    """The map in a file of `estimate_map`."""
    with np.load(path) as content:
        return VirtualDepthMap(
            **{name: content[name] for name in ARRAYS},
            refined=bool(content["refined"]),
            aperture_model=cast(ApertureModel, str(content["model"])),
            aperture_note=str(content["note"]),
        )


def save_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays into a compressed .npz file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def clean_frame(path: Path, white: Path, camera: PlenopticCamera) -> RawImage:
    """The raw image without its vignetting."""
    return clean_image(read_image(path), camera, white=_read_white(white), name=path.parent.name)


@lru_cache(maxsize=2)
def _read_white(path: Path) -> NDArray[Any]:
    return read_image(path)


def first_equal_camera(camera: PlenopticCamera) -> PlenopticCamera:
    """The first camera with the same content that this process has seen.

    Some tables of a camera are cached by the object, and each job brings an object of its own.
    """
    return _cameras.setdefault(content_hash(camera), camera)
