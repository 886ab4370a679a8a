"""The aperture model against the simulator and the paper: vignetting, exit pupil, predicted depth scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plenodepth.calib.scale.prediction import predict_scale
from plenodepth.calib.whites.exit_pupil import estimate_exit_pupil
from plenodepth.camera import PlenopticCamera, metric_from_virtual, preset, unscaled_depth
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.settings import DepthSettings
from plenodepth.raw.devignette import LEAST_LIGHT
from plenodepth.raw.image import Devignetting, RawImage
from plenodepth.raw.offsets import pixel_offsets
from plenodepth.raw.vignetting import model_white_image
from plenodepth.sim.render import RenderSettings, render
from plenodepth.sim.scenes.twins import wall_scene
from plenodepth.sim.simulate import white_scene

F_NUMBERS = (1.4, 2.8, 4.0, 5.6, 8.0)


def white(camera: PlenopticCamera, number: float) -> np.ndarray:
    return render(white_scene(camera), camera, RenderSettings(rays=256, f_number=number)).light[..., 0]


@pytest.mark.parametrize("name", ["r12-es", "r12-c"])
def test_vignetting_and_pupil(name: str) -> None:
    camera = shrunk(preset(name))
    squared, types = pixel_offsets(camera.micro_images, slice(0, camera.sensor.height), camera.sensor.width)
    inside = (types >= 0) & (squared <= (0.9 * camera.micro_images.radius) ** 2)
    center = (types >= 0) & (squared < 1)
    print(f"\n{name}: model minus simulated white image inside 90 % of the radius, in parts of the centre's light")
    whites = {}
    for number in F_NUMBERS:
        whites[number] = white(camera, number)
        model = model_white_image(camera, number)
        difference = (model - whites[number])[inside] / model[center].mean()
        print(
            f"  f/{number:<4g} RMS {100 * np.sqrt((difference**2).mean()):.2f} %  mean {100 * difference.mean():+.3f} %"
        )
        assert np.sqrt((difference**2).mean()) < 0.02
    fit = estimate_exit_pupil({number: whites[number] for number in (4.0, 5.6, 8.0)}, camera)
    true = camera.main_lens.focal_length / 4
    print(
        f"  exit pupil: distance {fit.pupil.distance:+.3f} ± {fit.standard_errors[0]:.3f} mm (true 0), "
        f"diameter {fit.pupil.diameter:.3f} ± {fit.standard_errors[1]:.3f} mm (true {true:.3f})"
    )


def test_predicted_scale() -> None:
    camera, largest = replace(shrunk(preset("r12-es"), 32, 28), depth_scale=None), dict.fromkeys(F_NUMBERS, 0.0)
    depths = np.arange(500.0, 2000.0, 200.0)
    print(
        "\nr12-es on a small sensor, no Γ: error of depth in %, predicted and measured; predicted over the paper's Γ⁻¹"
    )
    for number in F_NUMBERS:
        predicted, slope = (predict_scale(camera, number, depths, method=way) for way in ("matching", "slope"))
        for index, depth in enumerate(depths):
            line = f"  f/{number:<4g} {depth:5.0f} mm  matching {100 * predicted.relative_error[index]:+6.2f}"
            line += f"  slope {100 * slope.relative_error[index]:+6.2f}"
            if index % 2 == 0 or number == 4.0:
                z = measured(camera, depth, number)
                line += f"  measured {100 * (z / depth - 1):+6.2f}"
                largest[number] = max(largest[number], abs(predicted.uncorrected[index] / z - 1))
            if number == 4.0:
                theirs = float(unscaled_depth(depth, preset("r12-es")))
                line += f"  of the paper's {100 * (predicted.uncorrected[index] / theirs - 1):+.2f}"
            print(line)
    for number, difference in largest.items():
        print(f"  f/{number:<4g} predicted and measured depth differ by {100 * difference:.2f} % at most")
        assert difference < (0.01 if number < 5 else 0.02), number


def measured(camera: PlenopticCamera, depth: float, number: float) -> float:
    """Median depth of a wall of noise, mm, estimated as if no aperture clipped anything.

    What has hardly any light is missing, as in images that are divided by a white one.
    """
    settings = RenderSettings(rays=64, f_number=number, vignetting=False, seed=int(depth))
    light = render(wall_scene(depth, 2, camera), camera, settings).light
    gray = (light @ np.array([0.299, 0.587, 0.114], np.float32)).astype(np.float32)
    gray[dark(camera, number)] = np.nan
    unaware = DepthSettings(aperture_model="off", margin=2.5)
    found = estimate_virtual_depth(RawImage(gray, None, 0.0, Devignetting.NONE), camera, unaware)
    z = metric_from_virtual(
        found.virtual_depth.astype(np.float64), camera, *camera.micro_images.lattice.indices(), invalid="nan"
    )
    return float(np.nanmedian(z[3:-3, 3:-3]))


def dark(camera: PlenopticCamera, number: float) -> np.ndarray:
    """Pixels (h, w) that devignetting leaves out."""
    white = model_white_image(camera, number)
    squared, types = pixel_offsets(camera.micro_images, slice(0, camera.sensor.height), camera.sensor.width)
    return np.asarray(white < LEAST_LIGHT * np.median(white[(types >= 0) & (squared < 1)]))
