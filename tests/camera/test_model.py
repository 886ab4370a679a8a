"""The camera's parts: what is refused, lens types, owners of pixels, the half-turn between image and lens array."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, rearranged, unfocused, with_focal_lengths, without_tilt

from plenodepth.camera import (
    Configuration,
    Distortion,
    MainLens,
    MicroLensArray,
    Provenance,
    Sensor,
    blur_line,
    configuration,
    lens_distances,
    predicted_center,
    preset,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Pose

LAYOUTS = [
    (arrangement, columns, rows, parity)
    for arrangement in Arrangement
    for columns, rows in ((10, 8), (9, 8), (10, 7), (9, 7))
    for parity in (0, 1)
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_lens_centres_project_onto_the_micro_image_lattice(layout: tuple) -> None:
    camera = without_tilt(rearranged(*layout))
    k, l = camera.micro_images.lattice.indices()
    assert np.allclose(predicted_center(k, l, camera), camera.micro_images.center(k, l), atol=1e-9)


def test_lens_types_follow_the_formula_of_raytrix_arrays() -> None:
    grid = preset("r12-a").micro_images
    k, l = grid.lattice.indices()
    assert (grid.lens_type(k, l) == ((l % 2) + k) % 3).all()


@pytest.mark.parametrize("arrangement", [Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS])
def test_neighbouring_lenses_are_never_of_one_type(arrangement: Arrangement) -> None:
    grid = rearranged(arrangement, 12, 12).micro_images
    k, l = (index.ravel() for index in grid.lattice.indices())
    centers, types = grid.center(k, l), grid.lens_type(k, l)
    distance = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    first, second = np.nonzero((distance > 0) & (distance < 1.1 * grid.lattice.diameter))
    assert (types[first] != types[second]).all()


def test_pinholes_have_no_type() -> None:
    assert (preset("r12-a-pinhole").micro_images.lens_type([0, 5], [1, 7]) == -1).all()


def test_a_pixel_belongs_to_the_nearest_centre_rotation_included() -> None:
    grid = preset("r12-mini").micro_images
    turned = replace(grid, image_from_lattice=replace(grid.image_from_lattice, angle=0.2))
    pixels = np.random.default_rng(1).uniform(0, 400, (2000, 2))
    k, l = turned.owner(pixels)
    all_k, all_l = turned.lattice.indices()
    distance = np.linalg.norm(pixels[:, None, None] - turned.center(all_k, all_l), axis=-1)
    inside = k >= 0
    assert inside.sum() > 1000
    found = np.linalg.norm(pixels - turned.center(k, l), axis=-1)
    assert np.allclose(found[inside], distance.min(axis=(1, 2))[inside])


def test_a_pixel_beyond_the_array_has_no_owner() -> None:
    k, l = preset("r12-mini").micro_images.owner([[-100.0, 50.0], [200.0, 5000.0]])
    assert k.tolist() == l.tolist() == [-1, -1]


def test_all_three_configurations_are_recognised() -> None:
    assert configuration(preset("r12-a")) is Configuration.GALILEAN
    assert configuration(keplerian()) is Configuration.KEPLERIAN
    assert configuration(unfocused()) is Configuration.UNFOCUSED


@pytest.mark.parametrize("name", ["r12-a-pinhole", "r12-b-pinhole", "r12-c-pinhole"])
def test_a_pinhole_camera_is_galilean_when_the_main_lens_focuses_behind_the_array(name: str) -> None:
    assert configuration(preset(name)) is Configuration.GALILEAN


def test_tilt_changes_the_distances_from_lens_to_lens_but_not_their_sum() -> None:
    camera = preset("r12-e")
    main, sensor = lens_distances(camera, [0, 175], [0, 151])
    assert abs(main[0] - main[1]) > 0.005
    assert np.allclose(main + sensor, -camera.sensor.position[2], rtol=1e-14)


def refused(field: str, make: object) -> None:
    with pytest.raises(InputError) as error:
        make()  # type: ignore[operator]
    assert field in str(error.value.field)
    assert "\n" not in str(error.value)


def test_impossible_values_name_their_field() -> None:
    mini = preset("r12-mini")
    lenses = mini.micro_lenses
    refused("main_lens.focal_length", lambda: MainLens(-50.0))
    refused("main_lens.f_number", lambda: MainLens(50.0, 0.0))
    refused("sensor.width", lambda: Sensor(0, 10, 0.0055, np.array([0, 0, -50.0])))
    refused("sensor.pixel_size", lambda: Sensor(10, 10, np.nan, np.array([0, 0, -50.0])))
    refused("sensor.position", lambda: Sensor(10, 10, 0.0055, np.array([0, 0, 50.0])))
    refused("sensor.bayer", lambda: replace(mini.sensor, bayer="RGBG"))
    refused("sensor.black_level", lambda: replace(mini.sensor, black_level=64))
    refused("sensor.black_level", lambda: replace(mini.sensor, black_level=np.nan))
    refused("micro_lenses.focal_lengths.1", lambda: with_focal_lengths(mini, [0.5, -0.5, 0.5]))
    refused("micro_lenses.pitch", lambda: MicroLensArray(np.array([0.1, -0.1]), Pose.identity(), np.array([0.5])))
    refused("distortion.radial", lambda: Distortion(np.array([np.inf, 0, 0])))
    refused(
        "micro_lenses.focal_lengths", lambda: replace(mini, micro_lenses=replace(lenses, focal_lengths=np.array([0.5])))
    )
    refused("depth_scale", lambda: replace(mini, depth_scale=np.array([0.0, 1.0])))
    refused("blur_coefficient", lambda: replace(mini, blur_coefficient=-1.0))
    refused("focus_distance", lambda: replace(mini, focus_distance=-1.0))
    refused("covariance", lambda: Provenance(covariance_parameters=("F",), covariance=np.eye(2)))


@pytest.mark.parametrize(("columns", "rows"), [(12, 20), (24, 10), (48, 20), (24, 40)])
def test_a_lens_count_that_does_not_match_the_sensor_is_refused(columns: int, rows: int) -> None:
    mini = preset("r12-mini")
    lattice = replace(mini.micro_images.lattice, columns=columns, rows=rows)
    refused("micro_images.columns", lambda: replace(mini, micro_images=replace(mini.micro_images, lattice=lattice)))


def test_blur_of_pinholes_is_refused() -> None:
    with pytest.raises(InputError, match=r"focal_lengths.*pinholes"):
        blur_line(preset("r12-a-pinhole"))
