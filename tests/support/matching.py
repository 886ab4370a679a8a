"""Cameras and images for comparing the fast kernels with the plain NumPy ones, and the comparison itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cameras import keplerian, rearranged, unfocused, with_focal_lengths
from planes import plane_image, small_camera

from plenodepth.camera import Camera, GridCamera, PlenopticCamera, preset
from plenodepth.camera.micro_images import owner_map
from plenodepth.camera.model import image_size
from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.model_choice import choose_model
from plenodepth.depth.aperture.resampling import plan_resampling
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.cpu.sweep import coarse_rows, refined_rows
from plenodepth.depth.maps import empty_maps
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles, smoothing_of
from plenodepth.depth.views import plan_views
from plenodepth.geometry import Arrangement
from plenodepth.raw.image import Devignetting, RawImage


def grid_only(camera: PlenopticCamera) -> GridCamera:
    return GridCamera("grid", *image_size(camera), camera.micro_images, np.array([[1, 5], [2, 6], [3, 9.0]]))


CAMERA = replace(small_camera(), main_lens=preset("r12-mini").main_lens)  # at f/4 there is something to undo
CAMERAS = {
    "r12-a": shrunk(preset("r12-a"), 9, 8),
    "r12-c": shrunk(preset("r12-c"), 8, 9),
    "pinhole": shrunk(preset("r12-a-pinhole"), 9, 8),
    "keplerian": shrunk(keplerian(), 9, 8),
    "unfocused": shrunk(unfocused(), 8, 8),
    "columns": rearranged(Arrangement.HEXAGONAL_COLUMNS, 8, 9),
    "orthogonal": rearranged(Arrangement.ORTHOGONAL, 8, 8),
    "two types": with_focal_lengths(shrunk(CAMERA, 9, 8), [0.55, 0.58]),
    "grid": grid_only(shrunk(CAMERA, 9, 8)),
}


def raw(gray: np.ndarray) -> RawImage:
    return RawImage(gray.astype(np.float32), None, 0.0, Devignetting.NONE)


def tilted_plane(camera: PlenopticCamera) -> RawImage:
    """A tilted plane at 900 mm through `small_camera`, as much of it as another camera's sensor holds."""
    return raw(plane_image(900.0, tilt=0.4).gray[: camera.sensor.height, : camera.sensor.width])


def random_image(camera: Camera, seed: int, missing: float = 0.02) -> RawImage:
    """Waves in all directions at one virtual depth, with noise; some pixels missing."""
    rng = np.random.default_rng(seed)
    width, height = image_size(camera)
    grid = camera.micro_images
    v, u = np.indices((height, width), dtype=np.float64)
    owner = owner_map(grid, height, width)
    centers = grid.center(*grid.lattice.indices()).reshape(-1, 2)[np.maximum(owner, 0)]
    depth = rng.uniform(2.5, 9) * (-1 if "keplerian" in camera.name else 1)
    # What a lens shows at p, its neighbours show nearer to their centres by 1/depth of the baseline.
    x, y = (centers[..., axis] + depth * (pixel - centers[..., axis]) for axis, pixel in enumerate((u, v)))
    gray = rng.normal(0.5, 0.01, (height, width))
    for _ in range(30):
        angle, length = rng.uniform(0, np.pi), rng.uniform(4, 20) * abs(depth)
        gray += 0.05 * np.sin(2 * np.pi / length * (np.cos(angle) * x + np.sin(angle) * y) + rng.uniform(0, 6))
    gray[rng.random(gray.shape) < missing] = np.nan
    return raw(gray)


def assert_kernels_agree(
    image: RawImage, camera: Camera, settings: DepthSettings, *, every: int = 1, confident: float = 0.995
) -> None:
    """The fast sweep finds what the plain one does, in every so many-th micro-image of a camera.

    A step that shares no factor with the number of columns takes some of each column, of the array's rim and of each
    lens type.
    """
    model, _ = choose_model(image, camera, settings)
    views = plan_views(camera, settings, image.noise, model)
    tiles = cut_tiles(image.gray, camera, settings, model)
    tables = plan_resampling(tiles, views, camera, model, smoothing_of(settings, model))
    shape = image.gray.shape if settings.refined else (views.rows, views.columns)
    slow, fast = empty_maps(shape), empty_maps(shape)
    (refined_rows if settings.refined else coarse_rows)(0, views.rows, tiles, views, tables, fast)
    lenses = range(every // 2, views.rows * views.columns, every)
    for lens in lenses:
        (reference.refined_depth if settings.refined else reference.coarse_depth)(tiles, views, tables, lens, slow)
    owner = owner_map(camera.micro_images, *shape) if settings.refined else np.arange(slow.cost.size).reshape(shape)
    compared = np.isin(owner, lenses)
    found = np.isfinite(slow.virtual_depth) & compared
    assert found.sum() > (0.2 if settings.refined else 0.5) * compared.sum()
    assert np.array_equal(found, np.isfinite(fast.virtual_depth) & compared)
    assert np.abs(slow.virtual_depth - fast.virtual_depth)[found].max() < 1e-3
    assert np.allclose(slow.sigma[found], fast.sigma[found], rtol=0.01)
    # Whether a kink of the curve is a rival minimum may depend on the last bit; then the confidence jumps.
    assert np.isclose(slow.confidence, fast.confidence, atol=1e-4)[compared].mean() > confident
    assert np.allclose(slow.cost[found], fast.cost[found], atol=1e-5)
    assert np.array_equal(slow.views[compared], fast.views[compared])
