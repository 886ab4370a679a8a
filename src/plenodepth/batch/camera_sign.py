"""The sign of a grid's virtual depth, found once for all frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plenodepth.batch.frames import BatchFrame
from plenodepth.batch.job import load_frame
from plenodepth.batch.recipe import Recipe
from plenodepth.camera import GridCamera
from plenodepth.depth.sign import with_depth_sign
from plenodepth.errors import PlenodepthError


def with_sign(recipe: Recipe, frames: Iterable[BatchFrame]) -> Recipe:
    """The recipe whose camera tells the sign of virtual depth, if the first frame that can be read shows it."""
    if not isinstance(recipe.camera, GridCamera) or recipe.camera.configuration is not None:
        return recipe
    for frame in frames:
        try:
            camera, _ = with_depth_sign(load_frame(frame, recipe), recipe.camera)
        except PlenodepthError:  # who makes it says why
            continue
        return replace(recipe, camera=camera)
    return recipe
