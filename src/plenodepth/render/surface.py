"""The surface that a view sees: that of the dense central view, and as other places in the pupil see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from plenodepth.camera import GridCamera, PlenopticCamera, virtual_from_metric
from plenodepth.camera.depth import scaled_for
from plenodepth.camera.micro_lenses import depth_sign
from plenodepth.camera.model import ApertureModel
from plenodepth.errors import InputError
from plenodepth.io.srgb import light_of_numbers
from plenodepth.metric.dense.light import in_pixels
from plenodepth.metric.dense.places import lens_places, nearest_lenses
from plenodepth.metric.dense.surfaces import SAME_SURFACE
from plenodepth.metric.result import DepthResult
from plenodepth.raw.image import RawImage
from plenodepth.render.kernels.surfaces import enlarge_surface, fill_hidden, warp_surface
from plenodepth.render.places import ViewPlaces, shift_per_offset, view_places
from plenodepth.threads import each_band

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]
Value = TypeVar("Value", bound=np.generic)

MIDDLE = 0.275  # 1/v: of the range in which depth is searched


@dataclass(frozen=True, eq=False)
class ViewSurface:
    """What a view sees (h, w), in pixels of the dense view, with where it sees the lenses' pixels."""

    image: RawImage
    camera: PlenopticCamera | GridCamera
    model: ApertureModel
    inverse: Float32  # 1/v, everywhere
    relative_sigma: Float32  # standard deviation of the depth, relative
    confidence: Float32
    filled: Bool  # the depth is that of what lies around
    places: ViewPlaces
    offset: tuple[float, float] = (0.0, 0.0)  # of the viewpoint from the pupil's middle: mm, or px of a micro-image
    converge: float = np.inf  # depth of what stays where it is
    viewpoint: tuple[float, float] = (0.0, 0.0)  # the offset in radii of the pupil

    def enlarged(self, values: Float32, shape: tuple[int, int], scale: float) -> Float32:
        """Values of 1/v (h, w) for pixels of another size, between them where they are of one surface."""
        out, ratio = np.empty(shape, np.float32), np.float32(self.places.scale / scale)
        same = np.float32(SAME_SURFACE)
        each_band(shape[0], lambda rows: enlarge_surface(rows.start, rows.stop, values, ratio, same, out))
        return out

    def repeated(self, values: NDArray[Value], shape: tuple[int, int], scale: float) -> NDArray[Value]:
        """Values (h, w) for pixels of another size, each that of the pixel around it."""
        rows, columns = (
            np.minimum((np.arange(side) + 0.5) * scale / self.places.scale, limit - 1).astype(int)
            for side, limit in zip(shape, values.shape, strict=True)
        )
        return np.asarray(values[rows[:, None], columns])


def central_surface(depth: DepthResult) -> ViewSurface:
    """The surface of a result that has a dense central view; pixels without a depth get that of the nearest one."""
    view, camera, model = depth.dense, depth.camera, depth.virtual.aperture_model
    if view is None:
        raise InputError("has no dense view", field="depth", fix="estimate it with DenseSettings(enabled=True)")
    known = np.isfinite(view.depth)
    if not known.any():
        raise InputError(
            "no pixel has a depth, so nothing can be rendered",
            file=depth.name,
            fix="an image needs texture, and a camera that fits it",
        )
    if isinstance(camera, PlenopticCamera):
        camera = scaled_for(camera, model)
        inverse = _inverse_of(view.depth, camera, view.scale)
        known &= np.isfinite(inverse)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = np.float32(1) / view.depth
    nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    inverse = np.ascontiguousarray(inverse[tuple(nearest)], np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = (view.sigma / np.abs(view.depth))[tuple(nearest)]
    places = view_places(camera, float(inverse.min()), float(inverse.max()), view.scale)
    return ViewSurface(
        linear_image(depth.image), camera, model, inverse, relative, view.confidence, view.filled | ~known, places
    )


def pupil_radius(camera: PlenopticCamera | GridCamera) -> float:
    """Of the pupil, mm; of a camera that is known by its grid only, that of a micro-image, px, which is its picture."""
    if isinstance(camera, GridCamera):
        return camera.micro_images.radius
    diameter = camera.main_lens.aperture_diameter
    if diameter is None:
        raise InputError(f"camera '{camera.name}' has none", field="main_lens.f_number", fix="give the aperture")
    return diameter / 2


def converging_depth(central: ViewSurface, converge: float | None) -> float:
    """The depth that stays where it is: the given one; by default infinity, or of a virtual view its median depth."""
    if converge is None:
        return float(np.median(1 / central.inverse)) if isinstance(central.camera, GridCamera) else np.inf
    if isinstance(central.camera, PlenopticCamera) and not converge > 0:
        raise InputError(f"is {converge:g} mm, needs a number > 0", field="converge")
    return converge


def linear_image(image: RawImage) -> RawImage:
    """The image with numbers proportional to the light, as sums of samples need them."""
    if not image.encoded:
        return image
    color = None if image.color is None else light_of_numbers(image.color)
    return replace(image, gray=light_of_numbers(image.gray), color=color, encoded=False)


def surface_from(central: ViewSurface, viewpoint: tuple[float, float], converge: float) -> ViewSurface:
    """The central surface seen from a place in the pupil, in its radii; what was hidden continues what lies behind."""
    if viewpoint == (0.0, 0.0):
        return replace(central, converge=converge)
    radius = pupil_radius(central.camera)
    offset = viewpoint[0] * radius, viewpoint[1] * radius
    places = central.places
    depths = np.nanmedian(places.depths, axis=0)
    shift = shift_per_offset(central.camera, depths, converge, places.scale)[:, None] * np.asarray(offset)
    shift = np.nan_to_num(shift).astype(np.float32)
    shape = central.inverse.shape
    seen, inverse = np.empty(shape, np.float32), np.empty(shape, np.float32)
    first_origin, origin = np.empty(shape, np.int32), np.empty(shape, np.int32)
    given = central.inverse, places.inverse_depths, shift, np.float32(SAME_SURFACE), seen, first_origin
    each_band(shape[0], lambda rows: warp_surface(rows.start, rows.stop, *given))
    reach = int(np.ceil(np.ptp(shift, axis=0).max())) + 4
    holes = seen, first_origin, reach, inverse, origin
    each_band(shape[0], lambda rows: fill_hidden(rows.start, rows.stop, *holes))
    missing = ~np.isfinite(inverse)
    if missing.any():  # beside the central view's border
        nearest = ndimage.distance_transform_edt(missing, return_distances=False, return_indices=True)
        inverse, origin = inverse[tuple(nearest)], origin[tuple(nearest)]
    hidden = first_origin < 0
    return replace(
        central,
        inverse=np.ascontiguousarray(inverse),
        relative_sigma=central.relative_sigma.ravel()[origin],
        confidence=np.where(hidden, np.float32(0), central.confidence.ravel()[origin]),
        filled=hidden | central.filled.ravel()[origin],
        places=places.seen_from(central.camera, offset, converge),
        offset=offset,
        converge=converge,
        viewpoint=viewpoint,
    )


def _inverse_of(depth: Float32, camera: PlenopticCamera, scale: int) -> Float32:
    """1/v (h, w) of a dense view's depth, mm, by the lenses whose D and d it was made with."""
    # The lens nearest to a pixel is nearly the same at all depths.
    middle = np.array([depth_sign(camera) * MIDDLE], np.float32)
    owner = in_pixels(nearest_lenses(lens_places(camera, middle, scale), depth.shape), depth.shape)
    columns = camera.micro_images.lattice.columns
    virtual = virtual_from_metric(depth, camera, owner % columns, owner // columns, invalid="nan")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(1 / virtual, np.float32)
