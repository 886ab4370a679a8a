"""From files: what is read, and one line for each thing that is wrong with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_raws import GRID, MINI, textured_light, white_light

from plenodepth.camera import load_camera, save_camera
from plenodepth.errors import InputError
from plenodepth.io import read_image, write_image
from plenodepth.raw import Devignetting, estimated_vignetting, load_raw, predicted_vignetting
from plenodepth.raw.levels import Levels
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.raw.rims import rim_brightness
from plenodepth.sim.sensor import SensorSettings, expose


def white_numbers(full: int = 255) -> np.ndarray:
    """A white image as the optics predict it, at 80 % of full scale."""
    light = predicted_vignetting(MINI).band(MINI.micro_images, slice(0, 404), 560)
    return np.rint(0.8 * full * light).astype(np.uint8 if full == 255 else np.uint16)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("full", [255, 4095])
@pytest.mark.parametrize("kind", ["gray", "RGB", "Bayer"])
def test_files_of_8_and_16_bits_give_the_same_clean_image(tmp_path: Path, suffix: str, full: int, kind: str) -> None:
    white = white_numbers(full)
    image = (white // 2).astype(white.dtype)
    if kind == "RGB":
        white, image = (np.repeat(one[..., None], 3, axis=2) for one in (white, image))
    write_image(white, tmp_path / f"white.{suffix}")
    write_image(image, tmp_path / f"frame.{suffix}")
    bayer = "GRBG" if kind == "Bayer" else None
    clean = load_raw(tmp_path / f"frame.{suffix}", MINI, white=tmp_path / f"white.{suffix}", bayer=bayer)
    assert clean.name == "frame"
    assert clean.devignetting is Devignetting.WHITE
    assert (clean.color is None) == (kind == "gray")
    assert clean.gray.shape == (404, 560)
    assert np.nanmedian(clean.gray) == pytest.approx(0.5, abs=0.01)


def test_bad_input_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    white = white_numbers()
    files = {
        "frame": white // 2,
        "white": white,
        "small": white[:-2],
        "color": np.repeat(white[..., None], 3, axis=2),
        "dark": white // 200,
        "overexposed": np.where(white > 50, 255, white),
        "cut": (white * np.where(pixel_offsets(MINI.micro_images, slice(0, 404), 560)[0] < 36, 1, 0.3)),
    }
    for name, numbers in files.items():
        write_image(np.asarray(numbers).astype(np.uint8), tmp_path / f"{name}.png")
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "half.png").write_bytes((tmp_path / "frame.png").read_bytes()[:5000])
    wrong: list[tuple[str, str, dict[str, object]]] = [
        ("small.png", "560 × 402 px, the camera 'r12-mini' has 560 × 404 px", {"path": "small"}),
        ("small.png", "560 × 402 px, the image 560 × 404 px", {"white": "small"}),
        ("color.png", "is RGB, the image gray", {"white": "color"}),
        ("white.png", "is gray, the image RGB", {"path": "color", "white": "white"}),
        ("dark.png", "is dark", {"white": "dark"}),
        ("overexposed.png", "is saturated", {"white": "overexposed"}),
        ("cut.png", "aperture", {"white": "cut"}),
        ("white.png", "holds 203 at the centres", {"white": "white", "black_level": 0.8}),
        ("white.png", "or correct the black level", {"white": "white", "camera": counting_from(0.9)}),
        ("dark.png", "the black level is 12.75", {"white": "dark", "black_level": 0.05}),
        ("frame.png", "black_level: is 16, needs a number ≥ 0 and < 1", {"black_level": 16}),
        ("text.png", "is not a PNG", {"path": "text"}),
        ("text.png", "is not a PNG", {"white": "text"}),
        ("half.png", "ends before", {"path": "half"}),
        ("none.png", "", {"path": "none"}),
        ("none.png", "", {"white": "none"}),
        ("frame.png", "bayer: is 'RGBG'", {"bayer": "RGBG"}),
        ("color.png", "bayer: is given, but the image has colours", {"path": "color", "bayer": "RGGB"}),
        ("frame.png", "devignetting: is 'magic'", {"devignetting": "magic"}),
        ("frame.png", "there is no white image", {"devignetting": "white"}),
        ("frame.png", "with a white image", {"devignetting": "model", "white": "white"}),
        ("frame.png", "has no optics", {"devignetting": "model", "camera": GRID}),
        ("frame.png", "has no f-number", {"devignetting": "model", "camera": replace_f_number()}),
        ("frame.png", "full_scale: is 0", {"full_scale": 0}),
    ]
    for file, message, options in wrong:
        arguments = {"path": "frame", "camera": MINI, **options}
        for key in ("path", "white"):
            if key in arguments:
                arguments[key] = tmp_path / f"{arguments[key]}.png"
        with pytest.raises(InputError) as error:
            load_raw(**arguments)  # type: ignore[arg-type]
        text = str(error.value)
        assert text.startswith(str(tmp_path / file)), text
        assert message in text
        assert "\n" not in text


def counting_from(black_level: float) -> object:
    return replace(MINI, sensor=replace(MINI.sensor, black_level=black_level))


def replace_f_number() -> object:
    return replace(MINI, main_lens=replace(MINI.main_lens, f_number=None))


def test_a_camera_file_says_how_its_images_are_read(tmp_path: Path) -> None:
    sensor = replace(MINI.sensor, bayer="GBRG", black_level=0.1)
    save_camera(replace(MINI, sensor=sensor), tmp_path / "camera.yaml")
    camera = load_camera(tmp_path / "camera.yaml")
    white = np.rint(25.5 + 0.9 * white_numbers()).astype(np.uint8)
    write_image(white, tmp_path / "frame.png")
    clean = load_raw(tmp_path / "frame.png", camera, white=tmp_path / "frame.png")
    told = load_raw(tmp_path / "frame.png", MINI, white=tmp_path / "frame.png", bayer="GBRG", black_level=0.1)
    assert clean.color is not None
    assert np.nanmax(np.abs(clean.gray - 1)) < 1e-5
    assert np.array_equal(clean.gray, told.gray, equal_nan=True)


@pytest.mark.realdata
def test_the_texture_of_a_real_frame_looks_like_no_other_aperture(real_data: Path) -> None:
    camera = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    frame = read_image(real_data / "r5" / "fujita2-frame0.png").astype(np.float32).mean(axis=2) / 255
    # No white image came with the frame: the mean micro-image of one half stands for it, and the other is examined.
    for half in (np.s_[:, :1024], np.s_[:1024]):
        unseen = np.ones((2048, 2048), np.bool_)
        unseen[half] = False
        profile = estimated_vignetting(np.where(unseen, np.nan, frame), frame >= 1, camera)
        assert profile is not None
        white = profile.band(camera.micro_images, slice(0, 2048), 2048)
        found = rim_brightness(np.where(unseen, frame, np.nan), white, camera, (Levels(0, 1), Levels(0, 1)))
        assert found is not None
        assert found[0] == pytest.approx(1, abs=0.03)


@pytest.mark.realdata
def test_a_frame_of_a_vendor_s_camera_is_devignetted_by_itself(real_data: Path) -> None:
    camera = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    clean = load_raw(real_data / "r5" / "fujita2-frame0.png", camera)
    assert clean.devignetting is Devignetting.SELF
    squared, _ = pixel_offsets(camera.micro_images, slice(0, 2048), 2048)
    share = np.sqrt(squared) / camera.micro_images.radius
    center, rim = share < 0.4, (share > 0.7) & (share < 0.9)
    assert np.nanmean(clean.gray[rim]) == pytest.approx(np.nanmean(clean.gray[center]), rel=0.03)
    assert 0 < clean.noise < 0.05


def test_a_white_image_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    write_image(expose(textured_light(4.0), SensorSettings()), tmp_path / "image.png")
    write_image(expose(white_light(4.0), SensorSettings()), tmp_path / "white.png")
    once = load_raw(tmp_path / "image.png", MINI, white=tmp_path / "white.png")
    twice = load_raw(tmp_path / "image.png", MINI, white=[tmp_path / "white.png", tmp_path / "white.png"])
    assert np.array_equal(once.gray, twice.gray, equal_nan=True)
