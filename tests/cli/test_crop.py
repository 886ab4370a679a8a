"""A cropped image has the depth of its part of the whole frame, once it is known which part that is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Outcome, Run
from wall_shots import DISTANCE, camera, wall, white

from plenodepth.camera import cropped_camera, save_camera
from plenodepth.io import read_image, write_image

CORNER, SIZE = (213, 134), (800, 620)  # an odd column: a mosaic begins with another filter
Array = np.ndarray[Any, Any]


def part(image: Array, corner: tuple[int, int] = CORNER) -> Array:
    return np.ascontiguousarray(image[corner[1] : corner[1] + SIZE[1], corner[0] : corner[0] + SIZE[0]])


@cache
def lens_step() -> tuple[int, int]:
    """A step from one micro-image to the next, px; less than half a pixel from whole ones."""
    x, y = camera().micro_images.center(1, 0) - camera().micro_images.center(0, 0)
    return round(x), round(y)


def depth(run: Run, folder: Path, image: Array, *options: object, name: str = "part") -> Outcome:
    write_image(image, folder / f"{name}.png")
    save_camera(camera(), folder / "camera.yaml")
    command = ("depth", folder / f"{name}.png", "--camera", folder / "camera.yaml", "--out", folder / "out")
    return run(*command, "--outputs", "depth", "--json", *options)


def difference(folder: Path, corner: tuple[int, int] = CORNER) -> float:
    """Median of |z of the part / z of the whole − 1|, over the micro-images of the part, said to begin at a corner."""
    one = cropped_camera(camera(), corner, SIZE).micro_images
    k, l = one.lattice.indices()
    all_of_them = camera().micro_images
    place = all_of_them.image_from_lattice.inverse()(one.center(k, l) + corner)
    own_k, own_l = all_of_them.lattice.nearest(place)
    whole = read_image(folder / "out" / "whole.depth.tiff")[own_l, own_k]
    return float(np.nanmedian(np.abs(read_image(folder / "out" / "part.depth.tiff") / whole - 1)))


def assert_like_the_whole(run: Run, folder: Path, outcome: Outcome, corner: tuple[int, int] = CORNER) -> dict[str, Any]:
    assert (outcome.code, outcome.err) == (0, "")
    assert depth(run, folder, wall(), name="whole").code == 0
    assert difference(folder, corner) < 2e-3
    frame: dict[str, Any] = outcome.json["frames"][0]
    assert frame["median_z_mm"] == pytest.approx(DISTANCE, rel=0.01)
    assert frame["valid_fraction"] > 0.9
    return frame


@pytest.mark.parametrize("align", [(), ("--align",)])
def test_a_part_has_the_depth_of_the_whole(run: Run, tmp_path: Path, align: tuple[str, ...]) -> None:
    outcome = depth(run, tmp_path, part(wall()), "--crop", "213,134", *align)
    frame = assert_like_the_whole(run, tmp_path, outcome)
    assert "from pixel (213, 134) on" in frame["note"]
    assert "counted anew" not in frame["note"]


def test_white_image_and_mosaic_of_the_whole_frame_are_cut_alike(run: Run, tmp_path: Path) -> None:
    write_image(white(bayer="GRBG"), tmp_path / "white.png")
    whole = ("--white", tmp_path / "white.png", "--bayer")
    assert depth(run, tmp_path, wall(bayer="GRBG"), *whole, "GRBG", name="whole").code == 0
    outcome = depth(run, tmp_path, part(wall(bayer="GRBG")), "--crop", "213,134", *whole, "RGGB")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["frames"][0]["devignetting"] == "white image"
    assert difference(tmp_path) < 2e-3


@pytest.mark.parametrize("align", [(), ("--align",)])
def test_a_part_from_nobody_knows_where_is_refused_with_the_way_out(
    run: Run, tmp_path: Path, align: tuple[str, ...]
) -> None:
    outcome = depth(run, tmp_path, part(wall()), *align)
    assert outcome.code == 2
    assert "--crop X,Y" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_a_place_that_is_some_pixels_off_is_refused_or_aligned(run: Run, tmp_path: Path) -> None:
    refused = depth(run, tmp_path, part(wall()), "--crop", "217,132")
    assert refused.code == 2
    assert "--align" in refused.err
    outcome = depth(run, tmp_path, part(wall()), "--crop", "217,132", "--align")
    frame = assert_like_the_whole(run, tmp_path, outcome, (217, 132))
    assert "shifted by (4.0, -2.0) px" in frame["note"]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_place_that_is_some_lenses_off_gives_each_lens_its_type_again(run: Run, tmp_path: Path, steps: int) -> None:
    x, y = lens_step()
    place = f"{CORNER[0] + steps * x},{CORNER[1] + steps * y}"
    outcome = depth(run, tmp_path, part(wall()), "--crop", place, "--align")
    assert (outcome.code, outcome.err) == (0, "")
    (frame,) = outcome.json["frames"]
    assert "counted anew" in frame["note"]
    assert frame["median_z_mm"] == pytest.approx(DISTANCE, rel=0.01)
    unaligned = depth(run, tmp_path, part(wall()), "--crop", place, "--no-check-camera").json["frames"][0]
    assert frame["median_confidence"] > 1.2 * unaligned["median_confidence"]


def test_a_whole_frame_shifted_by_more_than_half_a_lens_gives_each_lens_its_type_again(
    run: Run, tmp_path: Path
) -> None:
    shifted = np.roll(wall(), (lens_step()[0] - 5, 3), axis=(1, 0))
    outcome = depth(run, tmp_path, shifted, "--align")
    assert (outcome.code, outcome.err) == (0, "")
    (frame,) = outcome.json["frames"]
    assert "counted anew" in frame["note"]
    assert frame["median_z_mm"] == pytest.approx(DISTANCE, rel=0.01)
    assert frame["median_confidence"] > 0.7


@pytest.mark.parametrize(
    ("place", "words"), [("800,10", "are not all in"), ("12", "as 1024,768"), ("-3,4", "as 1024,768")]
)
def test_a_place_that_cannot_be_is_refused(run: Run, tmp_path: Path, place: str, words: str) -> None:
    outcome = depth(run, tmp_path, part(wall()), f"--crop={place}")
    assert outcome.code == 2
    assert words in outcome.err
    assert "--crop" in outcome.err
