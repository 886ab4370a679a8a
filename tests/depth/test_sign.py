"""Which way content moves from one micro-image to the next: the sign of virtual depth, from grid and from image."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cameras import keplerian, rearranged
from matching import grid_only, random_image, raw
from planes import LUMINANCE, plane_image, small_camera
from simulated import rendered_light

from plenodepth.camera import Configuration, PlenopticCamera, load_camera, metric_from_virtual
from plenodepth.depth import DepthSettings, depth_sign_of_image, estimate_virtual_depth
from plenodepth.depth.bands import BAND_ROWS, BANDS
from plenodepth.depth.views import plan_views
from plenodepth.geometry import Arrangement, Pose
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.load import clean_image, load_raw
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image


def plane_through(camera: PlenopticCamera, virtual_depth: float) -> RawImage:
    """A plane of noise that the camera sees at a virtual depth, without vignetting."""
    depth = float(metric_from_virtual(virtual_depth, camera))
    texture = noise_image(400, 300, octaves=6, cell=24.0, seed=3)
    pose = Pose(np.eye(3), np.array([0, 0, depth]))
    scene = Scene((Rectangle(0.12 * depth, 0.09 * depth, pose, Material(texture=texture, emits=True)),))
    light = rendered_light(scene, camera, RenderSettings(rays=32, f_number=2.0, vignetting=False))
    return RawImage((light @ LUMINANCE).astype(np.float32), None, 0.003, Devignetting.NONE)


@pytest.mark.parametrize(("configuration", "sign"), [("galilean", 1), ("keplerian", -1), (None, 1)])
def test_a_grid_is_searched_at_depths_of_its_sign(configuration: Configuration | None, sign: int) -> None:
    grid = replace(grid_only(small_camera()), configuration=configuration)
    assert (sign * plan_views(grid, DepthSettings()).inverse_depths[1:-1] > 0).all()


@pytest.mark.parametrize("depth", [500.0, 900.0, 1500.0])
def test_a_galilean_image_tells_its_sign(depth: float) -> None:
    found = depth_sign_of_image(plane_image(depth), grid_only(small_camera()))
    assert found.configuration is Configuration.GALILEAN
    assert found.clearness > 0.8


@pytest.mark.parametrize("virtual_depth", [-6.0, -8.0])
def test_a_keplerian_image_tells_its_sign(virtual_depth: float) -> None:
    camera = keplerian()
    image = plane_through(camera, virtual_depth)
    found = depth_sign_of_image(image, replace(grid_only(camera), configuration=Configuration.GALILEAN))
    assert found.configuration is Configuration.KEPLERIAN
    assert found.clearness > 0.8
    maps = estimate_virtual_depth(image, replace(grid_only(camera), configuration=found.configuration))
    assert np.nanmedian(maps.virtual_depth) == pytest.approx(virtual_depth, rel=0.1)  # λ is not known


@pytest.mark.parametrize("arrangement", [Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS])
def test_of_many_rows_some_bands_tell(arrangement: Arrangement) -> None:
    camera = rearranged(arrangement, 8, BANDS * BAND_ROWS + 9)
    found = depth_sign_of_image(random_image(camera, seed=1), grid_only(camera))
    assert found.configuration is Configuration.GALILEAN
    assert found.galilean > 0.6


@pytest.mark.parametrize("image", ["flat", "noise"])
def test_an_image_with_nothing_to_match_does_not_tell(image: str) -> None:
    spread = {"flat": 0.0, "noise": 0.1}[image]
    gray = np.random.default_rng(0).normal(0.5, spread, (404, 560))
    found = depth_sign_of_image(raw(gray), grid_only(small_camera()))
    assert found.configuration is None


@pytest.mark.realdata
def test_the_r5_is_galilean(real_data: Path) -> None:
    camera = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    found = depth_sign_of_image(load_raw(real_data / "r5" / "fujita2-frame0.png", camera), camera)
    assert found.configuration is Configuration.GALILEAN
    assert found.configuration is load_camera(real_data / "r5" / "tlct-calib.cfg").configuration
    assert found.clearness > 0.95


@pytest.mark.realdata
def test_the_tspc_camera_is_keplerian(real_data: Path) -> None:
    av = pytest.importorskip("av")
    camera = load_camera(real_data / "tspc" / "calib.xml", image_size=(3976, 2956))
    with av.open(str(real_data / "tspc" / "boys2.vvc"), format="vvc") as video:
        frame = next(video.decode(video=0)).to_ndarray(format="rgb24")
    image = clean_image(frame, camera)
    found = depth_sign_of_image(image, camera)
    assert found.configuration is Configuration.KEPLERIAN
    assert found.configuration is load_camera(real_data / "tspc" / "tlct-calib.cfg").configuration
    assert found.clearness > 0.95
    maps = estimate_virtual_depth(image, replace(camera, configuration=found.configuration))
    assert maps.valid_fraction > 0.8
