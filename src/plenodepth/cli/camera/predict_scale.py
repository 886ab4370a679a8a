"""`plenodepth camera predict-scale`: the depth scale that follows from a camera's aperture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from plenodepth.calib.scale.matching_bias import Matching
from plenodepth.calib.scale.prediction import ScalePrediction, predict_scale_at_apertures
from plenodepth.camera import load_camera
from plenodepth.cli.shared.common import (
    CameraArgument,
    ImageSizeOption,
    JsonOption,
    ParametersOption,
    console,
    parse_image_size,
    plain_table,
    print_json,
)
from plenodepth.errors import InputError


def predict_scale_of(
    camera: CameraArgument,
    aperture: Annotated[
        float | None, typer.Option(help="f-number N; default: the camera's.", show_default=False)
    ] = None,
    figure: Annotated[Path | None, typer.Option(help="Draw true against uncorrected depth (.png, .pdf, .svg).")] = None,
    as_json: JsonOption = False,
    margin: Annotated[
        float, typer.Option(help="px off the micro-images' radius that the matcher leaves out.")
    ] = Matching().margin,
    params: ParametersOption = None,
    image_size: ImageSizeOption = None,
) -> None:
    """Predict the depth that is found when the main lens' aperture is not taken into account, from the optics alone.

    Example: [bold]plenodepth camera predict-scale r12-es --aperture 4 --figure scale.png[/bold]
    """
    loaded = load_camera(camera, parameters=params, image_size=parse_image_size(image_size))
    try:
        number, predictions = predict_scale_at_apertures(loaded, aperture, margin=margin)
    except InputError as error:
        raise error.in_file(camera) from None
    if figure is not None:
        from plenodepth.view import (
            predicted_scale_figure,  # matplotlib takes half a second to import
            write_figure,
        )

        write_figure(predicted_scale_figure(predictions, loaded.name, number), figure)
    if as_json:
        print_json(
            {
                "camera": loaded.name,
                "margin": margin,
                "f_number": number,
                "predictions": [one.content() for one in predictions],
            }
        )
    else:
        _print(loaded.name, number, predictions)


def _print(name: str, number: float, predictions: list[ScalePrediction]) -> None:
    out = console()
    chosen = next(prediction for prediction in predictions if prediction.f_number == number)
    table = plain_table(
        f"{name}: depth found without correction at f/{number:g}, and its error at other apertures",
        "true z [mm]",
        "found [mm]",
        *(f"f/{prediction.f_number:g}" for prediction in predictions),
    )
    for row, depth in enumerate(chosen.depth):
        errors = (prediction.relative_error[row] for prediction in predictions)
        table.add_row(
            f"{depth:g}", _or_dash(chosen.uncorrected[row], ".0f"), *(_or_dash(100 * e, "+z.1f", " %") for e in errors)
        )
    out.print(table, "")
    scales = plain_table(
        "Equivalent depth scale Γ(z) = γ0 + γ1 z + γ2 z²", "f/N", "γ0 [mm]", "γ1", "γ2 [1e-5/mm]", "RMSE"
    )
    for prediction in predictions:
        gamma = prediction.gamma
        if gamma is None:
            scales.add_row(f"f/{prediction.f_number:g}", "none grows with z all along", "", "", "")
            continue
        constant, linear, quadratic = gamma.coefficients
        scales.add_row(
            f"f/{prediction.f_number:g}",
            f"{constant:.3f}",
            f"{linear:.5f}",
            f"{1e5 * quadratic:.4f}",
            f"{100 * gamma.rmse:.2f} %",
        )
    out.print(scales)


def _or_dash(value: float, spec: str, unit: str = "") -> str:
    return f"{value:{spec}}{unit}" if np.isfinite(value) else "–"
