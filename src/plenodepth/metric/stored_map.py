"""A frame's virtual depth, back from the files that `write_frame` made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plenodepth.camera.model import ApertureModel
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.errors import InputError
from plenodepth.io import parse_by_suffix, read_float_map, read_text

VIRTUAL = ".virtual.tiff"
MODELS: dict[str, ApertureModel] = {"off": "off", "slope": "slope", "per_pixel": "per_pixel"}


def is_virtual_map(path: Path) -> bool:
    """Whether a file is named as the virtual depth of a frame, NAME.virtual.tiff."""
    return path.name.lower().endswith(VIRTUAL)


def read_virtual_map(path: Path) -> VirtualDepthMap:
    """The map of NAME.virtual.tiff; NAME.json beside it says which aperture model made it, and whether it is refined.

    What the files do not hold (σ, cost, views) is missing in the map.
    """
    record_path = path.with_name(path.name[: -len(VIRTUAL)] + ".json")
    record = parse_by_suffix(read_text(record_path), record_path)
    try:
        model, refined = MODELS[record["aperture_model"]], bool(record["settings"]["depth"]["refined"])
    except (KeyError, TypeError):
        raise InputError("names no aperture_model and settings.depth.refined", file=record_path) from None
    depth = read_float_map(path)
    none = np.full(depth.shape, np.nan, np.float32)
    present = np.isfinite(depth)
    return VirtualDepthMap(
        depth, none, present.astype(np.float32), none, np.zeros(depth.shape, np.int16), refined, model
    )
