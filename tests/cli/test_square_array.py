"""An unfocused camera with a square array of 27 × 20 lenses: its depth is right, or the command says that it is not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cameras import moved_back, rearranged
from commands import Run
from simulated import rendered_light

from plenodepth.camera import PlenopticCamera, save_camera, virtual_from_metric
from plenodepth.geometry import Arrangement
from plenodepth.io import write_image
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.sensor import SensorSettings, expose
from plenodepth.sim.simulate import white_scene

Array = np.ndarray[Any, Any]


@cache
def square(back: float = 0.0, f_number: float = 2.0) -> PlenopticCamera:
    """The array `back` mm farther from the main lens, which moves the image of a scene towards the lenses: v falls."""
    camera = moved_back(rearranged(Arrangement.ORTHOGONAL, 27, 20, like="upc-s"), back)
    return replace(camera, main_lens=replace(camera.main_lens, f_number=f_number))


def shot(camera: PlenopticCamera, distance: float | None) -> Array:
    """Raw image of a wall, or a white image."""
    scene = white_scene(camera) if distance is None else wall_scene(distance, 3, camera)
    return expose(rendered_light(scene, camera, RenderSettings(rays=32)), SensorSettings())


def depth(run: Run, folder: Path, camera: PlenopticCamera | Path, image: Array, *options: object) -> Any:
    write_image(image, folder / "raw.png")
    file = camera if isinstance(camera, Path) else folder / "camera.yaml"
    if isinstance(camera, PlenopticCamera):
        save_camera(camera, file)
    return run("depth", folder / "raw.png", "--camera", file, "--out", folder / "out", "--json", *options)


@pytest.mark.parametrize("with_white", [True, False])
@pytest.mark.parametrize(("back", "distance"), [(0.0, 300.0), (0.0, 1000.0), (0.1366, 300.0), (0.1366, 1000.0)])
def test_depth_within_the_searched_range_is_right(
    run: Run, tmp_path: Path, back: float, distance: float, with_white: bool
) -> None:
    camera = square(back)
    assert 2 < virtual_from_metric(distance, camera) < 20
    write_image(shot(camera, None), tmp_path / "white.png")
    white = ("--white", tmp_path / "white.png") if with_white else ()
    outcome = depth(run, tmp_path, camera, shot(camera, distance), *white)
    assert (outcome.code, outcome.err) == (0, "")
    (frame,) = outcome.json["frames"]
    assert frame["median_z_mm"] == pytest.approx(distance, rel=0.03)
    assert frame["valid_fraction"] > 0.9


@pytest.mark.parametrize(
    ("back", "f_number", "distance", "words"),
    [
        (0.0, 2.0, 150.0, "at an end of the searched range"),  # v = 21
        (0.3, 2.0, 1000.0, "do not trust"),  # v = −1.6
        (0.5, 2.0, 300.0, "do not trust"),  # v = −0.5: in focus on the array, as unfocused cameras are used
        (0.0, 4.0, 300.0, "without light"),  # discs of half a pitch: 15 % too far
        (0.0, 5.66, 1000.0, "without light"),
    ],
)
def test_depth_that_cannot_be_right_is_told(
    run: Run, tmp_path: Path, back: float, f_number: float, distance: float, words: str
) -> None:
    outcome = depth(run, tmp_path, square(back, f_number), shot(square(back, f_number), distance))
    assert outcome.code == 3
    assert words in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_millimetres_of_a_camera_that_only_white_images_know_are_told_to_be_a_guess(run: Run, tmp_path: Path) -> None:
    whites = tmp_path / "whites"
    whites.mkdir()
    for f_number in (2.0, 2.8, 4.0):
        write_image(shot(square(0.0, f_number), None), whites / f"white-{f_number}.png")
    optics = ("--sensor", "1.4um", "--focal", "9.98445", "--aperture", "2", "--focus", "inf")
    kind = ("--types", "1", "--configuration", "unfocused")
    calibrated = run("calibrate", "white", "--whites", whites, *optics, *kind, "--out", tmp_path / "work")
    assert calibrated.code == 0
    assert "27 × 20 lenses" in calibrated.out
    outcome = depth(run, tmp_path, tmp_path / "work" / "start.yaml", shot(square(), 300.0))
    assert outcome.code == 3
    assert "start of a calibration" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1
    (frame,) = outcome.json["frames"]
    assert frame["median_z_mm"] != pytest.approx(300.0, rel=0.1)  # 229: nobody has told where the array stands
