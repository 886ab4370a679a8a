"""Where light is blocked: exit pupil, rim, the micro-lenses' opening, walls between them; against closed forms."""

from dataclasses import replace

import numpy as np
import pytest
from discs import common_part
from spots import GLOWING, at

from plenodepth.camera import PlenopticCamera, lens_center, lens_distances, predicted_center, preset
from plenodepth.camera.model import ExitPupil
from plenodepth.sim.optics import RealOptics, Stop, camera_with_optics
from plenodepth.sim.optics.camera import lens_shape, pupil_of
from plenodepth.sim.rays import RaySetup, ray_setup
from plenodepth.sim.render import RenderSettings, render, scene_depths
from plenodepth.sim.samples import CELLS, LensShape, ray_samples
from plenodepth.sim.scenes.scene import Rectangle, Scene

CAMERA = preset("r12-mini")
WALL = Scene((Rectangle(5000, 5000, at(0, 0, 900), GLOWING),))


def white(
    optics: RealOptics | None, f_number: float, camera: PlenopticCamera = CAMERA, lenses: int = 7, **settings: int
) -> tuple[np.ndarray, RaySetup]:
    """White light (h, w), in the micro-images of every so many lenses, and the set-up that made it."""
    setup = ray_setup(camera, *scene_depths(WALL, 50.2), f_number=f_number, optics=optics)
    owner = np.where(setup.owner % lenses == 0, setup.owner, -1).astype(np.int32)
    setup = replace(setup, owner=owner)
    chosen = RenderSettings(**({"rays": 64} | settings), f_number=f_number, optics=optics)
    return render(WALL, camera, chosen, setup=setup).light[..., 0].astype(np.float64), setup


def lens_optics(owner: np.ndarray, camera: PlenopticCamera = CAMERA) -> tuple[np.ndarray, ...]:
    """Centre (n, 3), D and d (n,) of lenses, mm."""
    l, k = np.divmod(owner, camera.micro_images.lattice.columns)
    return lens_center(k, l, camera), *lens_distances(camera, k, l)


@pytest.mark.parametrize(
    ("stop", "own"),
    [
        (Stop(-15.0), False),
        (Stop(20.0, 8.0), False),
        (Stop(-15.0, None, (2.0, -1.0)), False),
        (Stop(-15.0, None, (2.0, -1.0)), True),
    ],
    ids=["before", "behind", "aside", "the camera's own"],
)
def test_white_micro_images_lie_where_the_pupil_is_seen_through_their_lens(stop: Stop, own: bool) -> None:
    """Their centres spread as (P + d)/P with P = D − e, and stand d/P times the pupil's offset to the other side."""
    camera, optics = CAMERA, RealOptics(exit_pupil=stop)
    if own:
        camera = replace(
            camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(stop.distance, None, stop.offset))
        )
    light, setup = white(None if own else optics, 4.0, camera, rays=256)
    lenses = np.unique(setup.owner[setup.owner >= 0])
    center, main, sensor = lens_optics(lenses)
    to_pupil = (main - stop.distance)[:, None]
    expected = center[:, :2] * (1 + sensor[:, None] / to_pupil) - np.array(stop.offset) * sensor[:, None] / to_pupil
    v, u = np.indices(light.shape)
    size, misses = np.array(light.shape[::-1]), []
    for lens, place in zip(lenses, camera.sensor.image_from_metric(expected), strict=True):
        mine = setup.owner == lens
        if ((place > 12) & (place < size - 12)).all():  # the others are cut by the sensor's edge
            misses.append([np.average(index[mine], weights=light[mine]) for index in (u, v)] - place)
    assert len(misses) > 40
    assert np.abs(np.mean(misses, axis=0)).max() < 0.01
    assert np.linalg.norm(misses, axis=1).max() < 0.05  # from e = 0 to −15 mm the outermost ones move by 0.45 px


def test_the_grid_of_the_camera_follows_the_pupil() -> None:
    optics = RealOptics(exit_pupil=Stop(-15.0, 16.25, (1.0, 0.5)))
    camera = camera_with_optics(CAMERA, optics)
    assert camera.main_lens.exit_pupil == ExitPupil(-15.0, 16.25, (1.0, 0.5))
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    center, (main, sensor) = lens_center(k, l, CAMERA), lens_distances(CAMERA, k, l)
    seen = center[:, :2] + (center[:, :2] - [1.0, 0.5]) * (sensor / (main + 15))[:, None]
    assert np.abs(camera.micro_images.center(k, l) - CAMERA.sensor.image_from_metric(seen)).max() < 0.02
    assert (
        np.abs(camera.micro_images.center(k, l) - predicted_center(k, l, camera)).max() < 0.01
    )  # the lenses' tilt is no grid's
    assert camera_with_optics(CAMERA, RealOptics(mask=True)) is CAMERA


def test_the_camera_knows_the_clear_aperture_of_the_optics() -> None:
    camera = camera_with_optics(CAMERA, RealOptics(clear_aperture=0.9))
    assert camera.micro_lenses.clear_aperture == 0.9
    assert lens_shape(camera, None).radius == pytest.approx(0.9 * CAMERA.micro_lenses.lens_diameter / 2)


def test_the_pupil_of_the_optics_takes_the_place_of_the_cameras_and_grows_with_the_aperture() -> None:
    camera = replace(CAMERA, main_lens=replace(CAMERA.main_lens, exit_pupil=ExitPupil(5.0, 10.0)))
    assert pupil_of(camera, None, 8.0).radius == 2.5
    assert pupil_of(camera, RealOptics(mask=True)).distance == 5.0
    aside = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(5.0, 10.0, (1.0, -2.0))))
    assert pupil_of(aside, None).offset == (1.0, -2.0)
    chosen = pupil_of(camera, RealOptics(exit_pupil=Stop(-15.0)), 8.0)
    assert (chosen.distance, chosen.radius) == (-15.0, (CAMERA.main_lens.focal_length + 15) / 16)
    assert pupil_of(camera, RealOptics(exit_pupil=Stop(-15.0, 16.0)), 8.0).radius == 4.0


@pytest.mark.parametrize(("f_number", "clear"), [(2.8, 1.0), (4.0, 0.8), (8.0, 0.6)])
def test_vignetting_is_that_of_the_clear_lens_and_the_pupil(f_number: float, clear: float) -> None:
    """Two discs as in the test for thin lenses, but at P instead of D and with a part of the pitch."""
    stop = Stop(-15.0, 16.0)
    light, setup = white(RealOptics(exit_pupil=stop, clear_aperture=clear), f_number, lenses=17, rays=256)
    rows, columns = np.nonzero(setup.owner >= 0)
    lenses = setup.owner[rows, columns]
    center, main, sensor = lens_optics(lenses)
    l, k = np.divmod(lenses, 24)
    focal = CAMERA.micro_lenses.focal_lengths[CAMERA.micro_images.lens_type(k, l)]
    to_pupil, radius = main - stop.distance, clear * CAMERA.micro_lenses.lens_diameter / 2
    g = 1 + to_pupil * (1 / sensor - 1 / focal)
    nodes, weights = np.polynomial.legendre.leggauss(3)
    expected = np.zeros(len(rows))
    for du, wu in zip(nodes / 2, weights / 2, strict=True):
        for dv, wv in zip(nodes / 2, weights / 2, strict=True):
            x = CAMERA.sensor.metric_from_image(np.column_stack([columns + du, rows + dv])) - center[:, :2]
            middle = -(center[:, :2] - x * (to_pupil / sensor)[:, None]) / g[:, None]
            size = 16.0 * 4.0 / f_number / 2 / np.abs(g)
            area, _ = common_part(radius, size, np.linalg.norm(middle, axis=1))
            expected += wu * wv * area / (np.pi * radius**2)
    difference = light[rows, columns] - expected
    assert abs(difference.mean()) < 0.001 * expected.mean() + 1e-4
    assert np.sqrt((difference**2).mean()) < 0.01 * max(expected.max(), 0.1)


def test_a_rim_leaves_what_two_displaced_discs_share() -> None:
    """Through lenses as small as pinholes the micro-image is the pupil and the rim side by side: a cat's eye."""
    stop, rim = Stop(-15.0, 12.0), Stop(-300.0, 64.0, (10.0, 0.0))
    optics = RealOptics(exit_pupil=stop, rim=rim, clear_aperture=0.05)
    light, setup = white(optics, 4.0)
    lenses = np.unique(setup.owner[setup.owner >= 0])
    center, main, sensor = lens_optics(lenses)
    found, expected = [], []
    for lens, place, d_main, d in zip(lenses, center[:, :2], main, sensor, strict=True):
        pupil, second = d / (d_main + 15), d / (d_main + 300)  # how much smaller a hole shows them
        # The middle of a stop at o shows at −(o − C) times that.
        apart = np.linalg.norm(place * pupil - (place - rim.offset) * second)
        area, _ = common_part(6.0 * pupil, 32.0 * second, apart)
        mine = setup.owner == lens
        if np.count_nonzero(mine) > 400:  # whole micro-images
            found.append(light[mine].sum() * CAMERA.sensor.pixel_size**2)
            expected.append(area[0])
    found, expected = np.array(found), np.array(expected)
    assert len(found) > 30
    assert np.ptp(expected) > 0.2 * expected.max()  # over the field the rim covers more and more
    assert np.abs(found / expected - 1).max() < 0.02


def test_walls_leave_no_light_beyond_half_a_pitch() -> None:
    optics = RealOptics(exit_pupil=Stop(-15.0), mask=True)
    camera = camera_with_optics(CAMERA, optics)
    open_light, setup = white(RealOptics(exit_pupil=Stop(-15.0)), 1.4, lenses=1, rays=16, neighbour_light=True)
    walled, _ = white(optics, 1.4, lenses=1, rays=16, neighbour_light=True)
    alone, _ = white(RealOptics(exit_pupil=Stop(-15.0)), 1.4, lenses=1, rays=16)
    rows, columns = np.nonzero(setup.owner >= 0)
    l, k = np.divmod(setup.owner[rows, columns], 24)
    away = np.linalg.norm(np.column_stack([columns, rows]) - camera.micro_images.center(k, l), axis=1)
    radius = camera.micro_images.radius
    outside, inside = away > radius + 0.75, away < radius - 0.75
    assert (walled[rows, columns][outside] == 0).all()
    assert open_light[rows, columns][outside].mean() > 0.1
    assert np.abs(walled - alone)[rows, columns][inside].max() < 1e-5  # own light, no neighbour's
    # A pixel on the wall keeps the part of it that lies inside.
    across = np.abs(away - radius) < 0.75
    offsets = (np.arange(9) - 4) / 9
    part = np.mean(
        [
            np.linalg.norm(np.column_stack([columns + du, rows + dv]) - camera.micro_images.center(k, l), axis=1)
            < radius
            for du in offsets
            for dv in offsets
        ],
        axis=0,
    )
    kept = (part * alone[rows, columns])[across].sum()
    own, _ = white(optics, 1.4, lenses=1, rays=16)  # a pixel across two walls may have light of both sides
    assert own[rows, columns][across].sum() == pytest.approx(kept, rel=0.02)


@pytest.mark.parametrize("sides", CELLS.values(), ids=CELLS)
def test_lenses_that_fill_their_cells_are_sampled_evenly_up_to_their_rounded_corners(sides: tuple[float, ...]) -> None:
    shape = LensShape(0.06, 1.1, sides)
    points = ray_samples(64, 0.005, shape, 3)[..., 2:].reshape(-1, 2).astype(np.float64)
    axis = np.linspace(-0.066, 0.066, 801)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)

    def inside(places: np.ndarray) -> np.ndarray:
        found = np.linalg.norm(places, axis=1) <= 0.066 * (1 + 1e-6)
        for side in np.radians(sides):
            found &= np.abs(places @ [np.cos(side), np.sin(side)]) <= 0.06 * (1 + 1e-6)
        return found

    assert inside(points).all()
    filled = grid[inside(grid)]
    assert (points**2).mean(axis=0) == pytest.approx((filled**2).mean(axis=0), rel=0.01)
    reached = np.linalg.norm(points, axis=1) > 0.06
    assert reached.mean() == pytest.approx((np.linalg.norm(filled, axis=1) > 0.06).mean(), abs=0.004)


def test_cells_of_neighbours_do_not_overlap() -> None:
    lattice = CAMERA.micro_images.lattice
    sides = np.radians(CELLS[lattice.arrangement])
    for dk, dl in ((1, 0), (0, 1), (-1, 1)):
        step = (lattice.node(6 + dk, 5 + dl) - lattice.node(6, 5)) / lattice.diameter
        if np.linalg.norm(step) < 1.1:  # a neighbour stands across a side
            assert max(abs(step @ [np.cos(side), np.sin(side)]) for side in sides) == pytest.approx(1, abs=0.01)
