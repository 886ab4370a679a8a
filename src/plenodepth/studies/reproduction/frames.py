"""Depth of single frames by a method, kept on disk: several experiments need the same maps."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from plenodepth.cache import cache_key
from plenodepth.camera import PlenopticCamera
from plenodepth.camera.model import ApertureModel
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.filters import FilterSettings, apply_filters
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.io import atomic_path
from plenodepth.io.images import read_image
from plenodepth.raw import clean_image
from plenodepth.raw.image import RawImage
from plenodepth.studies.reproduction.datasets import Dataset
from plenodepth.studies.reproduction.methods import Method
from plenodepth.studies.reproduction.sources import RECIPES
from plenodepth.studies.reproduction.study import Study

ARRAYS = ("virtual_depth", "sigma", "confidence", "cost", "views")
FILTERS = FilterSettings()  # of what is kept
# Of what is judged, the same for all methods: in blank squares of boards and targets noise passes for texture.
JUDGED = FilterSettings(confidence=True, consistency=True, metric_range=False)


def clean_frame(path: Path, camera: PlenopticCamera, white: Path) -> RawImage:
    """The raw image without its vignetting."""
    return clean_image(read_image(path), camera, white=_white(white), name=path.parent.name)


def virtual_map(
    study: Study, dataset: Dataset, path: Path, method: Method, white: Path | None = None
) -> VirtualDepthMap:
    """The filtered map of a frame; it does not depend on Γ, so that methods with and without share it.

    `white`: by default the dataset's own white image.
    """
    white = white or dataset.white
    camera = replace(dataset.model(method.camera), depth_scale=None, depth_scale_model="off")
    settings = replace(method.settings, virtual_range=RECIPES[dataset.name].virtual_range)
    made_of = {"camera": camera, "settings": settings, "filters": FILTERS}
    key = cache_key(made_of, [path, white])
    work, name = study.work(study.folder("maps")), f"{dataset.work.name}-{key[:20]}.npz"
    kept = work / name
    if work.has(name):
        return _read(kept)
    found = estimate_virtual_depth(clean_frame(path, camera, white), camera, settings, threads=study.threads)
    found = apply_filters(found, camera, FILTERS, settings.virtual_range)
    with atomic_path(kept) as temporary, temporary.open("wb") as file:
        arrays: dict[str, Any] = {name: getattr(found, name) for name in ARRAYS}
        np.savez_compressed(file, **arrays, refined=found.refined, model=found.aperture_model, note=found.aperture_note)
    return found


def _read(path: Path) -> VirtualDepthMap:
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in ARRAYS}
        model = cast(ApertureModel, str(kept["model"]))
        return VirtualDepthMap(
            **arrays, refined=bool(kept["refined"]), aperture_model=model, aperture_note=str(kept["note"])
        )


@lru_cache(maxsize=2)
def _white(path: Path) -> NDArray[Any]:
    return read_image(path)
