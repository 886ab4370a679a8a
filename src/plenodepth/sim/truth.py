"""Ground truth: depth per pixel and per micro-image, visible and occluded pixels, and where board corners appear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plenodepth.camera import PlenopticCamera, lens_distances, lenses_that_see, predicted_center, project
from plenodepth.io import FEATURE_DTYPE, observation_table
from plenodepth.sim.kernels import camera_rays, tracing
from plenodepth.sim.packed_scene import PackedScene, pack_scene
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import scene_depths
from plenodepth.sim.scenes.scene import Checkerboard, Scene

Float32 = NDArray[np.float32]
Bool = NDArray[np.bool_]

RAYS_AT_A_TIME = 1 << 20
BOUNDARY_RADIUS = 2  # px: pixels this close to another object or to a jump in depth are marked
BOUNDARY_JUMP = 0.01  # of the depth
FEATURE_MARGIN = 1.5  # px inside the micro-image's rim, as for real features
HIDDEN = 1e-3  # of the depth: a corner this much behind what the ray meets is hidden


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Maps of the raw image's size (h, w) along chief rays (pixel centre through lens centre), and per micro-image."""

    depth: Float32  # (h, w) z in mm; NaN where nothing is met or no lens stands before the pixel
    virtual_depth: Float32  # (h, w)
    object_index: NDArray[np.int16]  # (h, w) index into the scene's objects, −1 for none
    visible: Bool  # (h, w) the chief ray passes the main lens and meets an object
    boundary: Bool  # (h, w) within two pixels, in the same micro-image, of another object or of a jump in depth
    lens_depth: Float32  # (rows, columns) z in mm through the micro-image's centre
    lens_virtual_depth: Float32  # (rows, columns)
    features: NDArray[np.void]  # (n,) board corners with their projections, as FEATURE_DTYPE; frame 0


def ground_truth(scene: Scene, camera: PlenopticCamera, *, setup: RaySetup | None = None) -> GroundTruth:
    """Trace one ray per pixel and per micro-image, and project the corners of all boards."""
    setup = setup or ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length))
    packed = pack_scene(scene)
    shape = setup.owner.shape
    v, u = (index.ravel() for index in np.indices(shape, dtype=np.float32))
    depth, index, passes = _chief_hits(setup, packed, u, v, setup.owner.ravel())
    depth, index = depth.reshape(shape), index.reshape(shape)
    k, l = camera.micro_images.lattice.indices()
    centers = predicted_center(k, l, camera).astype(np.float32)
    lenses = np.arange(k.size, dtype=np.int32)
    lens_depth, _, _ = _chief_hits(setup, packed, centers[..., 0].ravel(), centers[..., 1].ravel(), lenses)
    lens_depth = lens_depth.reshape(k.shape)
    return GroundTruth(
        depth=depth,
        virtual_depth=_virtual_depth(depth, setup.owner, camera),
        object_index=index,
        visible=passes.reshape(shape) & (index >= 0),
        boundary=occlusion_boundary(depth, index, setup.owner),
        lens_depth=lens_depth,
        lens_virtual_depth=_virtual_depth(lens_depth, lenses.reshape(k.shape), camera),
        features=board_features(scene, camera, packed),
    )


def _chief_hits(
    setup: RaySetup, packed: PackedScene, u: Float32, v: Float32, lens: NDArray[np.int32]
) -> tuple[Float32, NDArray[np.int16], Bool]:
    """Depth (NaN: none), object index and passage through the aperture of chief rays, (n,) each."""
    depths, indices = np.empty(len(u), np.float32), np.empty(len(u), np.int16)
    passes = np.empty(len(u), np.bool_)
    optics = [np.float32(x) for x in (setup.pixel_size, setup.near, setup.far, setup.aperture_radius)]
    for start in range(0, len(u), RAYS_AT_A_TIME):
        part = slice(start, start + RAYS_AT_A_TIME)
        n = len(u[part])
        origins, directions = np.empty((n, 3), np.float32), np.empty((n, 3), np.float32)
        camera_rays.chief_rays(
            u[part], v[part], lens[part], setup.width, setup.height, setup.lens, setup.chord, *optics,
            origins, directions, passes[part],
        )  # fmt: skip
        depths[part], indices[part] = first_hits(packed, origins, directions)
    nothing = (lens < 0) | (indices < 0)
    depths[nothing], indices[nothing] = np.nan, -1
    return depths, indices, passes


def first_hits(packed: PackedScene, origins: Float32, directions: Float32) -> tuple[Float32, NDArray[np.int16]]:
    """Depth (infinite: none) and object index (−1: none) of what each ray meets first, (n,) each."""
    mesh_depth, triangle, _, _ = packed.triangles.intersect(origins, directions)
    depths, indices = np.empty(len(origins), np.float32), np.empty(len(origins), np.int16)
    tracing.first_hits(
        origins, directions, mesh_depth, triangle, packed.triangles.owner, packed.objects, packed.kinds, depths, indices
    )
    return depths, indices


def _virtual_depth(depth: Float32, lens: NDArray[np.int32], camera: PlenopticCamera) -> Float32:
    """Virtual depth of metric depth (mm) for each pixel's own lens. It is the true one, without the depth scale Γ."""
    columns = camera.micro_images.lattice.columns
    l, k = np.divmod(np.arange(columns * camera.micro_images.lattice.rows), columns)
    main, sensor = (distance.astype(np.float32) for distance in lens_distances(camera, k, l))
    focal = np.float32(camera.main_lens.focal_length)
    image = focal + focal**2 / (depth - focal)  # well conditioned in float32, unlike F z/(z − F)
    return np.asarray((image - main[lens]) / sensor[lens], np.float32)


def occlusion_boundary(depth: Float32, index: NDArray[np.int16], owner: NDArray[np.int32]) -> Bool:
    """Pixels within `BOUNDARY_RADIUS` of a pixel of the same micro-image that sees another object or depth."""
    boundary = np.zeros(depth.shape, np.bool_)
    height, width = depth.shape
    for dv in range(BOUNDARY_RADIUS + 1):
        for du in range(-BOUNDARY_RADIUS, BOUNDARY_RADIUS + 1):
            if (dv, du) <= (0, 0) or dv * dv + du * du > BOUNDARY_RADIUS**2:
                continue
            here = (slice(0, height - dv), slice(max(0, -du), width - max(0, du)))
            there = (slice(dv, height), slice(max(0, du), width - max(0, -du)))
            with np.errstate(invalid="ignore"):
                jump = np.abs(depth[here] - depth[there]) > BOUNDARY_JUMP * np.minimum(depth[here], depth[there])
            differs = ((index[here] != index[there]) | jump) & (owner[here] == owner[there])
            boundary[here] |= differs
            boundary[there] |= differs
    return boundary & (owner >= 0)


def board_features(scene: Scene, camera: PlenopticCamera, packed: PackedScene | None = None) -> NDArray[np.void]:
    """Corners of all boards through every lens that sees them; hidden ones are left out.

    `cluster` numbers the corners through all boards, in the order of the scene.
    """
    packed = packed or pack_scene(scene)
    tables, first = [], 0
    for thing in scene.objects:
        if not isinstance(thing, Checkerboard):
            continue
        corners = thing.cam_from_object(thing.corners())
        origins = np.zeros((len(corners), 3), np.float32)
        directions = np.column_stack([corners[:, :2] / corners[:, 2:], np.ones(len(corners))]).astype(np.float32)
        depths, _ = first_hits(packed, origins, directions)
        shown = np.flatnonzero(depths >= corners[:, 2] * (1 - HIDDEN))
        seen = lenses_that_see(corners[shown], camera, margin=FEATURE_MARGIN)
        cluster = shown[seen.point]
        projected = project(corners[cluster], seen.k, seen.l, camera)
        tables.append(
            observation_table(
                FEATURE_DTYPE,
                k=seen.k,
                l=seen.l,
                u=projected.uv[:, 0],
                v=projected.uv[:, 1],
                rho=np.nan_to_num(projected.rho),
                cluster=first + cluster,
                frame=0,
            )
        )
        first += len(corners)
    return np.concatenate([np.empty(0, FEATURE_DTYPE), *tables])
