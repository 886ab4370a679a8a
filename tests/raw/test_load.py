"""From files: what is read, and one line for each thing that is wrong with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import GridCamera, load_camera, preset
from plenodepth.errors import InputError
from plenodepth.io import write_image
from plenodepth.raw import Devignetting, load_raw, predicted_vignetting
from plenodepth.raw.offsets import pixel_offsets

MINI = preset("r12-mini")
GRID = GridCamera("grid", 560, 404, MINI.micro_images, np.array([[2.0, 4], [3, 5], [4, 6]]))


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
    write_image(tmp_path / f"white.{suffix}", white)
    write_image(tmp_path / f"frame.{suffix}", image)
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
        write_image(tmp_path / f"{name}.png", np.asarray(numbers).astype(np.uint8))
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


def replace_f_number() -> object:
    return replace(MINI, main_lens=replace(MINI.main_lens, f_number=None))


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
