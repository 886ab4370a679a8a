"""No wrong map in silence: files that do not belong together are refused, or their depth is right, or it is doubted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from cameras import moved_back
from commands import Run
from simulated import rendered_light
from wall_shots import DISTANCE, camera, exposed, wall, white

from plenodepth.camera import preset, save_camera
from plenodepth.camera.presets import shrunk
from plenodepth.io import write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.simulate import white_scene

CLOSE = 0.03  # relative: a depth that is right
Array = np.ndarray[Any, Any]


def divided() -> Array:
    """The wall over its white image: an image that is devignetted already."""
    return np.clip(wall() / np.maximum(white(), 1) * 2000.0, 0, 4095).astype(np.uint16)


def to_size(image: Array) -> Array:
    """The middle of an image, or the image in the middle, at the size of the camera's."""
    result = np.zeros((camera().sensor.height, camera().sensor.width, *image.shape[2:]), image.dtype)
    height, width = min(len(result), len(image)), min(result.shape[1], image.shape[1])
    top, left = (len(image) - height) // 2, (image.shape[1] - width) // 2
    result[:height, :width] = image[top : top + height, left : left + width]
    return result


def scaled(by: float) -> Array:
    return to_size(cv2.resize(wall(), None, fx=by, fy=by))


def turned(degrees: float) -> Array:
    height, width = wall().shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    return np.asarray(cv2.warpAffine(wall(), matrix, (width, height)))


def shifted(across: int, down: int) -> Array:
    return np.asarray(np.roll(wall(), (down, across), axis=(0, 1)))


def gamma_8_bit(image: Array) -> Array:
    return np.rint(255 * (image / 4095) ** (1 / 2.2)).astype(np.uint8)


def blank(value: int) -> Array:
    return np.full(wall().shape, value, np.uint16)


def narrow(image: Array) -> Array:
    """With the middle of each micro-image saturated, as of a white image that was exposed too long."""
    return np.minimum(image.astype(np.float64) * 1.6, 4095).astype(np.uint16)


Shot = tuple[Callable[[], Array], Callable[[], Array] | None, tuple[str, ...], str]
Outcome = str  # right: exit code 0 and the right depth; told: another exit code and one line

CASES: dict[str, tuple[Shot, Outcome]] = {
    # What belongs together.
    "its own camera": ((wall, None, (), "es"), "right"),
    "its own camera and white image": ((wall, white, (), "es"), "right"),
    "two white images": ((wall, white, ("--white", "SECOND"), "es"), "right"),
    "wide open": ((lambda: wall(2.0), lambda: white(2.0), (), "es2"), "right"),
    # The image is not what the camera takes.
    "devignetted already": ((divided, None, (), "es"), "right"),
    "devignetted already, and said so": ((divided, None, ("--devignetting", "none"), "es"), "right"),
    "devignetted already, white image given": ((divided, white, (), "es"), "told"),
    "devignetted a second time": ((divided, None, ("--devignetting", "model"), "es"), "told"),
    "a white image": ((white, None, (), "es"), "told"),
    "a white image, devignetted": ((lambda: white(exposure=0.8), white, (), "es"), "told"),
    "black": ((lambda: blank(0), None, (), "es"), "told"),
    "dark": ((lambda: blank(3), None, (), "es"), "told"),
    "saturated": ((lambda: blank(4095), None, (), "es"), "told"),
    "gray": ((lambda: blank(2000), None, (), "es"), "told"),
    "noise": ((lambda: np.random.default_rng(0).integers(0, 4096, wall().shape, np.uint16), None, (), "es"), "told"),
    "a photograph": ((lambda: cv2.GaussianBlur(shifted(0, 0), (0, 0), 12), None, (), "es"), "told"),
    # Crops, turns, mirrors, scales.
    "turned by 180°": ((lambda: wall()[::-1, ::-1], None, (), "es"), "right or told"),
    "turned by 1°": ((lambda: turned(1.0), None, (), "es"), "told"),
    "turned by 0.3°": ((lambda: turned(0.3), None, (), "es"), "told"),
    "mirrored up and down": ((lambda: wall()[::-1], None, (), "es"), "told"),
    "mirrored left and right": ((lambda: wall()[:, ::-1], None, (), "es"), "told"),
    "transposed": ((lambda: to_size(wall().swapaxes(0, 1)), None, (), "es"), "told"),
    "1 % larger": ((lambda: scaled(1.01), None, (), "es"), "told"),
    "1 % smaller": ((lambda: scaled(0.99), None, (), "es"), "told"),
    "3 % larger": ((lambda: scaled(1.03), None, (), "es"), "told"),
    "half as large": ((lambda: scaled(0.5), None, (), "es"), "told"),
    "cropped, another size": ((lambda: wall()[40:, 30:], None, (), "es"), "told"),
    "shifted by 5 px": ((lambda: shifted(5, 0), None, (), "es"), "told"),
    "shifted by 5 px, aligned": ((lambda: shifted(5, 0), None, ("--align",), "es"), "right"),
    "shifted down by 7 px": ((lambda: shifted(0, 7), None, (), "es"), "told"),
    # Another camera, another white image.
    "an unfocused camera's file": ((wall, None, (), "upc"), "told"),
    "a camera with another pitch": ((wall, None, (), "pitch"), "told"),
    "a camera with another pitch, aligned": ((wall, None, ("--align",), "pitch"), "told"),
    "a camera with another offset": ((wall, None, (), "offset"), "told"),
    "a camera of another focus": ((wall, None, (), "focus"), "told"),
    "a camera of another focus, white image": ((wall, white, (), "focus"), "told"),
    "a camera of another focus, aligned": ((wall, None, ("--align",), "focus"), "told"),
    "a camera of another focus, wide open": (
        (lambda: wall(2.0), lambda: white(2.0), (), "focus, wide open"),
        "told",
    ),
    "white image of f/16": ((wall, lambda: white(16.0), (), "es"), "told"),
    "white image of f/8": ((wall, lambda: white(8.0), (), "es"), "told"),
    "white image of f/2": ((wall, lambda: white(2.0), (), "es"), "told"),
    "image at f/16, white image of f/4": ((lambda: wall(16.0), white, (), "es"), "told"),
    "white image of another day": ((wall, lambda: np.roll(white(), 1, axis=1), (), "es"), "right"),
    "white image turned by 180°": ((wall, lambda: white()[::-1, ::-1], (), "es"), "right or told"),
    "white image saturated in the middle": ((wall, lambda: narrow(white()), (), "es"), "right"),
    "white image all saturated": ((wall, lambda: blank(4095), (), "es"), "told"),
    "a scene as the white image": ((wall, wall, (), "es"), "told"),
    # The numbers are read otherwise than they were written.
    "black level not told": ((lambda: wall(black=0.06), lambda: white(black=0.06), (), "es"), "right or told"),
    "black level that there is not": ((wall, white, ("--black-level", "0.2"), "es"), "told"),
    "mosaic taken for gray": ((lambda: wall(bayer="GRBG"), None, (), "es"), "right or told"),
    "gamma-encoded, 8 bits": ((lambda: gamma_8_bit(wall()), lambda: gamma_8_bit(white()), (), "es"), "right or told"),
    "gamma-encoded, no white image": ((lambda: gamma_8_bit(wall()), None, (), "es"), "right or told"),
}


def camera_file(which: str, folder: Path) -> Path:
    chosen = camera()
    if which == "es2":
        chosen = camera(f_number=2.0)
    elif which == "upc":
        upc = shrunk(preset("upc-s"), 91, 77)
        size = {"width": chosen.sensor.width, "height": chosen.sensor.height}
        chosen = replace(upc, sensor=replace(upc.sensor, **size))
    elif which == "focus":
        chosen = moved_back(chosen, 1.5)
    elif which == "focus, wide open":
        chosen = moved_back(camera(f_number=2.0), 1.5)
    elif which in ("pitch", "offset"):
        grid = chosen.micro_images
        if which == "pitch":
            grid = replace(grid, lattice=replace(grid.lattice, pitch=grid.lattice.pitch * 1.01))
        else:
            pose = grid.image_from_lattice
            grid = replace(grid, image_from_lattice=replace(pose, translation=pose.translation + [4.0, 0.0]))
        chosen = replace(chosen, micro_images=grid)
    save_camera(chosen, folder / "camera.yaml")
    return folder / "camera.yaml"


@pytest.mark.parametrize("name", CASES)
def test_depth_is_right_or_the_mismatch_is_told(run: Run, tmp_path: Path, name: str) -> None:
    (image, white_image, options, which), expected = CASES[name]
    write_image(np.ascontiguousarray(image()), tmp_path / "image.png")
    if white_image is not None:
        write_image(np.ascontiguousarray(white_image()), tmp_path / "white.png")
        options = ("--white", str(tmp_path / "white.png"), *options)
    if "SECOND" in options:
        write_image(
            exposed(rendered_light(white_scene(camera()), camera(), RenderSettings(rays=32, seed=5)), None, 0),
            tmp_path / "second.png",
        )
        options = tuple(str(tmp_path / "second.png") if option == "SECOND" else option for option in options)
    command = ("depth", tmp_path / "image.png", "--camera", camera_file(which, tmp_path), *options)
    outcome = run(*command, "--out", tmp_path / "out", "--outputs", "depth", "--json")
    if outcome.code == 0:
        assert "right" in expected, f"exit code 0: {outcome.json['frames'][0]}"
        frame = outcome.json["frames"][0]
        assert frame["median_z_mm"] == pytest.approx(DISTANCE, rel=CLOSE), frame
        assert frame["valid_fraction"] > 0.7
    else:
        assert "told" in expected, outcome.err
        assert outcome.code in (2, 3)
        assert len(outcome.err.strip().splitlines()) == 1
        assert outcome.err.startswith("plenodepth: ")


def test_vignetting_that_is_left_in_is_said(run: Run, tmp_path: Path) -> None:
    write_image(wall(), tmp_path / "image.png")
    command = ("depth", tmp_path / "image.png", "--camera", camera_file("es", tmp_path), "--out", tmp_path / "out")
    (frame,) = run(*command, "--devignetting", "none", "--json").json["frames"]
    assert "has vignetting" in frame["note"]


@pytest.mark.parametrize("f_number", [4.0, 2.0])
def test_a_focus_that_the_image_does_not_tell_is_said_in_words(run: Run, tmp_path: Path, f_number: float) -> None:
    write_image(wall(f_number), tmp_path / "image.png")
    save_camera(camera(f_number=f_number), tmp_path / "camera.yaml")
    command = ("depth", tmp_path / "image.png", "--camera", tmp_path / "camera.yaml", "--out", tmp_path / "out")
    outcome = run(*command, "--outputs", "depth")
    assert outcome.code == 0
    assert "refocused since its calibration" in " ".join(outcome.out.split())
    note = json.loads((tmp_path / "out" / "image.json").read_text())["note"]
    assert note.endswith("% wrong; a white image taken with it would tell more")
    (frame,) = run(*command, "--no-check-camera", "--json").json["frames"]
    assert "refocused" not in frame.get("note", ""), "it was not to be checked"


def test_there_are_forty_mismatches() -> None:
    together = {"its own camera", "its own camera and white image", "two white images", "wide open"}
    assert len(CASES.keys() - together) >= 40
