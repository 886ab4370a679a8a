"""The spread of the micro-images tells a main lens that is focused otherwise than when its camera was calibrated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cameras import moved_back
from simulated import rendered_light
from wall_shots import camera, wall, white

from plenodepth.camera import PlenopticCamera, cropped_camera, preset
from plenodepth.raw import clean_image, focus_check
from plenodepth.raw.focus_check import WhiteSpread, better_known, measured_spread
from plenodepth.raw.grid_check import check_grid
from plenodepth.raw.image import PitchCheck
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

HALF = (2040, 1534)  # px


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
    alone, with_white = (clean_image(wall(), other, white=one).spread for one in (None, white()))
    assert alone is not None
    assert alone.odd or alone.other_focus
    assert with_white is not None
    assert with_white.other_focus


def test_a_scene_that_pulls_the_lattice_knows_no_focus_that_well() -> None:
    other = moved_back(camera(), 2.0)
    offset = check_grid(wall(), other).offset
    assert offset is not None
    pulled = offset._replace(sheared=max(1.0, offset.largest))  # as the squares of a board do
    assert pulled.misled
    assert measured_spread(wall(), other, pulled).error > measured_spread(wall(), other, offset).error
    as_white = measured_spread(white(), other, pulled, "white image")
    assert as_white.other_focus


def test_a_camera_that_is_not_to_be_checked_is_not() -> None:
    assert clean_image(wall(), moved_back(camera(), 2.0), check_camera=False).spread is None


def test_a_small_image_knows_no_focus() -> None:
    mini = preset("r12-mini")
    image = expose(rendered_light(wall_scene(900.0, 3, mini), mini, RenderSettings(rays=8)), SensorSettings())
    spread = clean_image(image, mini).spread
    assert spread is not None
    assert np.isinf(spread.error)
    assert not spread.clear
    assert not clean_image(image, mini, white=image).spread.clear  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("scale", "error", "odd", "other"),
    [
        (4e-5, 5e-6, False, True),
        (2e-5, 3e-6, True, False),
        (4e-5, 1e-5, True, False),
        (3e-5, 1e-5, False, False),
        (-9e-5, 1e-5, False, True),
    ],
)
def test_a_focus_is_another_one_where_that_is_clear_and_no_trifle(
    scale: float, error: float, odd: bool, other: bool
) -> None:
    spread = PitchCheck(scale, error, 2500.0)
    assert (spread.odd, spread.other_focus) == (odd, other)
    assert ("wider apart" in str(spread)) == (scale > 0)
    assert f"{np.abs(scale) * 2500:.2f} px at the corners" in str(spread)


def test_a_white_image_tells_what_an_image_cannot() -> None:
    vague, exact = PitchCheck(3e-5, 2e-5, 2500.0), PitchCheck(4e-5, 4e-6, 2500.0, "white image")
    assert better_known(vague, exact) is exact
    assert better_known(vague, exact).other_focus
    assert "the micro-images of the white image lie" in str(exact)
    assert better_known(vague, exact._replace(error=np.inf)) is vague
    clear = PitchCheck(-1e-5, 5e-6, 2500.0)
    assert better_known(clear, exact) is clear, "the white image is of another focus"


def test_the_white_image_of_a_sequence_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once = WhiteSpread()
    first = once.of(white(), camera())
    monkeypatch.setattr(focus_check, "measured_spread", lambda *_: pytest.fail("measured again"))
    assert once.of(white(), camera()) is first
    assert first.source == "white image"


def test_a_white_image_is_asked_where_the_image_does_not_tell() -> None:
    image, light = wall(f_number=2.0), white(f_number=2.0)
    alone = clean_image(image, camera(f_number=2.0)).spread
    both = clean_image(image, camera(f_number=2.0), white=light).spread
    assert alone is not None
    assert both is not None
    assert both.error < alone.error
    assert both.source == "white image"
    assert not both.clear
    assert clean_image(image, moved_back(camera(f_number=2.0), 2.0), white=light).spread.other_focus  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r12-c", "r12-e"])
@pytest.mark.parametrize(
    ("f_number", "corner", "told"),
    [(4.0, (0, 0), 2), (2.0, None, 2), (2.0, (0, 0), 1), (2.0, (2040, 1534), 1)],
    ids=["a quarter", "f/2", "a quarter at f/2", "another quarter at f/2"],
)
def test_white_images_tell_the_paper_s_cameras_from_each_other(
    name: str, f_number: float, corner: tuple[int, int] | None, told: int
) -> None:
    """With a scene and a seed of their own. `told` 1: by a word at least."""
    own = with_f_number(name, f_number)
    shots = [
        expose(rendered_light(scene, own, RenderSettings(rays=6, seed=11)), SensorSettings(color=False, seed=11))
        for scene in (wall_scene(1100.0, 11, own), white_scene(own))
    ]
    for other in ("r12-c", "r12-e"):
        used = with_f_number(other, f_number)
        used = used if corner is None else cropped_camera(used, corner, HALF)
        image, light = (shot if corner is None else cut(shot, corner) for shot in shots)
        for spread in (clean_image(image, used).spread, clean_image(image, used, white=light).spread):
            assert spread is not None
            assert other != name or not (spread.odd or spread.other_focus)
        assert other == name or spread.other_focus or (spread.odd and told == 1)


def with_f_number(name: str, f_number: float) -> PlenopticCamera:
    return replace(preset(name), main_lens=replace(preset(name).main_lens, f_number=f_number))


def cut(image: np.ndarray[Any, Any], corner: tuple[int, int]) -> np.ndarray[Any, Any]:
    """Half as wide and high."""
    return np.ascontiguousarray(image[corner[1] : corner[1] + HALF[1], corner[0] : corner[0] + HALF[0]])


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
