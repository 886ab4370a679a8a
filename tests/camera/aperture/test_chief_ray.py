"""Where points appear through a clipping aperture: there and back, and against traced images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, without_distortion

from plenodepth.camera import (
    ExitPupil,
    PlenopticCamera,
    apparent_position,
    chief_ray_position,
    clipped_blur_radius,
    lens_distances,
    lenses_that_see,
    light_centroid,
    preset,
    project,
    unproject,
    usable_virtual_range,
    virtual_from_metric,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene


def with_pupil(camera: PlenopticCamera, distance: float) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(distance)))


CAMERAS = {
    "galilean": preset("r12-c"),
    "keplerian": keplerian(),
    "pupil behind": with_pupil(preset("r12-es"), 14.0),
    "unfocused": preset("upc-s"),
}


def at_f(camera: PlenopticCamera, number: float) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, f_number=number))


def samples(camera: PlenopticCamera, count: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels over their micro-images, lenses k, l and virtual depths over the usable range."""
    generator, lattice = np.random.default_rng(1), camera.micro_images.lattice
    k, l = generator.integers(lattice.columns, size=count), generator.integers(lattice.rows, size=count)
    angle, radius = (
        generator.uniform(0, 2 * np.pi, count),
        camera.micro_images.radius * np.sqrt(generator.random(count)),
    )
    uv = camera.micro_images.center(k, l) + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    far, near = usable_virtual_range(camera)
    return uv, k, l, 1 / generator.uniform(1 / near, 1 / far, count)


@pytest.mark.parametrize("number", [2.0, 4.0, 8.0])
@pytest.mark.parametrize("name", CAMERAS)
def test_apparent_and_look_positions_undo_each_other(name: str, number: float) -> None:
    camera = CAMERAS[name]
    uv, k, l, v = samples(camera)
    looked = chief_ray_position(uv, k, l, v, camera, number)
    lit = np.isfinite(looked).all(axis=1)
    back = apparent_position(looked, k, l, v, camera, number)
    there = np.isfinite(back).all(axis=1)
    assert lit.mean() > 0.05
    assert there[lit].mean() > 0.99
    assert np.abs(back[there] - uv[there]).max() < 1e-6
    shown = apparent_position(uv, k, l, v, camera, number)
    some = np.isfinite(shown).all(axis=1)
    assert np.abs(chief_ray_position(shown[some], k[some], l[some], v[some], camera, number) - uv[some]).max() < 1e-6


def test_what_no_pixel_shows_is_nan() -> None:
    camera, k, l = preset("r12-es"), 88, 76
    center = camera.micro_images.center(k, l)
    assert np.isnan(apparent_position(center + [50, 0], k, l, 7.0, camera)).all()
    assert np.isnan(chief_ray_position(center + [50, 0], k, l, 7.0, camera)).all()
    assert np.isnan(apparent_position([np.nan, 1.0], k, l, 7.0, camera)).all()
    np.testing.assert_allclose(apparent_position(center, k, l, 7.0, camera), center, atol=0.2)


def test_nothing_shifts_in_focus_or_through_an_open_aperture() -> None:
    camera, k, l = preset("r12-es"), 88, 76
    uv = camera.micro_images.center(k, l) + [4.0, -5.0]
    focal = camera.micro_lenses.focal_lengths[int(camera.micro_images.lens_type(k, l))]
    focus = float(focal / (focal - lens_distances(camera, k, l).to_sensor))
    np.testing.assert_allclose(apparent_position(uv, k, l, 7.0, camera, 0.8), uv, atol=1e-9)
    np.testing.assert_allclose(apparent_position(uv, k, l, focus, camera, 5.6), uv, atol=1e-9)
    assert np.linalg.norm(apparent_position(uv, k, l, 7.0, camera, 5.6) - uv) > 0.5


def test_positions_broadcast() -> None:
    camera = preset("r12-es")
    uv = camera.micro_images.center(80, 70) + np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 5.0]])
    v = np.array([3.0, 9.0])[:, None]
    assert apparent_position(uv, 80, 70, v, camera).shape == (2, 3, 2)
    assert chief_ray_position(uv, 80, 70, v, camera).shape == (2, 3, 2)
    assert light_centroid(uv, 80, 70, v, camera).shape == (2, 3, 2)
    assert clipped_blur_radius(uv, 80, 70, v, camera).shape == (2, 3)


@pytest.mark.parametrize("name", ["galilean", "keplerian", "pupil behind"])
def test_apparent_projection_there_and_back(name: str) -> None:
    camera = replace(without_distortion(CAMERAS[name]), depth_scale=None)
    near, far = (500.0, 1500.0) if name != "keplerian" else (560.0, 1000.0)
    generator = np.random.default_rng(2)
    z = generator.uniform(near, far, 40)
    side = np.abs(camera.sensor.position[:2]) / 55 * 0.5
    points = np.column_stack([generator.uniform(-1, 1, (40, 2)) * z[:, None] * side, z])
    seen = lenses_that_see(points, camera, margin=2)
    assert len(seen.k) > 100
    found = project(points[seen.point], seen.k, seen.l, camera, apparent=True)
    plain = project(points[seen.point], seen.k, seen.l, camera)
    there = np.isfinite(found.uv).all(axis=1)
    assert there.mean() > 0.7
    assert np.abs(found.uv - plain.uv)[there].max() > 0.1
    assert (np.abs(found.rho) <= np.abs(plain.rho) * (1 + 1e-9))[there].all()
    assert not found.visible[~there].any()
    v = virtual_from_metric(points[seen.point, 2], camera, seen.k, seen.l)
    back = unproject(found.uv[there], seen.k[there], seen.l[there], v[there], camera, apparent=True)
    np.testing.assert_allclose(back, points[seen.point][there], rtol=1e-6, atol=1e-4)


def test_the_clipped_blur_of_an_open_pixel_is_the_models() -> None:
    camera = at_f(preset("r12-es"), 0.8)
    points = np.array([[0.0, 0.0, 700.0], [10.0, -8.0, 1500.0]])
    seen = lenses_that_see(points, camera)
    plain = project(points[seen.point], seen.k, seen.l, camera)
    found = project(points[seen.point], seen.k, seen.l, camera, apparent=True)
    np.testing.assert_allclose(found.rho, plain.rho, rtol=1e-9)
    np.testing.assert_allclose(found.uv, plain.uv, atol=1e-9)


def test_pinholes_project_alike_and_have_no_apparent_position() -> None:
    camera = preset("r12-a-pinhole")
    point = np.array([5.0, 2.0, 400.0])
    seen = lenses_that_see(point, camera)
    plain, found = (project(point, seen.k, seen.l, camera, apparent=on) for on in (False, True))
    np.testing.assert_array_equal(plain.uv, found.uv)
    with pytest.raises(InputError, match="pinholes"):
        apparent_position(plain.uv[0], seen.k[0], seen.l[0], 7.0, camera)


# --- against the simulator --------------------------------------------------------------------------------------


def ramp(depth: float, size: float, down: bool) -> Scene:
    """A glowing wall whose brightness grows evenly along x or y between the middles of its two texels."""
    values = np.zeros((2, 2, 3), np.float32)
    values[(1, slice(None)) if down else (slice(None), 1)] = 1
    pose = Pose(np.eye(3), np.array([0, 0, depth]))
    return Scene((Rectangle(2 * size, 2 * size, pose, Material(texture=ImageTexture(values), emits=True)),))


@pytest.mark.parametrize("depth", [550.0, 900.0, 1700.0])
@pytest.mark.parametrize("down", [False, True])
def test_a_pixel_of_a_ramp_is_as_bright_as_the_place_where_it_looks(depth: float, down: bool) -> None:
    camera, axis = without_distortion(preset("r12-mini")), int(down)
    scene = ramp(depth, 0.12 * depth, down)
    k, l = (index[4:-4, 4:-4].ravel() for index in camera.micro_images.lattice.indices())
    pixel = np.rint(camera.micro_images.center(k, l) + [6.0, -4.0]).astype(int)

    def brightness(f_number: float) -> np.ndarray:
        """Light on the chosen pixels, which alone are rendered."""
        setup = ray_setup(camera, *scene_depths(scene, camera.main_lens.focal_length), f_number=f_number)
        owner = np.full_like(setup.owner, -1)
        owner[pixel[:, 1], pixel[:, 0]] = setup.owner[pixel[:, 1], pixel[:, 0]]
        settings = RenderSettings(rays=128, f_number=f_number, vignetting=False)
        light = render(scene, camera, settings, setup=replace(setup, owner=owner)).light
        return light[pixel[:, 1], pixel[:, 0], 0].astype(np.float64)

    wide, narrow = brightness(0.8), brightness(4.0)
    v = virtual_from_metric(depth, replace(camera, depth_scale=None), k, l)

    def place(uv: np.ndarray) -> np.ndarray:
        """mm on the wall along the ramp."""
        return unproject(uv, k, l, v, camera, depth_scale=False)[:, axis]

    straight, looked = place(pixel), place(chief_ray_position(pixel, k, l, v, camera, 4.0))
    line = np.polyfit(wide, straight, 1)  # place of a brightness
    found = np.polyval(line, narrow)
    per_pixel = np.mean(np.abs(place(pixel + np.eye(2)[axis]) - straight))
    assert np.sqrt(np.mean((straight - found) ** 2)) > (0.3 if depth < 1000 else 0.08) * per_pixel
    assert np.sqrt(np.mean((looked - found) ** 2)) < 0.1 * per_pixel  # 128 rays leave so much noise
    assert abs(np.mean(looked - found)) < 0.03 * per_pixel
    assert abs(np.mean(straight - found)) > 0.05 * per_pixel


@pytest.mark.parametrize(("depth", "farther"), [(900.0, 1.0), (1300.0, 0.4)])
def test_the_light_of_a_small_emitter_is_centred_where_light_position_says(depth: float, farther: float) -> None:
    camera, point = without_distortion(preset("r12-mini")), np.array([1.0, 0.5, depth])
    seen = lenses_that_see(point, camera)
    plain = project(point, seen.k, seen.l, camera).uv
    away = np.linalg.norm(plain - camera.micro_images.center(seen.k, seen.l), axis=1)
    chosen = int(np.argmin(np.abs(away - 6.5)))
    k, l, uv = int(seen.k[chosen]), int(seen.l[chosen]), plain[chosen]
    v = float(virtual_from_metric(depth, replace(camera, depth_scale=None), k, l))
    side = 0.5 / np.linalg.norm(project(point + [1, 0, 0], k, l, camera).uv - uv)  # half a pixel wide
    scene = Scene((Rectangle(side, side, Pose(np.eye(3), point), Material(emits=True)),))
    setup = ray_setup(camera, *scene_depths(scene, 50.2), f_number=4.0)
    rows, columns = np.indices(setup.owner.shape)
    near = np.hypot(columns - uv[0], rows - uv[1]) < 12  # all of the spot, also what falls on the neighbours' pixels
    lens = l * camera.micro_images.lattice.columns + k
    alone = replace(setup, owner=np.where(near, lens, -1).astype(np.int32))
    light = render(scene, camera, RenderSettings(rays=8192, seed=5), setup=alone).light[..., 0].astype(np.float64)
    found = np.array([(light * columns).sum(), (light * rows).sum()]) / light.sum()
    assert np.linalg.norm(found - light_centroid(uv, k, l, v, camera, 4.0)) < 0.05
    assert np.linalg.norm(found - uv) > 0.1
    # Its light alone is centred elsewhere than what a texture shows there.
    assert np.linalg.norm(found - apparent_position(uv, k, l, v, camera, 4.0)) > farther
