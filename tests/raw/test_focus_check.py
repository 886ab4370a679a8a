"""The spread of the micro-images tells a main lens that is focused otherwise than when its camera was calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from cameras import moved_back
from simulated import rendered_light
from wall_shots import camera, wall, white

from plenodepth.camera import preset
from plenodepth.raw import clean_image
from plenodepth.raw.focus_check import measured_spread
from plenodepth.raw.grid_check import check_grid
from plenodepth.raw.image import PitchCheck
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose


@pytest.mark.parametrize("bayer", [None, "GRBG"])
def test_the_right_focus_is_not_doubted(bayer: str | None) -> None:
    for image in (wall(bayer=bayer), white(bayer=bayer)):
        spread = clean_image(image, camera()).spread
        assert spread is not None
        assert not spread.clear


@pytest.mark.parametrize("back", [-2.0, 2.0])
def test_a_moved_lens_is_told_and_by_how_much(back: float) -> None:
    other = moved_back(camera(), back)  # the micro-images of the image were made with a smaller or larger D
    check = check_grid(white(), other).offset
    assert check is not None
    assert not check.differs
    spread = measured_spread(white(), other, check)
    assert spread is not None
    true = camera().micro_images.lattice.diameter / other.micro_images.lattice.diameter - 1
    assert spread.scale == pytest.approx(true, abs=5e-5)  # of a full frame 2e-6
    assert spread.other_focus
    assert clean_image(wall(), other).spread.other_focus  # type: ignore[union-attr]


def test_a_camera_that_is_not_to_be_checked_is_not() -> None:
    assert clean_image(wall(), moved_back(camera(), 2.0), check_camera=False).spread is None


def test_a_small_image_knows_no_focus() -> None:
    mini = preset("r12-mini")
    image = expose(rendered_light(wall_scene(900.0, 3, mini), mini, RenderSettings(rays=8)), SensorSettings())
    assert clean_image(image, mini).spread is None


@pytest.mark.parametrize(
    ("scale", "error", "clear", "other"),
    [(4e-5, 5e-6, True, True), (2e-5, 3e-6, True, False), (4e-5, 1e-5, False, False), (-9e-5, 1e-5, True, True)],
)
def test_a_focus_is_another_one_where_that_is_clear_and_no_trifle(
    scale: float, error: float, clear: bool, other: bool
) -> None:
    spread = PitchCheck(scale, error, 2500.0)
    assert (spread.clear, spread.other_focus) == (clear, other)
    assert ("wider apart" in str(spread)) == (scale > 0)
    assert f"{np.abs(scale) * 2500:.2f} px at the corners" in str(spread)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r12-c", "r12-e"])
def test_a_full_frame_tells_the_paper_s_cameras_from_each_other(name: str) -> None:
    """Their micro-images differ by 0.28 px at most, and by 0.0042 % in pitch."""
    scene = wall_scene(900.0, 3, preset(name))
    image = expose(rendered_light(scene, preset(name), RenderSettings(rays=6)), SensorSettings(color=False))
    for other in ("r12-c", "r12-e"):
        spread = clean_image(image, preset(other)).spread
        assert spread is not None
        assert spread.other_focus == (other != name)
