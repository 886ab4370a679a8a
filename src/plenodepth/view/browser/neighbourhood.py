"""A micro-image and those that it is compared with, as a picture."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views
from plenodepth.view.browser.instrument import shown_light
from plenodepth.view.browser.probe import Surroundings

MAGNIFIED = 3  # times
OWN, FIRST, LATER = (255, 214, 0), (0, 200, 255), (150, 150, 150)  # colours of the rings


class Neighbours(NamedTuple):
    """Indices (k, l) of the micro-images that one is compared with, nearest first."""

    first: list[tuple[int, int]]  # in the first search,
    later: list[tuple[int, int]]  # and those only that come in afterwards


def neighbours_of(near: Surroundings, settings: DepthSettings) -> Neighbours:
    """The neighbours of a micro-image, with the indices of its surroundings' camera."""
    views = plan_views(near.camera, settings, near.image.noise)
    lattice = near.camera.micro_images.lattice
    assert lattice.shifted_parity is not None
    odd = (near.k if views.by_column else near.l) % 2
    steps = zip(views.step_k[odd].tolist(), views.step_l[odd].tolist(), strict=True)
    all_of_them = [(near.k + dk, near.l + dl) for dk, dl in steps]
    inside = [(k, l, i < views.swept) for i, (k, l) in enumerate(all_of_them) if lattice.contains(k, l)]
    return Neighbours([(k, l) for k, l, first in inside if first], [(k, l) for k, l, first in inside if not first])


def neighbourhood_picture(near: Surroundings, neighbours: Neighbours) -> NDArray[np.uint8]:
    """The surroundings, magnified, with a ring around the micro-image (yellow) and its neighbours (blue, then gray)."""
    import cv2

    picture: Any = cv2.resize(
        shown_light(near.image), None, fx=MAGNIFIED, fy=MAGNIFIED, interpolation=cv2.INTER_NEAREST
    )
    grid = near.camera.micro_images
    rings = [(pair, LATER, 1) for pair in neighbours.later]
    rings += [(pair, FIRST, 2) for pair in neighbours.first]
    rings += [((near.k, near.l), OWN, 3)]
    for (k, l), color, width in rings:
        u, v = (MAGNIFIED * (grid.center(k, l) + 0.5)).tolist()
        cv2.circle(picture, (round(u), round(v)), round(MAGNIFIED * grid.radius) - 1, color, width, cv2.LINE_AA)
    return np.asarray(picture, np.uint8)
