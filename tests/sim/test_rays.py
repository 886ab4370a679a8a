"""Single rays against the camera model: the simulator and `project` are written independently and must agree."""

import numpy as np
import pytest
from cameras import keplerian, unfocused

from plenodepth.camera import PlenopticCamera, lenses_that_see, preset, project
from plenodepth.camera.micro_images import owner_map
from plenodepth.errors import InputError
from plenodepth.sim.kernels.camera_rays import scene_ray
from plenodepth.sim.rays import RaySetup, ray_setup

f4 = np.float32

# Points on and off the axis, near and far; tilt and distortion are on in all of these cameras.
POINTS = {
    "r12-e": [[0, 0, 900], [120, -90, 900], [-150, 60, 1500], [60, 30, 500]],
    "r12-a": [[0, 0, 300], [20, -15, 340], [-30, 20, 260]],
    "r12-c": [[0, 0, 900], [200, 90, 1500]],
    "keplerian": [[0, 0, 700], [5, -3, 800]],
    "unfocused": [[0, 0, 300], [60, 30, 200]],
    "r12-a-pinhole": [[0, 0, 300], [20, 10, 350]],
}
MAKE = {"keplerian": keplerian, "unfocused": unfocused}
CASES = [(name, point) for name, points in POINTS.items() for point in points]


def camera_named(name: str) -> PlenopticCamera:
    return MAKE[name]() if name in MAKE else preset(name)


def ray(setup: RaySetup, uv: np.ndarray, lens: int, on_lens: np.ndarray) -> np.ndarray:
    """(qx, qy, ox, oy, sx, sy) of the ray from an image position through a point of a lens."""
    x = f4((setup.width - 1 - uv[0]) * setup.pixel_size + setup.lens[lens, 0])
    y = f4((setup.height - 1 - uv[1]) * setup.pixel_size + setup.lens[lens, 1])
    near, far = f4(setup.near), f4(setup.far)
    return np.array(scene_ray(setup.lens, setup.chord, lens, x, y, *f4(on_lens), near, far), dtype=np.float64)


def miss(found: np.ndarray, point: np.ndarray) -> float:
    """How far, in mm, a ray passes by a point."""
    return float(np.linalg.norm(found[2:4] + point[2] * found[4:6] - point[:2]))


@pytest.mark.parametrize(("name", "point"), CASES, ids=str)
def test_rays_meet_the_point_that_project_put_there(name: str, point: list[float]) -> None:
    camera, target = camera_named(name), np.array(point, dtype=np.float64)
    setup = ray_setup(camera, target[2] / 1.05, target[2] * 1.05, f_number=1.0, owner=False)
    seen = lenses_that_see(target, camera)
    assert len(seen.k) >= 2
    step = max(1, len(seen.k) // 12)
    for k, l in zip(seen.k[::step], seen.l[::step], strict=True):
        lens = int(l * camera.micro_images.lattice.columns + k)
        found = project(target, k, l, camera)
        chief = ray(setup, found.uv, lens, np.zeros(2))
        aside = ray(setup, found.uv + [1, 0], lens, np.zeros(2))
        pixel = miss(aside, target)  # mm in the scene that one pixel covers
        assert miss(chief, target) < 0.005 * pixel
        if camera.type_count == 0:
            continue
        # The rim of the blur disc: through the rim of the lens, ρ pixels beside the centre of the spot.
        for angle in np.linspace(0, 2 * np.pi, 5)[:-1]:
            direction = np.array([np.cos(angle), np.sin(angle)])
            rim = ray(setup, found.uv + found.rho * direction, lens, setup.lens_radius * direction)
            assert miss(rim, target) < 0.005 * pixel


@pytest.mark.parametrize(("name", "limit"), [("r12-e", 0.02), ("r12-c", 0.02), ("r12-a", 0.1)])
def test_in_a_deep_scene_the_chord_stays_near_the_bent_ray(name: str, limit: float) -> None:
    """Over a factor of 2.25 in depth; R12-A has the strongest distortion."""
    camera = preset(name)
    for point in POINTS[name]:
        target = np.array(point, dtype=np.float64)
        setup = ray_setup(camera, target[2] / 1.5, target[2] * 1.5, f_number=1.0, owner=False)
        seen = lenses_that_see(target, camera)
        for k, l in zip(seen.k[::5], seen.l[::5], strict=True):
            lens = int(l * camera.micro_images.lattice.columns + k)
            uv = project(target, k, l, camera).uv
            pixel = miss(ray(setup, uv + [1, 0], lens, np.zeros(2)), target)
            assert miss(ray(setup, uv, lens, np.zeros(2)), target) < limit * pixel


def test_all_rays_of_a_pixel_cross_where_its_lens_is_in_focus() -> None:
    from dataclasses import replace

    from plenodepth.camera import focus_planes

    camera = replace(preset("r12-mini"), depth_scale=None)
    k, l = 12, 10
    lens = l * 24 + k
    depth = float(focus_planes(camera, k, l)[camera.micro_images.lens_type(k, l)])
    setup = ray_setup(camera, depth * 0.97, depth * 1.03, owner=False)
    uv = camera.micro_images.center(k, l) + [3, -2]
    places = []
    for on_lens in setup.lens_radius * np.array([[0, 0], [1, 0], [0, 1], [-0.7, 0.7]]):
        found = ray(setup, uv, lens, on_lens)
        places.append(found[2:4] + depth * found[4:6])
    assert np.ptp(places, axis=0).max() < 1e-3  # mm, where a pixel is over half a millimetre wide


def test_the_central_ray_goes_through_the_main_lens_centre() -> None:
    from plenodepth.camera import predicted_center

    camera = preset("r12-mini")
    setup = ray_setup(camera, 800, 1000, owner=False)
    found = ray(setup, predicted_center(5, 7, camera), 7 * 24 + 5, np.zeros(2))
    assert np.abs(found[:2]).max() < 1e-3


def test_owners_are_the_nearest_micro_images() -> None:
    camera = preset("r12-mini")
    owners = owner_map(camera.micro_images, 404, 560)
    v, u = np.mgrid[:404:17, :560:13]
    k, l = camera.micro_images.owner(np.stack([u, v], axis=-1))
    assert np.array_equal(owners[v, u], np.where(k < 0, -1, l * 24 + k))


def test_a_scene_inside_the_focal_length_or_a_missing_aperture_is_refused() -> None:
    from dataclasses import replace

    camera = preset("r12-mini")
    with pytest.raises(InputError, match="focal length"):
        ray_setup(camera, 40, 900)
    with pytest.raises(InputError, match="f_number"):
        ray_setup(replace(camera, main_lens=replace(camera.main_lens, f_number=None)), 500, 900)
    with pytest.raises(InputError, match="f_number"):
        ray_setup(camera, 500, 900, f_number=-2)
