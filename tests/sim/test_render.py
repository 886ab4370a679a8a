"""Whole pixels: spots, vignetting, noise, occlusion, light; against closed forms written for the test."""

from dataclasses import replace

import numpy as np
import pytest
from discs import common_part
from spots import GLOWING, at, footprint, spot

from plenodepth.camera import distort, lens_center, lens_distances, lenses_that_see, preset, project
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.sim.rays import ray_setup
from plenodepth.sim.render import RenderSettings, neighbour_table, render, scene_depths
from plenodepth.sim.scenes.scene import Box, Checkerboard, ImageTexture, Light, Material, Mesh, Rectangle, Scene, Sphere


@pytest.mark.parametrize("point", [[0.0, 0.0, 900.0], [3.0, -2.0, 600.0], [-4.0, 3.0, 1300.0]], ids=str)
def test_a_small_emitter_lands_where_project_says_as_large_as_its_blur(point: list[float]) -> None:
    camera, target = preset("r12-mini"), np.array(point)
    seen = lenses_that_see(target, camera, margin=3)
    for lens_type in range(3):
        matching = np.flatnonzero(camera.micro_images.lens_type(seen.k, seen.l) == lens_type)
        k, l = int(seen.k[matching[0]]), int(seen.l[matching[0]])
        expected = project(target, k, l, camera)
        side = 2 * footprint(camera, target, k, l)
        _, middle, spread = spot(camera, target, k, l, 1.0, side)
        assert np.linalg.norm(middle - expected.uv) < 0.05
        # A disc of radius ρ has mean squared radius ρ²/2; the pixel adds 1/6, the square emitter its side²/6.
        radius = np.sqrt(2 * (spread - 1 / 6 - (side / footprint(camera, target, k, l)) ** 2 / 6))
        assert radius == pytest.approx(abs(float(expected.rho)), rel=0.05)


@pytest.mark.parametrize(("f_number", "blocked_from"), [(2.8, 10.8), (4.0, 7.0), (5.6, 5.0)])
def test_a_narrow_aperture_shifts_the_spot_as_two_intersecting_discs_do(f_number: float, blocked_from: float) -> None:
    camera, target = preset("r12-mini"), np.array([1.0, 0.5, 600.0])
    focal = camera.main_lens.focal_length
    seen = lenses_that_see(target, camera)
    place = project(target, seen.k, seen.l, camera).uv - camera.micro_images.center(seen.k, seen.l)
    chosen = int(np.argmin(np.abs(np.linalg.norm(place, axis=1) - blocked_from)))
    k, l = int(seen.k[chosen]), int(seen.l[chosen])
    side = 2 * footprint(camera, target, k, l)
    _, middle, _ = spot(camera, target, k, l, f_number, side)
    # An emitting point's rays use those points y of the lens whose line from the virtual point p meets the main lens
    # inside its aperture: q = p + (C + y − p) g with g = (D + v d)/(v d). Averaged over the emitter, since the open
    # part, and with it the weight, changes across it.
    center, radius = lens_center(k, l, camera), camera.micro_lenses.lens_diameter / 2
    nodes, weights = np.polynomial.legendre.leggauss(8)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2) * side / 2
    points = target + np.column_stack([grid, np.zeros(len(grid))])
    image = distort(-focal / (target[2] - focal) * points, camera.distortion)
    g = image[0, 2] / (image[0, 2] - center[2])
    other = -(image[:, :2] + (center - image)[:, :2] * g) / g
    away = np.linalg.norm(other, axis=1)
    area, shift = common_part(radius, focal / f_number / 2 / g, away)
    expected = project(points, k, l, camera)
    # A lens point y is imaged (ρ/(B/2)) y beside the spot's centre.
    place = expected.uv + expected.rho[:, None] / radius * shift[:, None] * other / away[:, None]
    weight = np.outer(weights, weights).ravel() * area
    predicted = weight @ place / weight.sum()
    assert np.linalg.norm(predicted - project(target, k, l, camera).uv) > 0.3  # there is something to see
    assert np.linalg.norm(middle - predicted) < 0.05


@pytest.mark.parametrize("f_number", [1.4, 2.8, 4.0, 8.0])
def test_a_white_scene_shows_the_vignetting_of_two_discs(f_number: float) -> None:
    camera = preset("r12-mini")
    scene = Scene((Rectangle(5000, 5000, at(0, 0, 900), GLOWING),))
    setup = ray_setup(camera, *scene_depths(scene, 50.2), f_number=f_number)
    rows, columns = (index[::17] for index in np.nonzero(setup.owner >= 0))
    owner = np.full_like(setup.owner, -1)  # some pixels of every micro-image are enough
    owner[rows, columns] = setup.owner[rows, columns]
    settings = RenderSettings(rays=256, f_number=f_number)
    found = render(scene, camera, settings, setup=replace(setup, owner=owner)).light[..., 0]
    l, k = np.divmod(owner[rows, columns], 24)
    center = lens_center(k, l, camera)
    main, sensor = lens_distances(camera, k, l)
    focal = camera.micro_lenses.focal_lengths[camera.micro_images.lens_type(k, l)]
    radius = camera.micro_lenses.lens_diameter / 2
    # q = C + y + ((y − x)/d − y/f) D, so the open part is |y − c| ≤ R; averaged over the pixel by Gauss–Legendre.
    g = 1 + main * (1 / sensor - 1 / focal)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    expected = np.zeros(len(rows))
    for du, wu in zip(nodes / 2, weights / 2, strict=True):
        for dv, wv in zip(nodes / 2, weights / 2, strict=True):
            x = camera.sensor.metric_from_image(np.column_stack([columns + du, rows + dv])) - center[:, :2]
            middle = -(center[:, :2] - x * (main / sensor)[:, None]) / g[:, None]
            size = camera.main_lens.focal_length / f_number / 2 / np.abs(g)
            area, _ = common_part(radius, size, np.linalg.norm(middle, axis=1))
            expected += wu * wv * area / (np.pi * radius**2)
    difference = found[rows, columns] - expected
    assert expected.max() > 0.05
    assert abs(difference.mean()) < 0.001 * expected.mean() + 1e-4
    assert np.sqrt((difference**2).mean()) < 0.01 * max(expected.max(), 0.1)


def test_vignetting_can_be_removed() -> None:
    camera = preset("r12-mini")
    scene = Scene((Rectangle(5000, 5000, at(0, 0, 900), Material(color=(0.5, 0.25, 1.0), emits=True)),))
    light = render(scene, camera, RenderSettings(rays=64, vignetting=False)).light
    lit = light[..., 0] > 0
    assert lit.mean() > 0.5
    assert np.allclose(light[lit], [0.5, 0.25, 1.0], rtol=1e-5)


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads() -> None:
    camera = preset("r12-mini")
    scene = Scene((Checkerboard(6, 4, 10, at(-25, -15, 700)), Sphere(10, at(8, 5, 620))))
    one, two = (render(scene, camera, RenderSettings(rays=8, seed=3, threads=n)).light for n in (1, 2))
    other = render(scene, camera, RenderSettings(rays=8, seed=4)).light
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def noise_texture(seed: int = 0) -> ImageTexture:
    coarse = np.random.default_rng(seed).random((40, 40, 3))
    return ImageTexture(np.kron(coarse, np.ones((8, 8, 1))).astype(np.float32))


def test_noise_falls_clearly_faster_than_one_over_the_root_of_rays() -> None:
    camera = preset("r12-mini")
    scene = Scene((Rectangle(200, 200, at(0, 0, 900), Material(texture=noise_texture(), emits=True)),))
    setup = ray_setup(camera, *scene_depths(scene, 50.2))
    setup = replace(setup, owner=np.where(setup.owner % 48 == 5, setup.owner, -1).astype(np.int32))  # a few are enough
    truth = render(scene, camera, RenderSettings(rays=4096, seed=99), setup=setup).light
    counts = [8, 32, 128, 512]
    errors = [
        np.sqrt(((render(scene, camera, RenderSettings(rays=n, seed=1), setup=setup).light - truth) ** 2).mean())
        for n in counts
    ]
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert slope < -0.65  # random rays give −0.5


def test_nearer_objects_hide_farther_ones_of_every_kind() -> None:
    camera = preset("r12-mini")
    wall = Rectangle(500, 500, at(0, 0, 1200), Material(color=(0, 0, 1), emits=True))
    red = Material(color=(1, 0, 0), emits=True)
    triangle = np.array([[-16, -16, 0], [16, -16, 0], [0, 24, 0.0]])
    for front in (
        Rectangle(16, 16, at(0, 0, 800), red),
        Sphere(8, at(0, 0, 800), red),
        Box(np.array([16, 16, 30]), at(0, 0, 800), red),
        Mesh(triangle, np.array([[0, 1, 2]]), at(0, 0, 800), red),
    ):
        light = render(Scene((wall, front)), camera, RenderSettings(rays=4, f_number=2.0)).light
        k, l = camera.micro_images.owner(camera.sensor.principal_point)
        u, v = np.rint(camera.micro_images.center(k, l)).astype(int)
        assert light[v, u, 0] > 0.3
        assert light[v, u, 2] == 0
        u, v = np.rint(camera.micro_images.center(1, 1)).astype(int)
        assert light[v, u, 2] > 0.3


def test_a_mesh_and_a_simple_shape_of_the_same_form_look_the_same() -> None:
    camera = preset("r12-mini")
    texture = Material(color=(0.9, 0.6, 0.3))
    lamps = (Light(direction=np.array([0.2, -0.5, -1.0])), Light(position=np.array([300.0, 0, 0]), intensity=0.4))
    corners = np.array([[-50, -40, 0], [50, -40, 0], [50, 40, 0], [-50, 40, 0.0]])
    pose = Pose.from_rotation_vector([0.4, 0.3, 0], [0, 0, 800])
    flat = Rectangle(100, 80, pose, texture)
    mesh = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), pose, texture)
    one, two = (
        render(Scene((thing,), lamps, ambient=0.1), camera, RenderSettings(rays=16)).light for thing in (flat, mesh)
    )
    assert np.abs(one - two).max() < 1e-4


def test_a_box_is_seen_from_inside_as_well() -> None:
    room = Box(np.array([800, 600, 2400]), at(0, 0, 100), GLOWING)
    scene = Scene((room, Sphere(5, at(0, 0, 700), Material(color=(0, 0, 0), emits=True))))
    setup = ray_setup(preset("r12-mini"), 600, 1400)
    light = render(scene, preset("r12-mini"), RenderSettings(rays=2, vignetting=False), setup=setup).light[..., 0]
    assert (light == 1).mean() > 0.5


def test_lambert_darkens_a_tilted_face_by_the_cosine() -> None:
    camera = preset("r12-mini")
    lamp = (Light(direction=np.array([0.0, 0, -1])),)
    values = []
    for angle in (0.0, 0.6, 1.0):
        face = Rectangle(800, 800, Pose.from_rotation_vector([0, angle, 0], [0, 0, 900]))
        light = render(
            Scene((face,), lamp, ambient=0.0), camera, RenderSettings(rays=4, f_number=1.0, vignetting=False)
        )
        values.append(float(np.median(light.light[..., 0][light.light[..., 0] > 0])))
    assert values == pytest.approx([1, np.cos(0.6), np.cos(1.0)], rel=1e-3)


def test_board_corners_are_where_squares_meet() -> None:
    camera = preset("r12-mini")
    board = Checkerboard(5, 3, 12, at(-20, -10, 500))
    light = render(Scene((board,)), camera, RenderSettings(rays=64, f_number=1.0)).light[..., 0]
    corners = board.cam_from_object(board.corners())
    seen = lenses_that_see(corners, camera, margin=7)
    found = project(corners[seen.point], seen.k, seen.l, camera)
    assert len(found.uv) > 20
    for (u, v), rho in zip(found.uv[:40], found.rho[:40], strict=True):
        reach = abs(rho) + 2
        values = [
            light[int(np.rint(v + b * reach / 1.5)), int(np.rint(u + a * reach / 1.5))]
            for a, b in ((1, 1), (-1, -1), (1, -1), (-1, 1))
        ]
        assert min(values[0], values[1]) > 0
        first, second = (values[0] + values[1]) / 2, (values[2] + values[3]) / 2
        assert abs(first - second) > 0.15  # opposite squares are alike, neighbours are not
        assert abs(values[0] - values[1]) < abs(first - second)


def test_light_through_neighbouring_lenses_is_added_when_asked() -> None:
    camera = preset("r12-mini")
    scene = Scene((Rectangle(5000, 5000, at(0, 0, 900), GLOWING),))

    def light(f_number: float, neighbours: bool) -> np.ndarray:
        setup = ray_setup(camera, *scene_depths(scene, 50.2), f_number=f_number)
        owner = setup.owner.copy()
        owner[np.arange(len(owner)) % 3 > 0] = -1  # every third row is enough
        settings = RenderSettings(rays=16, f_number=f_number, neighbour_light=neighbours)
        return render(scene, camera, settings, setup=replace(setup, owner=owner)).light

    alone, together = light(1.4, False), light(1.4, True)
    assert (together >= alone - 1e-5).all()
    assert together.sum() > 1.02 * alone.sum()
    assert light(8.0, True).sum() == pytest.approx(light(8.0, False).sum(), rel=1e-3)


def test_every_lens_inside_the_array_has_six_neighbours() -> None:
    lattice = preset("r12-mini").micro_images.lattice
    table = neighbour_table(lattice, True)
    counts = (table >= 0).sum(axis=1).reshape(20, 24)
    assert (counts[1:-1, 1:-1] == 7).all()
    assert (neighbour_table(lattice, False)[:, 0] == np.arange(480)).all()


def test_pinhole_and_large_apertures_render_too() -> None:
    camera = preset("r12-mini")
    pinhole = replace(
        camera,
        micro_images=replace(camera.micro_images, type_pattern=np.zeros((0, 0), int)),
        micro_lenses=replace(camera.micro_lenses, focal_lengths=np.zeros(0)),
    )
    scene = Scene((Rectangle(400, 400, at(0, 0, 900), GLOWING),))
    assert render(scene, pinhole, RenderSettings(rays=4)).light.max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("rays", lambda: RenderSettings(rays=0)),
        ("threads", lambda: RenderSettings(threads=0)),
        ("scene.objects", lambda: Scene(())),
        ("lost", lambda: Scene((Sphere(5, at(0, 0, -100), name="lost"),))),
        ("close", lambda: scene_depths(Scene((Sphere(5, at(0, 0, 45), name="close"),)), 50.0)),
        ("ball.radius", lambda: Sphere(-1, at(0, 0, 500), name="ball")),
        ("light", lambda: Light()),
        ("light.intensity", lambda: Light(direction=np.array([0, 0, 1.0]), intensity=-1)),
        ("texture", lambda: ImageTexture(np.zeros((3, 3), np.float32))),
        ("mesh", lambda: Mesh(np.zeros((3, 3)), np.array([[0, 1, 5]]), at(0, 0, 500))),
    ],
)
def test_what_cannot_be_rendered_is_named(field: str, make: object) -> None:
    with pytest.raises(InputError) as error:
        make()  # type: ignore[operator]
    assert error.value.field == field


def test_degenerate_triangles_are_left_out_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    vertices = np.array([[-60, -60, 0], [60, -60, 0], [0, 90, 0.0]])
    faces = np.array([[0, 1, 2], [0, 0, 1]])
    scene = Scene((Mesh(vertices, faces, at(0, 0, 800), GLOWING, name="flake"),))
    light = render(scene, preset("r12-mini"), RenderSettings(rays=2)).light
    assert light.max() > 0
    assert "flake: 1 degenerate triangles" in caplog.text
