"""The fast sweep gives what the plain NumPy one does, on all kinds of cameras, images and settings."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import rearranged
from matching import CAMERA, CAMERAS, assert_kernels_agree, random_image, tilted_plane

from plenodepth.camera import GridCamera
from plenodepth.camera.presets import shrunk
from plenodepth.depth.settings import DepthSettings
from plenodepth.geometry import Arrangement, PlanarPose

OFF = DepthSettings(aperture_model="off")
VARIANTS = {
    "B": OFF,
    "D": replace(OFF, blur=False),
    "per_pixel": DepthSettings(aperture_model="per_pixel"),
    "slope": DepthSettings(aperture_model="slope"),
    "s_transform": replace(OFF, equalisation="s_transform"),
    "few": replace(OFF, hypotheses=15, reach=1.1, far_reach=2.0, margin=2.5, smoothing=0.0),
    "published": replace(OFF, first_hypothesis="same_type", weights="disparity", margin=1.5),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_of_a_plane_the_same_coarse_depth(name: str) -> None:
    camera = shrunk(CAMERA, 12, 10)
    assert_kernels_agree(tilted_plane(camera), camera, VARIANTS[name], every=11)


@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", CAMERAS)
def test_of_any_image_the_same_coarse_depth(name: str, blur: bool) -> None:
    camera = CAMERAS[name]
    settings = replace(OFF, blur=blur, hypotheses=14)
    assert_kernels_agree(random_image(camera, seed=len(name)), camera, settings, every=5)


@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", ["r12-c", "keplerian", "columns"])
def test_of_any_image_the_same_refined_depth(name: str, blur: bool) -> None:
    camera = shrunk(CAMERAS[name], 5, 5)
    settings = replace(OFF, refined=True, blur=blur, hypotheses=14, far_reach=2.0)
    assert_kernels_agree(random_image(camera, seed=7), camera, settings, every=6)


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", ["r12-a", "columns", "keplerian"])
def test_with_the_aperture_undone_per_pixel_too(name: str, refined: bool) -> None:
    camera = shrunk(CAMERAS[name], 6, 6)
    settings = DepthSettings(refined=refined, hypotheses=14, far_reach=2.0, aperture_model="per_pixel")
    # No pixel missing: whether one that is 0.0001 px beside counts may depend on the last bit.
    assert_kernels_agree(random_image(camera, seed=7, missing=0), camera, settings, every=7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", ["r12-a", "r12-c", "pinhole", "keplerian", "unfocused", "columns", "orthogonal"])
def test_with_all_hypotheses_and_views_and_in_all_lenses_too(name: str, blur: bool, refined: bool, seed: int) -> None:
    camera = shrunk(CAMERAS[name], 6, 6)
    image = random_image(camera, seed=100 + seed, missing=0.01 * seed)
    assert_kernels_agree(image, camera, replace(OFF, refined=refined, blur=blur))


@pytest.mark.slow
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", ["r12-a", "columns", "keplerian"])
def test_with_the_aperture_undone_in_all_lenses_too(name: str, refined: bool) -> None:
    camera = shrunk(CAMERAS[name], 6, 6)
    settings = DepthSettings(refined=refined, hypotheses=14, far_reach=2.0, aperture_model="per_pixel")
    assert_kernels_agree(random_image(camera, seed=7, missing=0), camera, settings)


def test_on_an_upright_grid_pixels_missing_beside_a_whole_shift_do_not_creep_in() -> None:
    """Without any rotation some shifts have next to no fraction."""
    camera = rearranged(Arrangement.HEXAGONAL_COLUMNS, 10, 10)
    grid = replace(camera.micro_images, image_from_lattice=PlanarPose(1e-8, np.array([12.0, 24.0])))
    known = GridCamera("upright", camera.sensor.width, camera.sensor.height, grid, np.array([[1, 5], [2, 6], [3, 9.0]]))
    # Here rows of the image are shifted by next to nothing, and curves have many kinks that are minima or not.
    image = random_image(known, seed=3, missing=0.05)
    assert_kernels_agree(image, known, DepthSettings(), every=3, confident=0.9)
