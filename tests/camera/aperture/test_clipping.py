"""What a pixel sees of its lens: open lenses against rays that the test traces itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, unfocused, with_focal_lengths, without_distortion

from plenodepth.camera import ExitPupil, PlenopticCamera, lens_center, lens_distances, predicted_center, preset
from plenodepth.camera.aperture.clipping import (
    aperture_diameter,
    aperture_table,
    disc_of_pupil,
    focus_inverse_depth,
    open_area,
    open_centroid,
    open_lens,
    open_part,
    open_part_slope,
    pupil_on_lens,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Pose


@pytest.mark.parametrize("name", ["r12-es", "r12-a-pinhole"])
def test_area_and_centroid_alone_are_those_of_the_whole(name: str) -> None:
    camera = preset(name)
    ratio, radius = disc_of_pupil(*lens_distances(camera), 0, camera, 4.0)
    offset = np.linspace(0, 0.2, 50)  # from fully open to closed
    for sign in (-1, 1):
        part = open_part(sign * ratio, radius, offset, camera)
        np.testing.assert_array_equal(open_area(sign * ratio, radius, offset, camera), part.area)
        np.testing.assert_array_equal(open_centroid(sign * ratio, radius, offset, camera), part.centroid)
    assert part.area[0] > 0.99 * part.area.max()
    assert part.area[-1] == 0


# --- lenses -----------------------------------------------------------------------------------------------------


def at_the_image_of_the_pupil() -> PlenopticCamera:
    """Lenses that image the pixels onto the main lens: g = 0."""
    mini = preset("r12-mini")
    main, sensor = lens_distances(mini)
    return replace(with_focal_lengths(mini, [float(1 / (1 / main + 1 / sensor))]), name="g = 0")


def tilted(camera: PlenopticCamera, angle: float) -> PlenopticCamera:
    """The array turned by `angle` rad about x, and by half of it about y, about the array's corner."""
    lenses = camera.micro_lenses
    turn = Pose.from_rotation_vector([angle, angle / 2, 0]).rotation
    return replace(camera, micro_lenses=replace(lenses, cam_from_mla=Pose(turn, lenses.cam_from_mla.translation)))


def with_pupil(
    camera: PlenopticCamera, distance: float, diameter: float | None = None, offset: tuple[float, float] = (0.0, 0.0)
) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(distance, diameter, offset)))


def with_clear_aperture(camera: PlenopticCamera, part: float) -> PlenopticCamera:
    return replace(camera, micro_lenses=replace(camera.micro_lenses, clear_aperture=part))


CAMERAS = {
    "galilean": preset("r12-mini"),
    "keplerian": keplerian(),
    "unfocused": unfocused(),
    "g = 0": at_the_image_of_the_pupil(),
    "pupil behind": with_pupil(preset("r12-mini"), 9.0, 11.0),
    "pupil before": with_pupil(preset("r12-b"), -20.0),
    "keplerian, pupil": with_pupil(keplerian(), 12.0, 14.0),
    "pupil aside": with_pupil(preset("r12-mini"), 9.0, 11.0, (1.5, -0.7)),
    "narrow lenses": with_clear_aperture(with_pupil(preset("r12-mini"), -15.0), 0.85),
    "tilted": with_pupil(tilted(without_distortion(preset("r12-c")), 2e-3), 15.0),
}
LENS_POINTS = 40_000


def passing(camera: PlenopticCamera, k: int, l: int, pixel: np.ndarray, f_number: float) -> np.ndarray:
    """Points (n, 2) mm of lens (k, l) whose ray from the pixel (u, v) goes through the exit pupil, of LENS_POINTS."""
    golden = np.pi * (3 - np.sqrt(5))
    index = np.arange(LENS_POINTS) + 0.5
    radius = camera.micro_lenses.lens_diameter / 2 * np.sqrt(index / LENS_POINTS)
    y = radius[:, None] * np.stack([np.cos(golden * index), np.sin(golden * index)], axis=1)
    center = lens_center(k, l, camera)
    start = camera.sensor.metric_from_image(pixel)
    to_sensor = center[2] - camera.sensor.position[2]
    focal = camera.micro_lenses.focal_lengths[int(camera.micro_images.lens_type(k, l))]
    slope = (center[:2] + y - start) / to_sensor - y / focal
    pupil = camera.main_lens.exit_pupil or ExitPupil()
    at_pupil = center[:2] + y + slope * (-pupil.distance - center[2])
    diameter = (camera.main_lens.focal_length - pupil.distance) / f_number  # of a cone to the focus
    if pupil.diameter is not None:
        assert camera.main_lens.f_number is not None
        diameter = pupil.diameter * camera.main_lens.f_number / f_number
    return y[np.hypot(*(at_pupil - pupil.offset).T) <= diameter / 2]


@pytest.mark.parametrize("f_number", [2.8, 5.6])
@pytest.mark.parametrize("name", CAMERAS)
def test_an_open_lens_is_what_rays_pass(name: str, f_number: float) -> None:
    camera = CAMERAS[name]
    lattice, generator = camera.micro_images.lattice, np.random.default_rng(3)
    half, pixel_size = camera.micro_lenses.lens_diameter / 2, camera.sensor.pixel_size
    seen = 0
    for k, l in [(0, 0), (lattice.columns - 1, 2), (lattice.columns // 2, lattice.rows // 2), (5, lattice.rows - 1)]:
        pupil = pupil_on_lens(k, l, camera, f_number)
        for _ in range(4):
            away = generator.uniform(-0.7, 0.7, 2) * camera.micro_images.radius
            pixel = predicted_center(k, l, camera) + away
            offset = -away * pixel_size  # the image is the sensor turned by 180°
            found = open_part(pupil.ratio, pupil.radius, np.linalg.norm(offset), camera)
            y = passing(camera, k, l, pixel, f_number)
            assert found.area == pytest.approx(len(y) / LENS_POINTS, abs=2e-3)
            if len(y) < 0.02 * LENS_POINTS:
                continue
            seen += 1
            direction = offset / np.linalg.norm(offset)
            along, across = y @ direction, y @ [-direction[1], direction[0]]
            assert found.centroid == pytest.approx(along.mean(), abs=0.01 * half)
            assert across.mean() == pytest.approx(0, abs=0.01 * half)
            assert found.variance_along == pytest.approx(along.var(), abs=0.01 * half**2)
            assert found.variance_across == pytest.approx((across**2).mean(), abs=0.01 * half**2)
    assert seen >= 2


@pytest.mark.parametrize("name", CAMERAS)
def test_the_slope_of_the_centroid_is_its_derivative(name: str) -> None:
    camera = CAMERAS[name]
    pixel = camera.sensor.pixel_size
    offset = np.linspace(0.4, 0.9 * camera.micro_images.radius, 12) * pixel
    step = 1e-5 * pixel
    for lens_type in range(camera.type_count):
        near, far = (open_lens(offset + by, lens_type, camera).centroid for by in (-step, step))
        expected = (far - near) / (2 * step)
        some = np.isfinite(expected)
        ratio, radius = disc_of_pupil(*lens_distances(camera), lens_type, camera)
        found = open_part_slope(ratio, radius, offset, camera)
        np.testing.assert_allclose(found[some], expected[some], atol=1e-4, rtol=1e-4)


def test_an_open_aperture_shifts_nothing_and_a_small_one_towards_the_pixel_in_a_galilean_camera() -> None:
    camera = preset("r12-mini")
    offset = np.array([0.01, 0.02, 0.03])
    wide, narrow = open_lens(offset, 1, camera, 0.7), open_lens(offset, 1, camera, 5.6)
    np.testing.assert_allclose(wide.area, 1)
    np.testing.assert_allclose(wide.centroid, 0, atol=1e-12)
    np.testing.assert_allclose(wide.variance_along, camera.micro_lenses.lens_diameter**2 / 16)
    assert (np.diff(narrow.centroid) > 0).all()
    assert (open_lens(offset, 1, keplerian(), 5.6).centroid < 0).all()


def test_nothing_open_is_area_zero_and_no_centroid() -> None:
    found = open_lens([0.0, 0.06], 0, preset("r12-mini"), 16.0)
    assert found.area[1] == 0
    assert np.isnan([found.centroid[1], found.variance_along[1], found.variance_across[1]]).all()
    assert found.centroid[0] == pytest.approx(0, abs=1e-12)


def test_pinholes_neither_shift_nor_blur() -> None:
    camera = preset("r12-a-pinhole")
    found = open_lens([0.0, 0.02, 0.05], 0, camera)
    assert found.area[0] > found.area[2] > 0
    for part in found[1:]:
        np.testing.assert_array_equal(part, 0)
    assert focus_inverse_depth(camera).tolist() == [1.0]
    assert aperture_table(camera).centroid.shape == (1, 241)


def test_a_pupil_in_the_plane_of_the_lens_changes_nothing() -> None:
    camera = preset("r12-b")
    offset = np.linspace(0, 0.06, 30)
    for pupil in (ExitPupil(), ExitPupil(0.0, camera.main_lens.focal_length / 4.0)):
        same = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=pupil))
        for number in (None, 2.8):
            np.testing.assert_array_equal(open_lens(offset, 0, same, number), open_lens(offset, 0, camera, number))
        assert (predicted_center([0, 50], [0, 70], same) == predicted_center([0, 50], [0, 70], camera)).all()


def test_the_diameter_follows_the_f_number() -> None:
    camera = with_pupil(preset("r12-b"), 5.0, 9.0)
    assert aperture_diameter(camera) == 9.0
    assert aperture_diameter(camera, 8.0) == 4.5
    assert aperture_diameter(with_pupil(preset("r12-b"), 5.0), 8.0) == (camera.main_lens.focal_length - 5) / 8
    assert aperture_diameter(preset("r12-b"), 8.0) == camera.main_lens.focal_length / 8


@pytest.mark.parametrize("number", [0.0, -4.0, np.nan, np.inf])
def test_an_impossible_f_number_is_named(number: float) -> None:
    with pytest.raises(InputError, match="f_number"):
        open_lens(0.01, 0, preset("r12-mini"), number)


def test_a_camera_without_f_number_needs_one() -> None:
    mini = preset("r12-mini")
    unknown = replace(mini, main_lens=replace(mini.main_lens, f_number=None))
    with pytest.raises(InputError, match=r"main_lens\.f_number"):
        open_lens(0.01, 0, unknown)
    np.testing.assert_array_equal(open_lens(0.01, 0, unknown, 4.0), open_lens(0.01, 0, mini))


def test_the_table_holds_open_lenses_and_effective_radii() -> None:
    camera = preset("r12-mini")
    table = aperture_table(camera, 4.0)
    assert table.radius[-1] == camera.micro_images.radius
    pixel = camera.sensor.pixel_size
    for lens_type in range(3):
        lens = open_lens(table.radius * pixel, lens_type, camera, 4.0)
        np.testing.assert_allclose(table.area[lens_type], lens.area)
        v = 7.0
        expected = table.radius + lens.centroid / pixel * (1 / v - focus_inverse_depth(camera)[lens_type])
        np.testing.assert_allclose(table.effective_radius(lens_type, 1 / v), expected)
        assert table.effective_radius(lens_type, table.focus[lens_type]) == pytest.approx(table.radius)
