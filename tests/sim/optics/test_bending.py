"""How real lenses bend light, and how pixels answer to it; against closed forms and small independent computations."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import j1
from spots import GLOWING, at, footprint, moments, only, spot_image

from plenodepth.camera import (
    distort,
    focus_planes,
    lens_center,
    lens_distances,
    lenses_that_see,
    preset,
    project,
)
from plenodepth.sim.kernels.real_rays import diffraction_axes, real_scene_ray, real_slope
from plenodepth.sim.optics import RealOptics, Stop, optics_preset
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.scenes.scene import Checkerboard, Mesh, Rectangle, Scene
from plenodepth.sim.simulate import FrameSettings, render_scene

f4 = np.float32
CAMERA = replace(preset("r12-mini"), depth_scale=None)
K, L = 12, 10
LENS = L * 24 + K
TYPE = int(CAMERA.micro_images.lens_type(K, L))
FOCAL = float(CAMERA.micro_lenses.focal_lengths[TYPE])
RADIUS = CAMERA.micro_lenses.lens_diameter / 2
PIXEL = CAMERA.sensor.pixel_size
_, TO_SENSOR = (float(distance) for distance in lens_distances(CAMERA, K, L))


def focused_point() -> np.ndarray:
    """A point (3,) mm that lens (K, L) shows sharp, near the middle of its micro-image."""
    depth = float(focus_planes(CAMERA, K, L)[TYPE])
    middle = project(np.array([0.0, 0.0, depth]), K, L, CAMERA).uv
    step = (middle - CAMERA.micro_images.center(K, L)) * footprint(CAMERA, np.array([0.0, 0.0, depth]), K, L)
    points = [np.array([*(sign * step), depth]) for sign in (1, -1)]
    away = [np.linalg.norm(project(point, K, L, CAMERA).uv - CAMERA.micro_images.center(K, L)) for point in points]
    return points[int(np.argmin(away))]


def test_spherical_aberration_spreads_a_focused_point_as_the_cube_of_the_height() -> None:
    """A ray at height y lands s d y³/(f R²) beside the point: over the lens the mean square is (s d R/f)²/4."""
    point, strength = focused_point(), 0.4
    side = 2 * footprint(CAMERA, point, K, L)
    spreads = [
        moments(*_green(spot_image(CAMERA, point, K, L, 0.8, side, optics, 4096)))[2]
        for optics in (None, RealOptics(spherical_aberration=strength))
    ]
    expected = (strength * TO_SENSOR * RADIUS / FOCAL / PIXEL) ** 2 / 4
    assert expected > 1  # px²
    assert spreads[1] - spreads[0] == pytest.approx(expected, rel=0.03)


def _green(image: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return image[0], image[1][:, 1]


def test_diffraction_makes_a_focused_point_an_airy_pattern() -> None:
    """Of a wave that is long enough for the pattern to be wider than pixels: FWHM 1.03 λ N = 3.6 px."""
    point, wavelength = focused_point(), 7000.0
    place, light = _green(
        spot_image(CAMERA, point, K, L, 0.8, footprint(CAMERA, point, K, L), RealOptics(wavelength=wavelength), 4096)
    )
    unit = wavelength * 1e-6 * TO_SENSOR / (2 * RADIUS) / PIXEL  # λ N, px
    middle = project(point, K, L, CAMERA).uv
    # The pattern itself, over pixels and over the emitter, which is as wide as a pixel: a tent in each direction.
    steps = np.linspace(-1, 1, 21)[1:-1]
    tent = 1 - np.abs(steps)
    expected = np.zeros(len(place))
    for du, wu in zip(steps, tent / tent.sum(), strict=True):
        for dv, wv in zip(steps, tent / tent.sum(), strict=True):
            v = np.pi * np.linalg.norm(place - middle + [du, dv], axis=1) / unit + 1e-9
            expected += wu * wv * (2 * j1(v) / v) ** 2
    near = np.linalg.norm(place - middle, axis=1) < 3 * unit
    found = light[near] / light[near].sum()
    expected = expected[near] / expected[near].sum()
    assert np.abs(found - expected).max() < 0.05 * expected.max()
    brighter = np.count_nonzero(found > found.max() / 2)
    assert brighter == pytest.approx(np.pi / 4 * (1.03 * unit) ** 2, rel=0.15)


@pytest.mark.parametrize("f_number", [1.4, 4.0, 11.0])
def test_the_width_of_diffraction_follows_the_open_part_of_the_lens(f_number: float) -> None:
    optics = RealOptics(wavelength=550.0)
    setup = ray_setup(CAMERA, 800, 1000, f_number=f_number, owner=False, optics=optics)
    axis = np.linspace(-RADIUS, RADIUS, 601)
    y = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    y = y[np.linalg.norm(y, axis=1) <= RADIUS]
    center, (main, sensor) = lens_center(K, L, CAMERA)[:2], lens_distances(CAMERA, K, L)
    middle = CAMERA.sensor.metric_from_image(CAMERA.micro_images.center(K, L)) - center
    tried = 0
    for offset in ([0.003, 0.001], [0.02, -0.01], [-0.03, 0.03], [0.05, 0.02]):
        x = middle + offset
        where = center + y + ((y - x) / sensor - y / FOCAL) * main
        passing = y[np.linalg.norm(where, axis=1) <= CAMERA.main_lens.focal_length / f_number / 2]
        ux, uy, along, across = diffraction_axes(
            setup.lens, LENS, f4(x[0]), f4(x[1]), f4(setup.aperture_radius), setup.real
        )
        assert np.hypot(ux, uy) == pytest.approx(1, abs=1e-5)
        if len(passing) == 0:
            continue
        widths = [np.ptp(passing @ direction) for direction in ([ux, uy], [-uy, ux])]
        if min(widths) > 0.25 * 2 * RADIUS:
            scale, tried = 550e-6 * float(sensor), tried + 1
            assert [along, across] == pytest.approx([scale / width for width in widths], rel=0.03)
    assert tried >= 1


@pytest.mark.parametrize(
    "optics",
    [
        RealOptics(main_lens_color=(0.004, 0.0, -0.003), micro_lens_color=(0.05, 0.0, -0.04)),
        RealOptics(main_lens_color=(0.003, 0.003, 0.003)),  # all alike, but not the camera's
    ],
    ids=["apart", "alike"],
)
def test_each_colour_is_blurred_as_its_own_focal_lengths_say(optics: RealOptics) -> None:
    target = np.array([1.0, 0.5, 700.0])
    seen = lenses_that_see(target, CAMERA, margin=3)
    k, l = int(seen.k[0]), int(seen.l[0])
    size = footprint(CAMERA, target, k, l)
    place, light = spot_image(CAMERA, target, k, l, 0.8, 2 * size, optics, 1024)
    for color in range(3):
        main, micro = optics.main_lens_color[color], optics.micro_lens_color[color]
        own = replace(
            CAMERA,
            main_lens=replace(CAMERA.main_lens, focal_length=CAMERA.main_lens.focal_length * (1 + main)),
            micro_lenses=replace(CAMERA.micro_lenses, focal_lengths=CAMERA.micro_lenses.focal_lengths * (1 + micro)),
        )
        expected = project(target, k, l, own)
        _, middle, spread = moments(place, light[:, color])
        assert np.linalg.norm(middle - expected.uv) < 0.06
        radius = np.sqrt(2 * (spread - 1 / 6 - (2 * size / footprint(own, target, k, l)) ** 2 / 6))
        assert radius == pytest.approx(abs(float(expected.rho)), rel=0.06)


def test_a_pixel_answers_to_slanted_light_as_a_power_of_the_cosine() -> None:
    """A white wall through the whole lens: the mean of cosⁿ over the lens, n from cosⁿ(15°) = 1/2."""
    optics, scene = RealOptics(half_angle=15.0), Scene((Rectangle(9000, 9000, at(0, 0, 900), GLOWING),))
    setup = ray_setup(CAMERA, *scene_depths(scene, 50.2), f_number=0.6, optics=optics)
    setup = only(setup, CAMERA, K, L, 10)
    light = render(scene, CAMERA, RenderSettings(rays=256, f_number=0.6, optics=optics), setup=setup).light[..., 1]
    exponent = np.log(0.5) / np.log(np.cos(np.radians(15)))
    rows, columns = np.nonzero(setup.owner >= 0)
    x = CAMERA.sensor.metric_from_image(np.column_stack([columns, rows])) - lens_center(K, L, CAMERA)[:2]
    axis = np.linspace(-RADIUS, RADIUS, 41)
    y = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    y = y[np.linalg.norm(y, axis=1) <= RADIUS]
    angle = np.arctan(np.linalg.norm(y - x[:, None], axis=-1) / TO_SENSOR)
    expected = (np.cos(angle) ** exponent).mean(axis=1)
    assert expected.min() < 0.85 * expected.max()
    assert np.abs(light[rows, columns] - expected).max() < 0.01


@pytest.mark.parametrize("radius", [60.0, -40.0])
def test_a_curved_field_moves_images_towards_the_lens_as_the_square_of_their_height(radius: float) -> None:
    """The image of a point at height h lies h²/2R nearer to the main lens, on the line through the lens' centre."""
    target = np.array([13.0, -9.0, 700.0])
    optics = RealOptics(field_radius=radius, exit_pupil=Stop(-15.0, None, (1.0, 0.0)))
    setup = ray_setup(CAMERA, 690, 710, f_number=1.0, owner=False, optics=optics)
    focal = CAMERA.main_lens.focal_length
    image = distort(-focal / (target[2] - focal) * target[None], CAMERA.distortion)[0]
    image = image * (1 + (image[:2] @ image[:2]) / (2 * radius) / image[2])
    seen = lenses_that_see(target, CAMERA)
    assert len(seen.k) > 10
    for k, l in zip(seen.k, seen.l, strict=True):
        center, (_, sensor) = lens_center(k, l, CAMERA), lens_distances(CAMERA, k, l)
        lens = int(l * 24 + k)
        inverse_f = 1 / CAMERA.micro_lenses.focal_lengths[CAMERA.micro_images.lens_type(k, l)]
        for y in RADIUS * np.array([[0, 0], [1, 0], [-0.6, 0.8]]):
            slope = (image[:2] - center[:2] - y) / (image[2] - center[2])  # of the line from the lens to the image
            x = y - (slope + y * inverse_f) * sensor  # the pixel whose ray leaves the lens with it
            weight, sx, sy = real_slope(
                setup.lens, setup.real, lens, *f4(x), f4(0), f4(0), *f4(y), f4(setup.aperture_radius**2)
            )
            ox, oy, sx, sy = real_scene_ray(
                setup.lens, setup.chord, setup.real, lens, sx, sy, *f4(y), f4(setup.near), f4(setup.far)
            )
            miss = np.hypot(ox + target[2] * sx - target[0], oy + target[2] * sy - target[1])
            assert weight == 1
            assert miss < 0.02 * footprint(CAMERA, target, int(k), int(l))


def scenes() -> list[Scene]:
    """A board, and a board before a triangle, which other code traces."""
    board = Checkerboard(6, 4, 10, at(-25, -15, 700))
    triangle = np.array([[-60, -60, 0], [60, -60, 0], [0, 90, 0.0]])
    return [Scene((board,)), Scene((board, Mesh(triangle, np.array([[0, 1, 2]]), at(0, 0, 800), GLOWING)))]


@pytest.mark.parametrize("scene", scenes(), ids=["shapes", "triangles"])
@pytest.mark.parametrize("more", [{}, {"vignetting": False}, {"neighbour_light": True}], ids=str)
def test_with_everything_off_images_are_the_same_bytes(scene: Scene, more: dict[str, bool]) -> None:
    thin, off = (render(scene, CAMERA, RenderSettings(rays=8, optics=o, **more)).light for o in (None, RealOptics()))
    assert np.array_equal(thin, off)
    # And what real lenses go through does nothing by itself: here the rim is too wide to be met.
    wide = RealOptics(rim=Stop(-40.0, 1e4))
    real = render(scene, CAMERA, RenderSettings(rays=8, optics=wide, **more)).light
    assert np.mean(np.abs(real - thin)) < 1e-5
    assert np.quantile(np.abs(real - thin), 0.999) < 1e-4  # but for rays that just meet an edge


def test_light_before_real_lenses_came_is_the_same() -> None:
    """Values of the program without real lenses."""
    board, both = scenes()
    rows, columns = slice(200, 212, 3), slice(276, 294, 3)
    for scene, before in ((board, BOARD), (both, TRIANGLE)):
        light = render(scene, CAMERA, RenderSettings(rays=8, seed=4)).light[rows, columns, 1]
        assert np.abs(light - before).max() < 1e-6


BOARD = np.array(
    [
        [0.00000000, 0.23750000, 0.23750000, 0.35624999, 0.11875000, 0.00000000],
        [0.35624999, 0.23750000, 0.00000000, 0.00000000, 0.00000000, 0.00000000],
        [0.47499999, 0.47499999, 0.11875000, 0.00000000, 0.00000000, 0.47499999],
        [0.83124995, 0.59375000, 0.11875000, 0.00000000, 0.23750000, 0.47499999],
    ]
)
TRIANGLE = np.array(
    [
        [0.00000000, 0.23750000, 0.23750000, 0.35624999, 0.11875000, 0.00000000],
        [0.35624999, 0.23750000, 0.00000000, 0.00000000, 0.00000000, 0.00000000],
        [0.47499999, 0.47499999, 0.11875000, 0.00000000, 0.00000000, 0.47499999],
        [0.83124995, 0.59375000, 0.11875000, 0.00000000, 0.23750000, 0.47499999],
    ]
)


def test_with_real_lenses_the_same_seed_gives_the_same_bytes_whatever_the_threads() -> None:
    optics = optics_preset("r12-a-real")
    one, two = (render(scenes()[1], CAMERA, RenderSettings(rays=8, threads=n, optics=optics)).light for n in (1, 2))
    assert np.array_equal(one, two)


def test_true_depth_is_that_of_the_thin_lens_along_the_chief_ray() -> None:
    optics = replace(optics_preset("r12-a-real"), exit_pupil=None)
    settings = FrameSettings(RenderSettings(rays=1))
    real = FrameSettings(RenderSettings(rays=1, optics=optics))
    moved = FrameSettings(RenderSettings(rays=1, optics=RealOptics(exit_pupil=Stop(-15.0))))
    truth, with_real, with_pupil = (
        render_scene(scenes()[0], CAMERA, chosen).truth for chosen in (settings, real, moved)
    )
    assert truth is not None
    assert with_real is not None
    assert with_pupil is not None
    assert np.array_equal(truth.depth, with_real.depth, equal_nan=True)
    assert np.array_equal(truth.virtual_depth, with_real.virtual_depth, equal_nan=True)
    same = np.isfinite(truth.depth) & np.isfinite(with_pupil.depth)
    assert same.mean() > 0.2
    assert np.abs(truth.depth - with_pupil.depth)[same].max() < 0.01
