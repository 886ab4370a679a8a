"""Radii in white images and the start of a calibration from them, against the camera that made the images."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cameras import keplerian
from numpy.typing import NDArray

from plenodepth.calib.whites.grid import find_grid
from plenodepth.calib.whites.lattice_fit import type_pattern_for
from plenodepth.calib.whites.precalibration import precalibrate
from plenodepth.calib.whites.radii import measure_radii
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.camera import PlenopticCamera, predicted_center, preset
from plenodepth.camera.micro_lenses import configuration, lens_distances
from plenodepth.camera.model import Configuration
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.simulate import white_scene

R12 = shrunk(preset("r12-a"))
F_NUMBERS = (4.0, 5.6, 8.0)


@cache
def traced(f_number: float) -> NDArray[np.float32]:
    """A white image of the R12 by the simulator."""
    return white_of(R12, f_number)


def white_of(camera: PlenopticCamera, f_number: float) -> NDArray[np.float32]:
    light = render(white_scene(camera), camera, RenderSettings(rays=64, f_number=f_number)).light
    return np.asarray(light, np.float32)


def optics_of(camera: PlenopticCamera, kind: Configuration = Configuration.GALILEAN) -> Optics:
    sensor, lens = camera.sensor, camera.main_lens
    assert lens.f_number is not None
    focus = camera.focus_distance or np.inf
    return Optics(lens.focal_length, lens.f_number, focus, sensor.pixel_size, sensor.width, sensor.height, kind)


def true_radii(camera: PlenopticCamera) -> tuple[float, NDArray[np.float64]]:
    """m = F d/(2 D) and q_i = (B/2) |1 + d/D − d/f_i|, px."""
    main, sensor = lens_distances(camera)
    curve = np.abs(1 + sensor / main - sensor / camera.micro_lenses.focal_lengths)
    pixel = camera.sensor.pixel_size
    slope = camera.main_lens.focal_length * sensor / main / 2 / pixel
    return float(slope), camera.micro_lenses.lens_diameter / 2 * curve / pixel


@pytest.mark.parametrize("f_numbers", [F_NUMBERS, (4.0,), (8.0,)])
def test_radii_are_those_of_the_optics_even_from_one_white_image(f_numbers: tuple[float, ...]) -> None:
    whites = [traced(n) for n in f_numbers]
    found = measure_radii(whites, f_numbers, find_grid(whites[0]))
    slope, intercepts = true_radii(R12)
    assert found.slope == pytest.approx(slope, rel=0.005)
    np.testing.assert_allclose(found.intercepts, intercepts, rtol=0.01)
    np.testing.assert_allclose(found.radii, slope / np.array(f_numbers)[:, None] + intercepts, rtol=0.005)
    assert (found.intercept_errors < 0.03).all()
    assert 0 < found.slope_error < 0.01 * slope
    np.testing.assert_array_equal(found.type_pattern, R12.micro_images.type_pattern)


def test_the_start_has_the_focal_lengths_and_centres_of_the_camera() -> None:
    start = precalibrate([traced(n) for n in F_NUMBERS], F_NUMBERS, optics_of(R12))
    np.testing.assert_allclose(start.camera.micro_lenses.focal_lengths, R12.micro_lenses.focal_lengths, rtol=0.02)
    main, sensor = lens_distances(R12)
    found = lens_distances(start.camera)
    assert found.to_main_lens == pytest.approx(main, rel=0.01)
    assert found.to_sensor == pytest.approx(sensor, rel=0.02)
    centers = start.centers
    error = centers.uv - predicted_center(centers.k, centers.l, R12)
    assert np.sqrt(np.mean(error**2)) < 0.03
    assert np.abs(predicted_center(centers.k, centers.l, start.camera) - centers.uv).max() < 0.2
    assert start.camera.white_radius is not None
    assert start.camera.white_radius.slope < 0


def test_whites_come_in_any_order_and_a_missing_f_number_is_told() -> None:
    start = precalibrate([traced(8.0), traced(4.0), traced(5.6)], [8.0, None, 5.6], optics_of(R12))
    assert start.radii is not None
    assert start.radii.f_numbers[1] == pytest.approx(4.0, rel=0.02)
    assert any("f-number not given" in note for note in start.notes)


@pytest.mark.parametrize("given", [(8.0, 4.0), (4.0, 5.6)])
def test_f_numbers_of_other_images_are_refused(given: tuple[float, float]) -> None:
    whites = [traced(4.0), traced(8.0)]
    with pytest.raises(InputError, match="do not go with the images"):
        measure_radii(whites, given, find_grid(whites[0]))


def test_exchanged_types_are_told() -> None:
    lenses = R12.micro_lenses
    order = [1, 0, 2]
    camera = replace(R12, micro_lenses=replace(lenses, focal_lengths=lenses.focal_lengths[order]))
    white = white_of(camera, 5.6)
    found = measure_radii([white], [5.6], find_grid(white))
    expected = true_radii(R12)[1]
    assert list(np.argsort(found.intercepts)) == list(np.argsort(expected[order]))
    assert list(np.argsort(found.intercepts)) != list(np.argsort(expected))


def test_lenses_that_are_all_alike_are_one_type() -> None:
    lenses = R12.micro_lenses
    camera = replace(R12, micro_lenses=replace(lenses, focal_lengths=np.full(3, lenses.focal_lengths[2])))
    whites = [white_of(camera, 4.0), white_of(camera, 8.0)]
    grid = find_grid(whites[0])
    found = measure_radii(whites, [4.0, 8.0], grid)
    assert found.type_pattern.shape == (1, 1)
    assert found.intercepts == pytest.approx(true_radii(R12)[1][2:], rel=0.01)
    assert any("one type" in note for note in found.notes)
    # One white image of one lens type: the larger disc may be the lens or the aperture, and the result says so.
    alone = measure_radii(whites[:1], [4.0], grid)
    assert any("does not tell" in note for note in alone.notes)


def test_a_keplerian_camera_has_its_own_sign() -> None:
    camera = keplerian()
    whites = [white_of(camera, n) for n in (8.0, 16.0)]
    found = measure_radii(whites, (8.0, 16.0), find_grid(whites[1]))
    slope, intercepts = true_radii(camera)
    assert found.slope == pytest.approx(slope, rel=0.02)
    np.testing.assert_allclose(found.intercepts, intercepts, rtol=0.05)
    start = precalibrate(whites, (8.0, 16.0), optics_of(camera, Configuration.KEPLERIAN))
    assert configuration(start.camera) is Configuration.KEPLERIAN
    assert start.camera.white_radius is not None
    assert start.camera.white_radius.slope > 0
    ratio = start.camera.micro_lenses.focal_lengths / camera.micro_lenses.focal_lengths
    assert np.ptp(ratio) < 0.02
    assert np.abs(ratio - 1).max() < 0.15  # the array stands where the focus distance puts it, nearly


@pytest.mark.parametrize("arrangement", [Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS])
@pytest.mark.parametrize("parity", [0, 1])
def test_neighbours_have_different_types_however_rows_are_counted(arrangement: Arrangement, parity: int) -> None:
    lattice = Lattice(arrangement, 10, 10, np.ones(2), parity)
    pattern = type_pattern_for(lattice, 3)
    k, l = (index.ravel() for index in lattice.indices())
    place = lattice.node(k, l)
    types = pattern[l % pattern.shape[0], k % pattern.shape[1]]
    near = (np.linalg.norm(place[:, None] - place, axis=-1) < 1.1) & ~np.eye(100, dtype=bool)
    assert not (near & (types[:, None] == types)).any()


def test_without_a_white_image_the_grid_of_any_image_serves() -> None:
    camera = shrunk(preset("r12-a"), 40, 36)
    generator = np.random.default_rng(3)
    coarse = generator.random((camera.sensor.height // 8 + 1, camera.sensor.width // 8 + 1))
    texture = np.kron(coarse, np.ones((8, 8)))[: camera.sensor.height, : camera.sensor.width]
    image = white_of(camera, 4.0) * (0.3 + 0.7 * texture[..., None])
    start = precalibrate([], [], optics_of(camera), image=image, type_count=3)
    assert start.radii is None
    assert any("no white one" in note for note in start.notes)
    assert any("no radii" in note for note in start.notes)
    with pytest.raises(InputError, match="is no white image"):
        precalibrate([image], [4.0], optics_of(camera))
    with pytest.raises(InputError, match="one: is no white image of the same camera"):
        precalibrate([white_of(camera, 4.0), image], [4.0, 4.0], optics_of(camera), names=["zero", "one"])


def test_a_saturated_white_image_is_refused() -> None:
    light = traced(4.0)
    cut = np.minimum(light / light.max() * 400, 255).astype(np.uint8)
    with pytest.raises(InputError, match="saturated"):
        measure_radii([cut], [4.0], find_grid(cut))


def test_images_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match="not 560"):
        precalibrate([traced(4.0)[:-2]], [4.0], optics_of(R12))
