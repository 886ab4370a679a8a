"""`plenodepth camera show`: a camera's parameters and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from plenodepth.camera import GridCamera, PlenopticCamera, load_camera
from plenodepth.camera.depth import VIRTUAL_RANGE
from plenodepth.camera.files.native import content_of_camera
from plenodepth.camera.micro_lenses import require_blur
from plenodepth.camera.parameters import CLEAR_APERTURE, PUPIL_DIAMETER, PUPIL_DISTANCE
from plenodepth.camera.summary import (
    BLUR_LIMIT,
    DISPARITY_PRECISION,
    CameraSummary,
    summarise,
    summarise_grid,
)
from plenodepth.cli.shared.common import (
    CameraArgument,
    ImageSizeOption,
    JsonOption,
    ParametersOption,
    console,
    parse_image_size,
    plain_table,
    print_json,
    require_positive_option,
)
from plenodepth.errors import InputError

CALIBRATED = {
    True: "with regard to the aperture",
    False: "without regard to the aperture",
    None: "not from images: nominal numbers",
}


def show(
    camera: CameraArgument,
    figure: Annotated[
        Path | None, typer.Option(help="Draw blur radius and precision against distance (.png, .pdf, .svg).")
    ] = None,
    as_json: JsonOption = False,
    virtual_range: Annotated[
        tuple[float, float], typer.Option(help="Virtual depths |v| to work in, nearest objects last.")
    ] = VIRTUAL_RANGE,
    blur_limit: Annotated[
        float | None,
        typer.Option(help="Blur radius in px that still counts as in focus.", show_default=f"{BLUR_LIMIT:g}"),
    ] = None,
    disparity_precision: Annotated[
        float, typer.Option(help="Standard deviation of a disparity, px.")
    ] = DISPARITY_PRECISION,
    params: ParametersOption = None,
    image_size: ImageSizeOption = None,
) -> None:
    """Show a camera: parameters, focus planes, usable range, depth of field, precision over distance.

    Example: [bold]plenodepth camera show r12-e --figure r12-e.png[/bold]
    """
    loaded = load_camera(camera, parameters=params, image_size=parse_image_size(image_size))
    if isinstance(loaded, GridCamera):
        if figure is not None:
            raise InputError("a grid without optics has no blur or precision to draw", file=figure)
        if as_json:
            print_json({"camera": content_of_camera(loaded), "derived": summarise_grid(loaded)})
        else:
            _print_grid(loaded)
        return
    require_positive_option(disparity_precision, "--disparity-precision", "px")
    if not 0 < virtual_range[0] < virtual_range[1] < np.inf:
        raise InputError(
            f"is {virtual_range[0]:g} {virtual_range[1]:g}", field="--virtual-range", fix="give 0 < low < high"
        )
    if blur_limit is not None:
        require_positive_option(blur_limit, "--blur-limit", "px")
    try:
        if blur_limit is not None:
            require_blur(loaded)
        summary = summarise(
            loaded,
            virtual_range=virtual_range,
            blur_limit=blur_limit or BLUR_LIMIT,
            disparity_precision=disparity_precision,
        )
    except InputError as error:
        raise error.in_file(camera) from None
    if figure is not None:
        from plenodepth.view import (
            camera_figure,  # matplotlib takes half a second to import
            write_figure,
        )

        write_figure(camera_figure(summary), figure)
    if as_json:
        print_json({"camera": content_of_camera(loaded), "derived": summary.as_dict()})
    else:
        _print_camera(summary)


def _print_camera(summary: CameraSummary) -> None:
    out = console()
    _print_parameters(out, summary.camera, summary.as_dict())
    _print_types(out, summary)
    table = plain_table(
        "Over distance",
        "z [mm]",
        "v",
        "dz/dv [mm]",
        "σ_z [mm]",
        *(f"ρ{i} [px]" for i in range(summary.camera.type_count)),
    )
    rows = summary.table
    for row in range(len(rows.depth)):
        table.add_row(
            f"{rows.depth[row]:.0f}",
            f"{rows.virtual_depth[row]:.2f}",
            f"{rows.resolution[row]:.1f}",
            f"{rows.precision[row]:.2f}",
            *(f"{rho:+.2f}" for rho in rows.blur[row]),
        )
    out.print(table)
    out.print(
        f"σ_z: one pair of views at the longest baseline, disparity good to {summary.disparity_precision:g} px; "
        "D, d and all depths at the centre of the lens array",
        style="dim",
    )


def _print_parameters(out: Console, camera: PlenopticCamera, derived: dict[str, Any]) -> None:
    grid, lenses, sensor, lattice = camera.micro_images, camera.micro_lenses, camera.sensor, camera.micro_images.lattice
    center, corner = derived["distances"]["array_center"], derived["distances"]["corner_lens"]
    near, far = derived["depth_range"]
    far_v, near_v = derived["virtual_depth_range"]
    kinds = {0: "pinholes", 1: "1 lens type"}.get(camera.type_count, f"{camera.type_count} lens types")
    tilt = ", ".join(f"{1e6 * angle:z.1f}" for angle in lenses.cam_from_mla.euler_xyz())
    scale = camera.depth_scale
    rows = {
        "configuration": f"{derived['configuration']}, {kinds}",
        "main lens F, f-number": f"{camera.main_lens.focal_length:.4f} mm, {_or_dash(camera.main_lens.f_number, 'g')}",
        "focus distance h [mm]": _or_dash(camera.focus_distance, "g"),
        "sensor": f"{sensor.width} × {sensor.height} px of {1e3 * sensor.pixel_size:g} µm",
        "principal point": f"({sensor.principal_point[0]:.1f}, {sensor.principal_point[1]:.1f}) px",
        "micro-images": f"{lattice.columns} × {lattice.rows}, {lattice.arrangement.replace('_', ' ')}",
        "micro-image pitch": f"{lattice.pitch[0]:.4f}, {lattice.pitch[1]:.4f} px",
        "micro-image rotation": f"{1e6 * grid.image_from_lattice.angle:z.1f} µrad",
        "lens pitch": f"{1e3 * lenses.pitch[0]:.3f}, {1e3 * lenses.pitch[1]:.3f} µm",
        "lens array rotation x, y, z": f"{tilt} µrad",
        "D, d at the array's centre": f"{center['D']:.4f}, {center['d']:.5f} mm",
        "D, d at its corner lens (0, 0)": f"{corner['D']:.4f}, {corner['d']:.5f} mm",
        "exit pupil": _pupil(camera),
        "lens diameter B": f"{1e3 * lenses.lens_diameter:.3f} µm, {_clear_aperture(camera)}",
        "λ = P/(P + d), P = D − e": f"{derived['pitch_ratio']:.6f}",
        "distortion Q1 Q2 Q3 P1 P2": " ".join(f"{value:.3g}" for value in camera.distortion.coefficients),
        "depth scale γ0, γ1, γ2": "none" if scale is None else ", ".join(f"{value:.5g}" for value in scale),
        "blur coefficient κ": _or_dash(camera.blur_coefficient, ".4f"),
        "infinity at virtual depth": f"{derived['virtual_depth_of_infinity']:.3f}",
        "calibrated": CALIBRATED[camera.provenance.aperture_aware],
        "usable range": f"{near:.0f} … {'∞' if far is None else f'{far:.0f}'} mm (v {near_v:g} … {far_v:.4g})",
    }
    table = plain_table(f"Camera {camera.name}", "", "")
    for label, value in rows.items():
        table.add_row(label, value)
    out.print(table, "")
    if camera.provenance.source:
        out.print(camera.provenance.source, *camera.provenance.notes, "", sep="\n", style="dim")


def _pupil(camera: PlenopticCamera) -> str:
    pupil = camera.main_lens.exit_pupil
    if pupil is None:
        return "in the thin main lens (e = 0), F/N wide"
    wide = "(F − e)/N" if pupil.diameter is None else f"{pupil.diameter:.4g}{_sigma(camera, PUPIL_DIAMETER)} mm"
    aside = f", ({pupil.offset[0]:.3g}, {pupil.offset[1]:.3g}) mm off the axis" if any(pupil.offset) else ""
    return f"e = {pupil.distance:.4g}{_sigma(camera, PUPIL_DISTANCE)} mm behind the thin main lens, {wide} wide{aside}"


def _clear_aperture(camera: PlenopticCamera) -> str:
    part = camera.micro_lenses.clear_aperture
    return "the pitch" if part is None else f"{part:.4g}{_sigma(camera, CLEAR_APERTURE)} of the pitch"


def _sigma(camera: PlenopticCamera, name: str) -> str:
    """± σ of a parameter where the camera's calibration tells it."""
    past = camera.provenance
    if past.covariance is None or name not in past.covariance_parameters:
        return ""
    place = past.covariance_parameters.index(name)
    return f" ± {np.sqrt(past.covariance[place, place]):.2g}"


def _print_types(out: Console, summary: CameraSummary) -> None:
    if not summary.camera.type_count:
        return
    table = plain_table(
        "Lens types", "type", "f [µm]", "sharp at [mm]", f"in focus (|ρ| ≤ {summary.blur_limit:g} px) [mm]"
    )
    near, far = summary.depth_of_field
    for index, focal in enumerate(summary.camera.micro_lenses.focal_lengths):
        table.add_row(
            str(index),
            f"{1e3 * focal:.2f}",
            _depth(summary.focus_planes[index]),
            f"{_depth(near[index])} … {_depth(far[index])}",
        )
    out.print(table, "")


def _print_grid(camera: GridCamera) -> None:
    out, lattice = console(), camera.micro_images.lattice
    table = plain_table(f"Camera {camera.name} (grid only, no optics)", "", "")
    table.add_row("image", f"{camera.width} × {camera.height} px")
    table.add_row("micro-images", f"{lattice.columns} × {lattice.rows}, {lattice.arrangement.replace('_', ' ')}")
    table.add_row("micro-image pitch", f"{lattice.pitch[0]:.4f}, {lattice.pitch[1]:.4f} px")
    table.add_row("rotation", f"{camera.micro_images.image_from_lattice.angle:.3g} rad")
    for index, (low, high) in enumerate(camera.virtual_depth_ranges):
        table.add_row(f"lens type {index} is sharp at", f"v {low:g} … {high:g}")
    out.print(table, "")
    out.print(camera.provenance.source, *camera.provenance.notes, sep="\n", style="dim")


def _depth(value: float) -> str:
    return f"{value:.1f}" if np.isfinite(value) else "∞"


def _or_dash(value: float | None, spec: str) -> str:
    return "–" if value is None else "∞" if np.isinf(value) else format(value, spec)
