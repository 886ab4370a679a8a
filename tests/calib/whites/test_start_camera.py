"""The camera that a calibration starts from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.calib.feature_files import write_centers
from plenodepth.calib.features import Centers
from plenodepth.calib.whites.lattice_fit import fitted_lattice
from plenodepth.calib.whites.libpleno_start import initial_camera_from_libpleno
from plenodepth.calib.whites.start_camera import Optics, initial_camera
from plenodepth.camera import PlenopticCamera, predicted_center, preset
from plenodepth.camera.micro_lenses import configuration, lens_distances
from plenodepth.camera.model import Configuration, MicroImageArray, WhiteRadius
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose

TRUE = preset("r12-a")


def optics_of(camera: PlenopticCamera, kind: Configuration = Configuration.GALILEAN) -> Optics:
    sensor, lens = camera.sensor, camera.main_lens
    assert lens.f_number is not None
    assert camera.focus_distance is not None
    return Optics(
        lens.focal_length, lens.f_number, camera.focus_distance, sensor.pixel_size, sensor.width, sensor.height, kind
    )


def true_white_radius(camera: PlenopticCamera) -> WhiteRadius:
    """m = F d/(2 D), q_i = (B/2) |1 + d/D − d/f_i|."""
    main, sensor = lens_distances(camera)
    curve = 1 + sensor / main - sensor / camera.micro_lenses.focal_lengths
    slope = camera.main_lens.focal_length * sensor / main / 2
    return WhiteRadius(float(slope), camera.micro_lenses.lens_diameter / 2 * np.abs(curve))


def noisy_centers(camera: PlenopticCamera, sigma: float, outliers: int = 0) -> Centers:
    generator = np.random.default_rng(1)
    k, l = (index.ravel() for index in camera.micro_images.lattice.indices())
    uv = camera.micro_images.center(k, l) + generator.normal(0, sigma, (len(k), 2))
    uv[:outliers] += [8.0, 3.0]
    return Centers(k, l, uv, np.broadcast_to(np.eye(2), (len(k), 2, 2)))


@pytest.mark.parametrize("arrangement", list(Arrangement))
@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("rows", [11, 12])
def test_predicted_centres_are_those_of_the_grid(arrangement: Arrangement, parity: int, rows: int) -> None:
    lattice = Lattice(arrangement, 15, rows, np.array([20.1, 20.2]), parity)
    extent = lattice.node(15, rows)
    grid = MicroImageArray(lattice, PlanarPose(0.02, np.array([9.0, 11.0])), np.zeros((0, 0)))
    optics = Optics(50, 4, 600, 0.005, round(extent[0]), round(extent[1]))
    camera = initial_camera(optics, grid)
    k, l = lattice.indices()
    np.testing.assert_allclose(predicted_center(k, l, camera), grid.center(k, l), atol=1e-9)


def test_radii_tell_the_distance_of_the_sensor_and_the_focal_lengths() -> None:
    camera = initial_camera(optics_of(TRUE), TRUE.micro_images, true_white_radius(TRUE))
    truth = lens_distances(TRUE)
    found = lens_distances(camera)
    assert found.to_sensor / found.to_main_lens == pytest.approx(truth.to_sensor / truth.to_main_lens, rel=1e-9)
    assert found.to_main_lens == pytest.approx(truth.to_main_lens, rel=0.01)
    np.testing.assert_allclose(camera.micro_lenses.focal_lengths, TRUE.micro_lenses.focal_lengths, rtol=0.01)
    assert configuration(camera) is Configuration.GALILEAN


@pytest.mark.parametrize("kind", list(Configuration))
def test_without_radii_the_start_is_nominal_and_says_so(kind: Configuration) -> None:
    camera = initial_camera(optics_of(TRUE, kind), TRUE.micro_images)
    assert configuration(camera) is kind
    assert any("no radii" in note for note in camera.provenance.notes)
    if kind is Configuration.GALILEAN:
        assert lens_distances(camera).to_sensor == pytest.approx(lens_distances(TRUE).to_sensor, rel=0.1)
        np.testing.assert_allclose(camera.micro_lenses.focal_lengths, TRUE.micro_lenses.focal_lengths, rtol=0.15)


def test_a_lattice_is_found_in_spite_of_wrong_centres() -> None:
    grid = TRUE.micro_images
    fit = fitted_lattice(noisy_centers(TRUE, 0.1, outliers=4000), grid.lattice.arrangement, 176, 152)
    k, l = grid.lattice.indices()
    off = fit.image_from_lattice(fit.lattice.node(k, l)) - grid.center(k, l)
    assert np.abs(off).max() < 0.005
    assert not fit.inliers[:4000].any()
    assert fit.rms == pytest.approx(0.1 * np.sqrt(2), rel=0.05)
    assert (np.abs(fit.lattice.pitch - grid.lattice.pitch) < 4 * fit.standard_errors[:2]).all()


def test_centres_of_one_row_fix_no_lattice() -> None:
    centers = noisy_centers(TRUE, 0.1)
    row = centers.l == 3
    line = Centers(centers.k[row], centers.l[row], centers.uv[row], centers.covariance[row])
    with pytest.raises(InputError, match="do not fix a lattice"):
        fitted_lattice(line, Arrangement.HEXAGONAL_ROWS, 176, 152)


def test_a_start_comes_from_the_authors_minimal_files(tmp_path: Path) -> None:
    mesh = {"geometry": 1, "width": 176, "height": 152}
    sensor = {"scale": 0.0055, "width": 4080, "height": 3068}
    lens = {"aperture": 4.0, "f": 50.0}
    start = {"mia": {"mesh": mesh}, "sensor": sensor, "main_lens": lens, "dist_focus": 450.0, "I": 3, "mode": 2}
    white = true_white_radius(TRUE)
    values = {
        "m": -white.slope,
        "scale": 0.0055,
        "q": (-white.intercepts).tolist(),
        "q_prime": [0.03, 0.04, 0.035],
        **{"dc": 0.1282, "dC": 0.1275, "lambda": 0.99, "kappa": 0.68, "N": 4, "I": 3},
    }
    (tmp_path / "camera.js").write_text(json.dumps(start))
    (tmp_path / "params.js").write_text(json.dumps(values))
    write_centers(noisy_centers(TRUE, 0.1), tmp_path / "centers.csv")
    camera = initial_camera_from_libpleno(tmp_path / "camera.js", tmp_path / "params.js", tmp_path / "centers.csv")
    np.testing.assert_allclose(camera.micro_lenses.focal_lengths, TRUE.micro_lenses.focal_lengths, rtol=0.02)
    assert camera.blur_coefficient == 0.68
    k, l = camera.micro_images.lattice.indices()
    assert np.abs(predicted_center(k, l, camera) - TRUE.micro_images.center(k, l)).max() < 0.01


def test_a_focus_nearer_than_any_lens_can_is_refused() -> None:
    with pytest.raises(InputError, match="focus_distance"):
        replace(optics_of(TRUE), focus_distance=150.0)
