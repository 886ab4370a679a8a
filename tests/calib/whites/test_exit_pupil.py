"""The exit pupil from white images: the simulator's thin lens, and pupils elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian

from plenodepth.calib.whites.exit_pupil import estimate_exit_pupil, with_exit_pupil
from plenodepth.camera import ExitPupil, PlenopticCamera, preset
from plenodepth.camera.presets import shrunk
from plenodepth.errors import InputError
from plenodepth.raw.vignetting import model_white_image
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.simulate import white_scene

F_NUMBERS = (4.0, 5.6, 8.0)


def with_pupil(camera: PlenopticCamera, distance: float, diameter: float | None = None) -> PlenopticCamera:
    return replace(camera, main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(distance, diameter)))


def modelled(camera: PlenopticCamera, noise: float = 0.005) -> dict[float, np.ndarray]:
    """White images of different brightness, with noise."""
    generator = np.random.default_rng(0)
    images = {
        n: model_white_image(camera, n) * brightness for n, brightness in zip(F_NUMBERS, (2, 1, 0.5), strict=True)
    }
    return {n: image + generator.normal(0, noise * image.max(), image.shape) for n, image in images.items()}


@pytest.mark.parametrize("name", ["r12-es", "r12-c"])
def test_the_pupil_of_a_simulated_thin_lens_is_the_lens_itself(name: str) -> None:
    camera = shrunk(preset(name))
    whites = {n: render(white_scene(camera), camera, RenderSettings(rays=64, f_number=n)).light for n in F_NUMBERS}
    fit = estimate_exit_pupil(whites, camera)
    true = camera.main_lens.focal_length / 4.0
    distance_error, diameter_error = fit.standard_errors
    assert abs(fit.pupil.distance) < 4 * distance_error < 0.2
    assert fit.pupil.diameter is not None
    assert abs(fit.pupil.diameter - true) < 4 * diameter_error < 0.01 * true
    assert fit.f_numbers == F_NUMBERS
    assert fit.rms < 0.03


@pytest.mark.parametrize(
    "camera",
    [
        with_pupil(shrunk(preset("r12-es")), 11.0, 9.5),
        with_pupil(shrunk(preset("r12-c")), -25.0, 17.0),
        with_pupil(keplerian(), 8.0, 10.0),
    ],
    ids=lambda camera: camera.name,
)
def test_a_pupil_elsewhere_is_found(camera: PlenopticCamera) -> None:
    bare = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=None))
    true = camera.main_lens.exit_pupil
    assert true is not None
    assert true.diameter is not None
    fit = estimate_exit_pupil(modelled(camera), bare)
    found = with_exit_pupil(bare, fit).main_lens.exit_pupil
    assert found is not None
    assert found.distance == pytest.approx(true.distance, abs=4 * fit.standard_errors[0] + 0.02)
    assert found.diameter == pytest.approx(true.diameter, abs=4 * fit.standard_errors[1] + 0.01)
    assert fit.standard_errors[0] < 0.2


def test_what_cannot_be_told_is_refused() -> None:
    camera = shrunk(preset("r12-es"), 10, 8)
    white = model_white_image(camera, 4.0)
    with pytest.raises(InputError, match="whites: are missing"):
        estimate_exit_pupil({}, camera)
    with pytest.raises(InputError, match=r"at f/4 is .* px, the camera's images are"):
        estimate_exit_pupil({4.0: white[1:]}, camera)
    with pytest.raises(InputError, match="is dark"):
        estimate_exit_pupil({4.0: np.zeros_like(white)}, camera)
    with pytest.raises(InputError, match="fully open"):
        estimate_exit_pupil({1.0: np.ones_like(white)}, camera)
    unknown = replace(camera, main_lens=replace(camera.main_lens, f_number=None))
    with pytest.raises(InputError, match="no f-number"):
        estimate_exit_pupil({4.0: white}, unknown)
