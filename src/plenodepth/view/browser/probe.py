"""What is known of one place of the raw image: its micro-image, its depth, its point, its neighbours, its blur."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenodepth.camera import GridCamera, PlenopticCamera, cropped_camera
from plenodepth.camera.blur import blur_line
from plenodepth.camera.depth import scaled_for, unscaled_depth, virtual_from_metric
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.camera.projection import lenses_that_see, project, unproject
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.image import RawImage

if TYPE_CHECKING:
    from plenodepth.depth.curves import CostCurve

Camera = PlenopticCamera | GridCamera
Float32 = NDArray[np.float32]

AROUND = 5.5  # pitches to each side of a micro-image: farther than any view that it is compared with


@dataclass(frozen=True, eq=False)
class FrameMaps:
    """The maps of a frame, per micro-image (rows, columns) or per pixel (h, w)."""

    depth: Float32  # mm, or virtual depth of a camera known by its grid
    sigma: Float32 | None  # of the depth
    confidence: Float32 | None
    aperture_model: ApertureModel
    metric: bool


@dataclass(frozen=True)
class Probe:
    """One place of the raw image; None: not known, or not there."""

    pixel: tuple[float, float]  # (u, v)
    k: int
    l: int
    center: tuple[float, float]  # of the micro-image, px
    lens_type: int  # −1 for pinholes
    virtual_depth: float | None
    depth: float | None  # mm
    sigma: float | None  # mm, or of the virtual depth where there are no mm
    confidence: float | None
    point: tuple[float, float, float] | None  # mm, camera frame
    blur: tuple[float, ...]  # px: signed radius ρ of each lens type at this depth


def probe_pixel(uv: ArrayLike, camera: Camera, maps: FrameMaps | None) -> Probe | None:
    """What is known of a pixel (u, v); None beyond the array."""
    u, v = (float(value) for value in np.asarray(uv, np.float64))
    k, l = (int(index) for index in camera.micro_images.owner([u, v]))
    if k < 0:
        return None
    center = camera.micro_images.center(k, l)
    found = Probe((u, v), k, l, (float(center[0]), float(center[1])), int(camera.micro_images.lens_type(k, l)),
                  None, None, None, None, None, ())  # fmt: skip
    if maps is None:
        return found
    lattice = camera.micro_images.lattice
    coarse = maps.depth.shape == (lattice.rows, lattice.columns)
    height, width = maps.depth.shape
    place = (l, k) if coarse else (min(max(round(v), 0), height - 1), min(max(round(u), 0), width - 1))
    depth, sigma, confidence = (_at(values, place) for values in (maps.depth, maps.sigma, maps.confidence))
    found = replace(found, sigma=sigma, confidence=confidence)
    if depth is None:
        return found
    if not maps.metric or isinstance(camera, GridCamera):
        return replace(found, virtual_depth=depth)
    scaled = scaled_for(camera, maps.aperture_model)
    virtual = float(virtual_from_metric(depth, scaled, k, l, invalid="nan"))
    point = unproject([u, v], k, l, virtual, scaled, apparent=maps.aperture_model != "off")
    return replace(
        found,
        depth=depth,
        virtual_depth=virtual if np.isfinite(virtual) else None,
        point=(float(point[0]), float(point[1]), float(point[2])) if np.isfinite(point).all() else None,
        blur=_blur(virtual, scaled, k, l),
    )


def _at(values: Float32 | None, place: tuple[int, int]) -> float | None:
    return float(values[place]) if values is not None and np.isfinite(values[place]) else None


def _blur(virtual_depth: float, camera: PlenopticCamera, k: int, l: int) -> tuple[float, ...]:
    if not camera.type_count or not np.isfinite(virtual_depth):
        return ()
    line = blur_line(camera, k, l)
    return tuple(float(line.radius(virtual_depth, lens_type)) for lens_type in range(camera.type_count))


def pixel_of_point(point: ArrayLike, camera: PlenopticCamera) -> tuple[float, float] | None:
    """The pixel (u, v) that shows a point (3,) mm nearest to the centre of its micro-image; None: no pixel does.

    The camera's Γ is undone: it must be that of the maps (`scaled_for`).
    """
    measured = np.asarray(point, np.float64)
    imaged = measured * (unscaled_depth(measured[2], camera) / measured[2])
    seen = lenses_that_see(imaged[None], camera)
    if not len(seen.k):
        return None
    uv = project(imaged, seen.k, seen.l, camera).uv
    offset = np.linalg.norm(uv - camera.micro_images.center(seen.k, seen.l), axis=-1)
    if np.isnan(offset).all():
        return None
    u, v = uv[np.nanargmin(offset)]
    return float(u), float(v)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The part of an image around a micro-image, with a camera of its own, in which that has another index."""

    image: RawImage
    camera: Camera
    k: int
    l: int
    corner: tuple[int, int]  # pixel of the whole image that is the part's first


def surroundings(image: RawImage, camera: Camera, k: int, l: int) -> Surroundings:
    """The part that holds all views of micro-image (k, l): of a full frame, its curves take a tenth of the time.

    Costs are those of the whole image, but where the aperture's effect is undone: D and d are then those of the part's
    middle, and costs differ by a hundredth (estimates by less than half a σ).
    """
    width, height = image_size(camera)
    center, reach = camera.micro_images.center(k, l), AROUND * camera.micro_images.lattice.diameter
    left, top = (int(max(np.floor(value - reach), 0)) for value in center)
    right, bottom = (int(min(np.ceil(center[axis] + reach) + 1, end)) for axis, end in enumerate((width, height)))
    rows, columns = slice(top, bottom), slice(left, right)
    part = replace(
        image,
        gray=np.ascontiguousarray(image.gray[rows, columns]),
        color=None if image.color is None else np.ascontiguousarray(image.color[rows, columns]),
    )
    own = cropped_camera(camera, (left, top), (right - left, bottom - top))
    own_k, own_l = (int(index) for index in own.micro_images.owner(center - [left, top]))
    return Surroundings(part, own, own_k, own_l, (left, top))


def curves_of(near: Surroundings, settings: DepthSettings, model: ApertureModel) -> dict[str, CostCurve]:
    """The cost curves of a micro-image, blur aware (B) and by disparity only (D), by the model of its map."""
    from plenodepth.depth.curves import cost_curve  # with Numba: half a second

    chosen = replace(settings, aperture_model=model, kernel="cpu")
    return {
        name: cost_curve(near.image, near.camera, near.k, near.l, replace(chosen, blur=blur))
        for name, blur in (("B", True), ("D", False))
    }
