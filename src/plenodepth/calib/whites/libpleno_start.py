"""The camera that a calibration starts from, out of libpleno's minimal camera and parameter files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plenodepth.calib.feature_files import read_centers
from plenodepth.calib.features import Centers
from plenodepth.calib.whites.lattice_fit import fitted_lattice
from plenodepth.calib.whites.start_camera import Optics, initial_camera
from plenodepth.camera import load_plenoptic_camera
from plenodepth.camera.files.libpleno import GEOMETRIES, INFINITE_FOCUS, MODES, with_parameters
from plenodepth.camera.model import PlenopticCamera, WhiteRadius
from plenodepth.errors import InputError
from plenodepth.io import parameters_from_tree
from plenodepth.io.libpleno.property_tree import PropertyTree, read_tree


def load_start_camera(
    camera: Path | str, *, parameters: Path | str | None = None, centers: Centers | None = None
) -> PlenopticCamera:
    """The camera of a file or preset to start from, or the nominal one of libpleno's minimal files and the centres."""
    if Path(camera).suffix.lower() == ".js" and not read_tree(camera).has("mla"):
        if centers is None:
            raise InputError("are needed with a camera file that has no lens array", field="centers")
        return initial_camera_from_libpleno(camera, parameters, centers)
    return load_plenoptic_camera(camera, parameters=parameters)


def initial_camera_from_libpleno(
    camera_file: Path | str, parameter_file: Path | str | None, centers: Centers | Path | str
) -> PlenopticCamera:
    """F, N, h, sensor, lens counts and mode of the camera file, radii and κ of the other, the grid of the centres.

    The centres (or the file of them) come with their indices k, l. Everything else that the files hold is not read.
    """
    tree = read_tree(camera_file)
    if not isinstance(centers, Centers):
        centers = read_centers(centers)
    focus = tree.number("dist_focus", INFINITE_FOCUS)
    mode = _choice(tree, "mode", len(MODES))
    optics = Optics(
        focal_length=tree.number("main_lens.f"),
        f_number=tree.number("main_lens.aperture"),
        focus_distance=np.inf if focus >= INFINITE_FOCUS else focus,
        pixel_size=tree.number("sensor.scale"),
        width=tree.integer("sensor.width"),
        height=tree.integer("sensor.height"),
        configuration=MODES[mode],
    )
    arrangement = GEOMETRIES[_choice(tree, "mia.mesh.geometry", len(GEOMETRIES))]
    grid = fitted_lattice(centers, arrangement, tree.integer("mia.mesh.width"), tree.integer("mia.mesh.height"))
    name = Path(camera_file).stem
    count = tree.integer("I", 0)
    if parameter_file is None or count == 0:
        return initial_camera(optics, grid, type_count=count, name=name)
    parameters = read_tree(parameter_file)
    internal = parameters_from_tree(parameters)
    white = WhiteRadius(internal.white_slope, internal.white_intercepts)
    return with_parameters(initial_camera(optics, grid, white, name=name), parameters)


def _choice(tree: PropertyTree, path: str, count: int) -> int:
    value = tree.integer(path)
    if not 0 <= value < count:
        raise tree.error(path, f"is {value}", f"give one of 0 … {count - 1}")
    return value
