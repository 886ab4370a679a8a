"""Raw images become flat, linear and honest: devignetting, scale, colour, saturation, noise."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from plenodepth.camera import GridCamera, PlenopticCamera, preset
from plenodepth.errors import InputError
from plenodepth.geometry import Pose
from plenodepth.raw import BAYER_PATTERNS, Devignetting, RawImage, clean_image, noise_level
from plenodepth.raw.levels import Levels
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.raw.rims import rim_brightness
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.scene import ImageTexture, Material, Rectangle, Scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

MINI = preset("r12-mini")
GRID = GridCamera("grid", 560, 404, MINI.micro_images, np.array([[2.0, 4], [3, 5], [4, 6]]))
LUMINANCE = np.array([0.299, 0.587, 0.114])


def at_aperture(f_number: float | None) -> PlenopticCamera:
    return replace(MINI, main_lens=replace(MINI.main_lens, f_number=f_number))


@cache
def white_light(f_number: float, seed: int = 0) -> np.ndarray:
    return render(white_scene(MINI), MINI, RenderSettings(rays=64, f_number=f_number, seed=seed)).light


@cache
def textured_light(f_number: float) -> np.ndarray:
    coarse = np.random.default_rng(0).random((12, 12, 3))
    texture = ImageTexture(np.kron(coarse, np.ones((8, 8, 1))).astype(np.float32))
    wall = Rectangle(120, 120, Pose(np.eye(3), np.array([0, 0, 900.0])), Material(texture=texture, emits=True))
    return render(Scene((wall,)), MINI, RenderSettings(rays=64, f_number=f_number)).light


@cache
def bare_light() -> np.ndarray:
    """The textured scene as it would look without vignetting."""
    coarse = np.random.default_rng(0).random((12, 12, 3))
    texture = ImageTexture(np.kron(coarse, np.ones((8, 8, 1))).astype(np.float32))
    wall = Rectangle(120, 120, Pose(np.eye(3), np.array([0, 0, 900.0])), Material(texture=texture, emits=True))
    return render(Scene((wall,)), MINI, RenderSettings(rays=64, f_number=2.8, vignetting=False)).light


@cache
def offsets() -> tuple[np.ndarray, np.ndarray]:
    return pixel_offsets(MINI.micro_images, slice(0, 404), 560)


def within(share: float) -> np.ndarray:
    """Pixels within a share of the radius of their micro-image, where it lies in the array."""
    squared, types = offsets()
    return (squared < (share * MINI.micro_images.radius) ** 2) & (types >= 0)


def radial_deviation(clean: RawImage) -> np.ndarray:
    """Mean of gray in rings around the centres, relative to that of the central one, per lens type; minus 1."""
    squared, types = offsets()
    share = np.sqrt(squared) / MINI.micro_images.radius
    edges = np.arange(0.1, 0.85, 0.1)  # to 0.9 of the radius, where 11 % of the light are left at N = 4
    rings = [(types == t) & (share >= low) & (share < low + 0.1) for t in range(3) for low in edges]
    means = np.array([np.nanmean(clean.gray[ring]) for ring in rings])
    return means / np.nanmean(clean.gray[within(0.2)]) - 1


@pytest.mark.parametrize("bayer", [None, "GRBG"])
def test_a_white_image_divided_by_itself_is_one(bayer: str | None) -> None:
    white = expose(white_light(4.0), SensorSettings(bayer=bayer, exposure=0.7))
    clean = clean_image(white, MINI, white=white, bayer=bayer)
    assert clean.devignetting is Devignetting.WHITE
    assert np.isfinite(clean.gray[within(0.8)]).all()
    assert np.nanmax(np.abs(clean.gray - 1)) < 1e-5
    assert clean.color is not None
    assert np.nanmax(np.abs(clean.color - 1)) < 1e-5


@pytest.mark.parametrize("bayer", [None, "BGGR"])
@pytest.mark.parametrize("f_number", [2.8, 4.0])
@pytest.mark.parametrize(("way", "tolerance"), [("white", 0.03), ("model", 0.01), ("self", 0.01)])
def test_a_gray_wall_is_flat(way: str, tolerance: float, f_number: float, bayer: str | None) -> None:
    sensor = SensorSettings(seed=1, bayer=bayer)
    white = expose(white_light(f_number, seed=7), sensor) if way == "white" else None
    image = expose(0.5 * white_light(f_number), replace(sensor, seed=2))
    clean = clean_image(image, at_aperture(f_number), white=white, devignetting=way, bayer=bayer)  # type: ignore[arg-type]
    assert np.isfinite(clean.gray[within(0.8)]).mean() > 0.999
    assert np.median(clean.gray[within(0.5)]) == pytest.approx(0.5 if way == "white" else 0.45, rel=0.01)
    # One over a dark and noisy number is too large in the mean: at the rim a white image's own noise shows.
    assert np.abs(radial_deviation(clean)).max() < tolerance
    bare = clean_image(image, at_aperture(f_number), devignetting="none", bayer=bayer)
    assert bare.devignetting is Devignetting.NONE
    assert np.abs(radial_deviation(bare)).max() > 0.4  # there was something to divide out


@pytest.mark.parametrize("f_number", [2.8, 4.0])
@pytest.mark.parametrize(("way", "bias"), [("white", 0.01), ("model", 0.01), ("self", 0.05)])
def test_a_textured_scene_keeps_its_colours(way: str, bias: float, f_number: float) -> None:
    sensor = SensorSettings(full_well=None)
    white = expose(white_light(f_number), sensor) if way == "white" else None
    image = expose(textured_light(f_number), sensor)
    clean = clean_image(image, at_aperture(f_number), white=white, devignetting=way)  # type: ignore[arg-type]
    assert clean.color is not None
    here = within(0.6) & np.isfinite(clean.gray)
    scale = 1 if way == "white" else 0.9
    # The open part of a lens looks elsewhere than the whole of it, so single pixels differ; their mean does not.
    difference = clean.color[here] / scale - bare_light()[here]
    assert np.abs(difference.mean(axis=0)).max() < bias * bare_light()[here].mean()
    assert np.median(np.abs(difference)) < 0.03
    assert np.allclose(clean.gray[here], clean.color[here] @ LUMINANCE, atol=1e-5)


def test_auto_takes_the_best_there_is_and_says_so() -> None:
    image = expose(0.5 * white_light(4.0), SensorSettings())
    white = expose(white_light(4.0), SensorSettings(seed=3))
    assert clean_image(image, MINI, white=white).devignetting is Devignetting.WHITE
    assert clean_image(image, MINI).devignetting is Devignetting.MODEL
    assert clean_image(image, at_aperture(None)).devignetting is Devignetting.SELF
    assert clean_image(image, GRID).devignetting is Devignetting.SELF
    assert clean_image(image, GRID, white=white).devignetting is Devignetting.WHITE


def test_a_white_image_evens_out_lenses_of_different_brightness() -> None:
    squared, _ = offsets()
    v, u = np.indices(squared.shape)
    k, l = MINI.micro_images.owner(np.stack([u, v], axis=-1))
    owner = np.where(k >= 0, l * 24 + k, -1).astype(np.int32)
    sensor = SensorSettings(full_well=None, lens_gain_sigma=0.05, exposure=0.7)
    white, image = (expose(share * white_light(2.8), sensor, owner) for share in (1, 0.5))
    spread = [
        np.nanstd(
            clean_image(image, MINI, white=given, devignetting="auto" if given is not None else "none").gray[mask]
        )
        for given, mask in ((white, within(0.4)), (None, within(0.4)))
    ]
    assert spread[0] < 0.001
    assert spread[1] > 0.01


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
@pytest.mark.parametrize("with_white", [True, False])
def test_every_bit_depth_gives_the_same_gray(bits: int, with_white: bool) -> None:
    sensor = SensorSettings(full_well=None)
    grays = []
    for depth in (16, bits):
        setting = replace(sensor, bit_depth=depth)
        white = expose(white_light(2.8), setting) if with_white else None
        grays.append(clean_image(expose(0.9 * white_light(2.8), setting), at_aperture(2.8), white=white).gray)
    assert np.array_equal(np.isnan(grays[0]), np.isnan(grays[1]))
    step = 2 / (2**bits - 1)  # of image and white image, magnified at the rim
    assert np.nanmax(np.abs(grays[0] - grays[1])[within(0.6)]) < 1.5 * step + 1e-6
    assert np.nanmax(grays[0]) > 0.8


def test_an_underexposed_image_of_16_bits_can_be_told_its_full_scale() -> None:
    image = np.full((404, 560), 3000, np.uint16)
    assert np.nanmax(clean_image(image, MINI, devignetting="none").gray) == pytest.approx(3000 / 4095)
    told = clean_image(image, MINI, devignetting="none", full_scale=65535)
    assert np.nanmax(told.gray) == pytest.approx(3000 / 65535)


def test_image_and_white_image_may_have_different_bit_depths() -> None:
    image = expose(0.5 * white_light(4.0), SensorSettings(bit_depth=8, full_well=None))
    white = expose(white_light(4.0), SensorSettings(bit_depth=16, full_well=None))
    assert np.nanmedian(clean_image(image, MINI, white=white).gray[within(0.5)]) == pytest.approx(0.5, rel=0.01)


def test_colours_and_gray_come_through_a_bayer_pattern() -> None:
    light = textured_light(2.8)
    full = clean_image(expose(light, SensorSettings(full_well=None)), at_aperture(2.8))
    for pattern in BAYER_PATTERNS:
        mosaic = expose(light, SensorSettings(full_well=None, bayer=pattern))
        clean = clean_image(mosaic, at_aperture(2.8), bayer=pattern.lower())
        here = within(0.6)
        assert clean.color is not None
        assert full.color is not None
        assert np.median(np.abs(clean.gray - full.gray)[here]) < 0.01
        assert np.sqrt(np.mean((clean.gray - full.gray)[here] ** 2)) < 0.03
        assert np.median(np.abs(clean.color - full.color)[here]) < 0.02
        swapped = clean_image(mosaic, at_aperture(2.8), bayer=pattern[::-1])  # red for blue
        assert swapped.color is not None
        assert np.median(np.abs(swapped.color - full.color)[here]) > 0.03


def test_saturated_pixels_are_missing_in_gray_and_keep_their_colour() -> None:
    image = expose(0.5 * white_light(2.8), SensorSettings(full_well=None, bit_depth=8))
    image[200:203, 300:303, 0] = 255
    image[100, 100] = 254
    clean = clean_image(image, at_aperture(2.8), devignetting="none")
    assert np.isnan(clean.gray[200:203, 300:303]).all()
    assert np.isnan(clean.gray).sum() == 9
    assert clean.gray[100, 100] == pytest.approx(254 / 255)
    assert clean.color is not None
    assert np.allclose(clean.color[200:203, 300:303, 0], 1)


def test_a_saturated_pixel_of_a_mosaic_takes_its_neighbours_with_it() -> None:
    image = np.full((404, 560), 100, np.uint8)
    image[50, 60] = 255
    clean = clean_image(image, MINI, bayer="RGGB", devignetting="none")
    assert np.argwhere(np.isnan(clean.gray)).tolist() == [[v, u] for v in (49, 50, 51) for u in (59, 60, 61)]


def test_where_no_light_falls_there_is_no_number() -> None:
    white = expose(white_light(8.0), SensorSettings(seed=1))
    for given in (white, None):
        clean = clean_image(white, at_aperture(8.0), white=given)
        assert np.isnan(clean.gray[within(1.0) & ~within(0.95)]).mean() > 0.99
        assert clean.color is not None
        assert np.array_equal(np.isnan(clean.gray), np.isnan(clean.color).any(axis=2))
        assert np.isfinite(clean.gray[within(0.5)]).all()


@pytest.mark.parametrize("bayer", [None, "RGGB"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
@pytest.mark.parametrize("value", [0, 90, 255], ids=["black", "flat", "saturated"])
def test_images_without_content_are_clean_and_empty(value: int, way: str, bayer: str | None) -> None:
    shape = (404, 560) if bayer else (404, 560, 3)
    white = expose(white_light(4.0), SensorSettings(bit_depth=8, bayer=bayer)) if way == "white" else None
    image = np.full(shape, value, np.uint8)
    # A flat image is no image of these lenses: a white image that shows rims does not belong to it, and is refused.
    if way == "white" and value == 90:
        with pytest.raises(InputError, match="aperture"):
            clean_image(image, MINI, white=white, bayer=bayer)
        return
    clean = clean_image(image, MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    if value == 255:
        assert np.isnan(clean.gray).all()
        assert np.isnan(clean.noise)
    else:
        here = within(0.3)
        assert np.isfinite(clean.gray[here]).all()
        assert clean.noise < 0.05  # dividing a flat image makes rims
    if way == "self" and value != 90:
        assert clean.devignetting is Devignetting.NONE  # such an image does not show its vignetting


@pytest.mark.parametrize("bayer", [None, "RGGB"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
def test_floats_that_are_not_numbers_stay_missing(way: str, bayer: str | None) -> None:
    light = white_light(4.0)[..., 0] if bayer else white_light(4.0)
    white = light if way == "white" else None
    nothing = clean_image(np.full_like(light, np.nan), MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    assert np.isnan(nothing.gray).all()
    assert np.isnan(nothing.noise)
    holes = 0.5 * light
    holes[100:120, 200:220], holes[50, 50] = np.nan, np.inf
    clean = clean_image(holes, MINI, white=white, bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    assert np.isnan(clean.gray[100:120, 200:220]).all()
    assert np.isnan(clean.gray[50, 50])
    whole = within(0.8)
    whole[99:121, 199:221] = whole[49:52, 49:52] = False
    assert np.isfinite(clean.gray[whole]).mean() > 0.999
    assert not np.isinf(clean.gray).any()


def test_floats_are_light_and_nothing_is_clipped() -> None:
    image = np.full((404, 560), 3.5)
    clean = clean_image(image, MINI, devignetting="none", name="frame 7")
    assert (clean.gray == 3.5).all()
    assert clean.color is None
    assert clean.name == "frame 7"
    assert clean.gray.dtype == np.float32


def test_the_input_is_left_alone() -> None:
    image = white_light(4.0)[..., 0].copy()
    before = image.copy()
    for way in ("model", "self", "none"):
        clean_image(image, MINI, devignetting=way, full_scale=0.5)  # type: ignore[arg-type]
    assert np.array_equal(image, before)


@pytest.mark.parametrize("sigma", [0.003, 0.03])
def test_the_noise_is_found_with_and_without_texture(sigma: float) -> None:
    noise = sigma * np.random.default_rng(3).standard_normal((404, 560))
    assert noise_level((0.5 + noise).astype(np.float32), MINI) == pytest.approx(sigma, rel=0.1)
    textured = bare_light() @ LUMINANCE + noise
    assert noise_level(textured.astype(np.float32), MINI) == pytest.approx(sigma, rel=0.5)
    clean = clean_image(0.5 + noise, MINI, bayer="RGGB", devignetting="none")
    assert clean.noise == pytest.approx(clean.gray.std(), rel=0.1)


def test_two_usable_micro_images_tell_the_noise_too() -> None:
    noise = 0.01 * np.random.default_rng(4).standard_normal((404, 560))
    gray = np.full((404, 560), np.nan, np.float32)
    for brightness, (k, l) in ((0.4, (5, 5)), (0.6, (15, 12))):
        u, v = (int(part) for part in MINI.micro_images.center(k, l))
        part = np.s_[v - 8 : v + 9, u - 8 : u + 9]
        gray[part] = brightness + noise[part]
    assert noise_level(gray, MINI) == pytest.approx(0.01, rel=0.3)


# --- colour filters of the camera -------------------------------------------------------------------------------


def with_sensor(camera: PlenopticCamera, **fields: Any) -> PlenopticCamera:
    return replace(camera, sensor=replace(camera.sensor, **fields))


@pytest.mark.parametrize("given", [None, "BGGR"])
def test_a_given_pattern_goes_before_the_camera_s(given: str | None) -> None:
    mosaic = expose(textured_light(4.0), SensorSettings(bayer="GRBG"))
    clean = clean_image(mosaic, with_sensor(MINI, bayer="GRBG"), bayer=given)
    expected = clean_image(mosaic, MINI, bayer=given or "GRBG")
    assert clean.color is not None
    assert np.array_equal(clean.color, expected.color, equal_nan=True)
    assert clean.noise == expected.noise


def test_an_image_in_colour_is_not_demosaiced_again() -> None:
    camera = with_sensor(MINI, bayer="GRBG")
    image = expose(textured_light(4.0), SensorSettings())
    clean, expected = clean_image(image, camera), clean_image(image, MINI)
    assert np.array_equal(clean.gray, expected.gray, equal_nan=True)
    assert np.array_equal(clean.color, expected.color, equal_nan=True)
    with pytest.raises(InputError, match="bayer: is given, but the image has colours"):
        clean_image(image, camera, bayer="GRBG")


def test_the_noise_of_an_image_that_others_demosaiced_is_not_taken_for_less() -> None:
    mosaic = 0.5 + 0.01 * np.random.default_rng(5).standard_normal((404, 560))
    color = clean_image(mosaic, MINI, bayer="RGGB", devignetting="none").color
    assert color is not None
    clean = clean_image(color, with_sensor(MINI, bayer="RGGB"), devignetting="none")
    assert clean.noise == pytest.approx(clean.gray.std(), rel=0.1)
    assert clean_image(color, MINI, devignetting="none").noise < 0.7 * clean.noise


# --- black level ------------------------------------------------------------------------------------------------

BLACK = 0.0625  # 64 of 1023


def lifted(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 12 bits, or floats with the scale 1, of a sensor that counts from its black level on."""
    if numbers.dtype == np.float32:
        return (1 - BLACK) * numbers + np.float32(BLACK)
    return np.rint((1 - BLACK) * numbers + BLACK * 4095).astype(np.uint16)


@pytest.mark.parametrize("bayer", [None, "GRBG"])
@pytest.mark.parametrize("way", ["white", "model", "self", "none"])
def test_light_is_counted_from_the_black_level(way: str, bayer: str | None) -> None:
    image, white = 0.5 * textured_light(4.0), white_light(4.0)
    if bayer:
        image, white = image[..., 1], white[..., 1]
    whites = (white, lifted(white)) if way == "white" else (None, None)
    expected = clean_image(image, MINI, white=whites[0], bayer=bayer, devignetting=way)  # type: ignore[arg-type]
    for camera, given in ((MINI, BLACK), (with_sensor(MINI, black_level=BLACK), None)):
        clean = clean_image(
            lifted(image),
            camera,
            white=whites[1],
            bayer=bayer,
            black_level=given,
            devignetting=way,  # type: ignore[arg-type]
        )
        assert clean.devignetting is expected.devignetting
        assert np.array_equal(np.isnan(clean.gray), np.isnan(expected.gray))
        assert np.nanmax(np.abs(clean.gray - expected.gray)) < 2e-5  # rounding to float32, magnified at the rim
        assert clean.noise == pytest.approx(expected.noise, rel=1e-3)


def test_a_given_black_level_goes_before_the_camera_s() -> None:
    image = np.full((404, 560), 0.5, np.float32)
    camera = with_sensor(MINI, black_level=0.2)
    for given, expected in ((None, 0.3 / 0.8), (0, 0.5), (0.1, 0.4 / 0.9)):
        assert np.allclose(clean_image(image, camera, black_level=given, devignetting="none").gray, expected)
    assert np.allclose(clean_image(image, GRID, devignetting="none").gray, 0.5)


@pytest.mark.parametrize("bayer", [None, "RGGB"])
def test_the_noise_is_found_above_a_black_level(bayer: str | None) -> None:
    sensor = SensorSettings(bayer=bayer, full_well=1000)
    image, white = expose(0.5 * white_light(4.0), sensor), expose(white_light(4.0), replace(sensor, seed=1))
    expected = clean_image(image, MINI, white=white, bayer=bayer)
    clean = clean_image(lifted(image), MINI, white=lifted(white), bayer=bayer, black_level=BLACK)
    assert clean.noise == pytest.approx(expected.noise, rel=0.02)
    assert np.nanmedian(clean.gray) == pytest.approx(np.nanmedian(expected.gray), rel=0.01)


@pytest.mark.parametrize("way", ["white", "none"])
def test_noise_about_black_is_not_clipped(way: str) -> None:
    noise = np.random.default_rng(1).normal(0, 5, (404, 560))
    dark = np.rint(256 + noise).astype(np.uint16)
    white = lifted(expose(white_light(4.0), SensorSettings(color=False))) if way == "white" else None
    clean = clean_image(dark, MINI, white=white, black_level=256 / 4095, full_scale=4095, devignetting=way)  # type: ignore[arg-type]
    here = within(0.5) & np.isfinite(clean.gray)
    assert clean.gray[here].min() < -0.002
    assert abs(clean.gray[here].mean()) < 0.0002
    assert not np.isinf(clean.gray).any()


def test_full_scale_is_still_saturated() -> None:
    image = np.full((404, 560), 2000, np.uint16)
    image[50, 60], image[70, 80] = 4095, 4080
    clean = clean_image(image, MINI, black_level=BLACK, devignetting="none")
    assert np.argwhere(np.isnan(clean.gray)).tolist() == [[50, 60]]
    assert clean.gray[70, 80] == pytest.approx((4080 - 4095 * BLACK) / (4095 * (1 - BLACK)))


@pytest.mark.parametrize("level", [-0.1, 1, 64, float("nan")])
def test_a_black_level_that_is_no_part_of_full_scale_is_refused(level: float) -> None:
    with pytest.raises(InputError, match=r"frame: black_level: is .* \(give it as a part of full scale"):
        clean_image(np.full((404, 560), 90, np.uint8), MINI, black_level=level, name="frame")


# --- a white image of another aperture --------------------------------------------------------------------------

STOPS = (2.8, 4.0, 5.6, 8.0)


@pytest.mark.parametrize("bayer", [None, "GBRG"])
@pytest.mark.parametrize("exposure", [0.9, 0.1])
def test_a_white_image_one_stop_or_more_off_is_refused_and_no_other(exposure: float, bayer: str | None) -> None:
    sensor = SensorSettings(bayer=bayer)
    whites = {n: expose(white_light(n), replace(sensor, seed=1)) for n in STOPS}
    for taken_at in STOPS:
        image = expose(textured_light(taken_at), replace(sensor, exposure=exposure))
        clean_image(image, MINI, white=whites[taken_at], bayer=bayer)
        for other in STOPS:
            if other != taken_at:
                with pytest.raises(InputError, match="narrower" if other > taken_at else "wider"):
                    clean_image(image, MINI, white=whites[other], bayer=bayer)


LEVELS = (Levels(0, 4095), Levels(0, 4095))


@pytest.mark.parametrize("f_number", [*STOPS, 11.0])
def test_the_scene_does_not_change_the_aperture_that_an_image_shows(f_number: float) -> None:
    white = expose(white_light(f_number, seed=7), SensorSettings(seed=1))
    for light in (white_light(f_number), textured_light(f_number), 0.1 * textured_light(f_number)):
        found = rim_brightness(expose(light, SensorSettings()), white, MINI, LEVELS)
        assert found is not None
        assert found[0] == pytest.approx(1, abs=0.03)


def test_a_noisy_white_image_is_not_taken_for_one_of_another_aperture() -> None:
    noisy = SensorSettings(full_well=100, read_noise=3, seed=1)
    for f_number in (*STOPS, 11.0):
        image = expose(textured_light(f_number), SensorSettings())
        clean_image(image, MINI, white=expose(white_light(f_number), noisy))


def test_where_the_aperture_cannot_be_told_the_white_image_is_taken() -> None:
    white = expose(white_light(4.0), SensorSettings())
    assert rim_brightness(np.zeros_like(white), white, MINI, LEVELS) is None
    narrow = np.where(within(0.4), 3000, 0).astype(np.uint16)
    assert rim_brightness(narrow, narrow, MINI, LEVELS) is None


def test_a_black_level_that_nobody_told_is_named_where_it_looks_like_another_aperture() -> None:
    sensor = SensorSettings()
    image = lifted(expose(textured_light(4.0), replace(sensor, exposure=0.1)))
    white = lifted(expose(white_light(4.0), sensor))
    with pytest.raises(InputError, match="check the black level"):
        clean_image(image, MINI, white=white)
    clean_image(image, MINI, white=white, black_level=BLACK)


# --- the aperture that the camera file says ---------------------------------------------------------------------


@pytest.mark.parametrize("says", STOPS)
@pytest.mark.parametrize("bayer", [None, "GBRG"])
def test_white_images_and_walls_tell_another_f_number_than_the_camera_says(says: float, bayer: str | None) -> None:
    for taken_at in (2.0, *STOPS):
        for light, exposure in ((white_light, 0.9), (textured_light, 0.9), (textured_light, 0.1)):
            image = expose(light(taken_at), SensorSettings(bayer=bayer, exposure=exposure))
            rims = clean_image(image, at_aperture(says), bayer=bayer).rims
            assert rims is not None
            assert rims.f_number == says
            assert rims.agrees == (taken_at == says)
            if rims.agrees:
                assert rims.ratio == pytest.approx(1, abs=0.05)
            else:
                assert (rims.ratio > 1) == (taken_at < says)  # a wider aperture has brighter rims


def test_a_third_of_a_stop_is_no_contradiction() -> None:
    for taken_at in (4.0 * 2 ** (-1 / 6), 4.0 * 2 ** (1 / 6)):
        assert clean_image(expose(white_light(taken_at), SensorSettings()), MINI).rims.agrees  # type: ignore[union-attr]


def test_with_a_white_image_it_is_the_white_image_that_tells() -> None:
    few_spots = np.zeros_like(white_light(2.0))
    few_spots[150:190, 200:240] = white_light(2.0)[150:190, 200:240]
    image, white = expose(few_spots, SensorSettings()), expose(white_light(2.0), SensorSettings(seed=1))
    alone, told = clean_image(image, MINI).rims, clean_image(image, MINI, white=white).rims
    assert alone is None or alone.error > 0.1
    assert told is not None
    assert told.error < 0.02
    assert not told.agrees


@pytest.mark.parametrize("why", ["no devignetting", "dark", "saturated", "no f-number", "grid"])
def test_where_the_aperture_cannot_be_told_nothing_is_said(why: str) -> None:
    image = expose(white_light(2.0), SensorSettings(exposure={"dark": 0.0003, "saturated": 3.0}.get(why, 0.8)))
    camera = {"no f-number": at_aperture(None), "grid": GRID}.get(why, MINI)
    way = "none" if why == "no devignetting" else "auto"
    assert clean_image(image, camera, devignetting=way).rims is None  # type: ignore[arg-type]
