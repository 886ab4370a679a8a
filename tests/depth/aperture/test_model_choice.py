"""Which aperture model is taken, and what is said where it cannot be the best one."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cameras import keplerian, unfocused
from simulated import rendered_light

from plenodepth.camera import Camera, GridCamera, PlenopticCamera, preset
from plenodepth.camera.model import ApertureModel, image_size
from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.model_choice import ApertureChoice, choose_model, largest_shift
from plenodepth.depth.curves import cost_curve
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.errors import InputError
from plenodepth.raw import Devignetting, RawImage, RimCheck, clean_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

CAMERA = shrunk(preset("r12-es"), 16, 14)
AUTO, PER_PIXEL, SLOPE = (
    DepthSettings(),
    DepthSettings(aperture_model="per_pixel"),
    DepthSettings(aperture_model="slope"),
)
SILENT = RawImage(np.zeros((4, 4), np.float32), None, 0.0, Devignetting.NONE)  # tells nothing about its aperture


def at(f_number: float | None, camera: PlenopticCamera = CAMERA) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, f_number=f_number))


def grid() -> GridCamera:
    return GridCamera("grid", *image_size(CAMERA), CAMERA.micro_images, np.array([[1, 5], [2, 6], [3, 9.0]]))


def showing(ratio: float, agrees: bool, f_number: float = 4.0) -> RawImage:
    return replace(SILENT, rims=RimCheck(f_number, ratio, 0.01, agrees))


@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-c", "r12-e", "r12-es", "r12-mini"])
def test_small_apertures_are_undone_per_pixel_and_wide_ones_not_at_all(name: str) -> None:
    for f_number in (1.0, 1.4, 1.8):
        assert choose_model(SILENT, at(f_number, preset(name)), AUTO) == ApertureChoice("off")
    for f_number in (2.8, 4.0, 5.6, 8.0):
        assert choose_model(SILENT, at(f_number, preset(name)), AUTO) == ApertureChoice("per_pixel")


def test_a_keplerian_camera_is_treated_alike() -> None:
    assert choose_model(SILENT, keplerian(), AUTO) == ApertureChoice("per_pixel")
    assert choose_model(SILENT, at(1.4, keplerian()), AUTO) == ApertureChoice("off")


def test_what_is_small_depends_on_the_pixels_and_depths_that_are_compared() -> None:
    camera = at(2.5)
    narrow = [replace(AUTO, margin=6.0), replace(AUTO, virtual_range=(2.5, 3.5))]
    everything = largest_shift(camera, AUTO)
    assert 0.3 < everything < 0.7
    assert all(largest_shift(camera, settings) < 0.7 * everything for settings in narrow)
    assert choose_model(SILENT, camera, narrow[0]).model == "off"


@pytest.mark.parametrize(
    ("camera", "says"),
    [
        (at(None), "no f-number"),
        (grid(), None),
        (shrunk(preset("r12-a-pinhole"), 9, 8), None),
        (unfocused(), None),
    ],
    ids=["no f-number", "grid", "pinholes", "unfocused"],
)
def test_where_it_cannot_be_undone_or_need_not_be_it_is_not(camera: Camera, says: str | None) -> None:
    model, note = choose_model(SILENT, camera, AUTO)
    assert model == "off"
    assert says is None if note == "" else says is not None and says in note


def calibrated(aware: bool | None, scale_model: ApertureModel | None) -> PlenopticCamera:
    """A camera whose calibration regarded the aperture or did not, with a Γ for a model or none."""
    return replace(
        CAMERA,
        depth_scale=None if scale_model is None else np.array([1.0, 0.99, 0.0]),
        depth_scale_model=scale_model or "off",
        provenance=replace(CAMERA.provenance, aperture_aware=aware),
    )


@pytest.mark.parametrize("scale_model", [None, "off", "slope"])
def test_a_camera_calibrated_without_regard_to_the_aperture_is_not_corrected_twice(
    scale_model: ApertureModel | None,
) -> None:
    found = choose_model(SILENT, calibrated(False, scale_model), AUTO)
    assert found.model == (scale_model or "off")
    assert "calibrated without regard to the aperture" in found.note
    assert ("no depth scale" in found.note) == (scale_model is None)


def test_a_camera_gets_what_its_depth_scale_was_found_with_or_its_calibration_regarded() -> None:
    assert choose_model(SILENT, calibrated(False, "per_pixel"), AUTO) == ApertureChoice("per_pixel")
    for aware in (True, None):
        for scale_model in (None, "off", "per_pixel"):
            assert choose_model(SILENT, calibrated(aware, scale_model), AUTO) == ApertureChoice("per_pixel")


def test_what_is_asked_for_is_done_however_the_camera_was_calibrated() -> None:
    assert choose_model(SILENT, calibrated(False, "off"), PER_PIXEL) == ApertureChoice("per_pixel")


def test_the_golden_section_stays_as_published() -> None:
    assert choose_model(SILENT, CAMERA, replace(AUTO, search="golden")) == ApertureChoice("off")


def test_what_is_asked_for_but_cannot_be_done_is_refused() -> None:
    for camera, match in ((grid(), "f-number"), (at(None), "f-number")):
        for settings in (PER_PIXEL, SLOPE):
            with pytest.raises(InputError, match=match):
                choose_model(SILENT, camera, settings)
        assert choose_model(SILENT, camera, DepthSettings(aperture_model="off")) == ApertureChoice("off")
    with pytest.raises(InputError, match="sweep only"):
        choose_model(SILENT, CAMERA, replace(PER_PIXEL, search="golden"))
    assert choose_model(SILENT, CAMERA, replace(SLOPE, search="golden")).model == "slope"


@pytest.mark.parametrize(("ratio", "word"), [(2.9, "wider"), (0.4, "narrower")])
def test_an_image_of_another_aperture_is_left_alone_unless_told(ratio: float, word: str) -> None:
    other = showing(ratio, agrees=False)
    model, note = choose_model(other, CAMERA, AUTO)
    assert model == "off"
    assert f"{ratio:g} times as bright as f/4" in note
    assert word in note
    assert note.endswith("not undone")
    for settings in (PER_PIXEL, SLOPE):
        choice = choose_model(other, CAMERA, settings)
        assert choice.model == settings.aperture_model
        assert word in choice.note
        assert "not undone" not in choice.note
    assert choose_model(other, CAMERA, DepthSettings(aperture_model="off")) == ApertureChoice("off")


def test_what_agrees_or_is_about_another_camera_file_changes_nothing() -> None:
    for image in (showing(1.3, agrees=True), showing(2.9, agrees=False, f_number=8.0)):
        assert choose_model(image, CAMERA, AUTO) == ApertureChoice("per_pixel")


def test_a_camera_file_with_too_wide_an_aperture_is_noted_too() -> None:
    model, note = choose_model(showing(0.3, agrees=False, f_number=1.4), at(1.4), AUTO)
    assert model == "off"
    assert "f/1.4" in note


# --- from raw numbers on ----------------------------------------------------------------------------------------


@cache
def raw_wall(f_number: float) -> np.ndarray:
    settings = RenderSettings(rays=64, f_number=f_number, seed=3)
    return expose(rendered_light(wall_scene(900.0, 3, CAMERA), CAMERA, settings), SensorSettings(color=False))


@cache
def raw_white(f_number: float) -> np.ndarray:
    light = rendered_light(white_scene(CAMERA), CAMERA, RenderSettings(rays=64, f_number=f_number))
    return expose(light, SensorSettings(color=False))


@pytest.mark.parametrize("with_white", [False, True], ids=["image alone", "white image"])
@pytest.mark.parametrize(("taken_at", "used"), [(2.0, "off"), (2.8, "off"), (4.0, "per_pixel"), (5.6, "off")])
def test_the_estimation_says_which_it_took(taken_at: float, used: ApertureModel, with_white: bool) -> None:
    image = clean_image(raw_wall(taken_at), CAMERA, white=raw_white(taken_at) if with_white else None)
    found = estimate_virtual_depth(image, CAMERA)
    assert found.aperture_model == used
    assert (found.aperture_note == "") == (used == "per_pixel")
    same = estimate_virtual_depth(image, CAMERA, DepthSettings(aperture_model=used))
    assert found.virtual_depth.tobytes() == same.virtual_depth.tobytes()


def test_a_cost_curve_is_of_the_same_model() -> None:
    image = clean_image(raw_wall(4.0), CAMERA)
    chosen, per_pixel, off = (
        cost_curve(image, CAMERA, 8, 7, settings) for settings in (AUTO, PER_PIXEL, DepthSettings(aperture_model="off"))
    )
    assert [curve.aperture_model for curve in (chosen, per_pixel, off)] == ["per_pixel", "per_pixel", "off"]
    assert np.array_equal(chosen.cost, per_pixel.cost, equal_nan=True)
    # The map's is averaged with its neighbours' on top; without the model it would be another by more than a tenth.
    assert chosen.estimate == pytest.approx(float(estimate_virtual_depth(image, CAMERA).virtual_depth[7, 8]), rel=1e-2)
    assert abs(off.estimate / chosen.estimate - 1) > 0.1
