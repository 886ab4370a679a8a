"""Any camera from anywhere: a preset's name, a native file, libpleno's files, grids of the vendor, TSPC and TLCT."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import numpy as np

from plenodepth.camera.files.corner_grids import grid_camera_from_tlct, grid_camera_from_tspc
from plenodepth.camera.files.extra_fields import unicode_text
from plenodepth.camera.files.libpleno import (
    camera_from_libpleno,
    libpleno_from_camera,
    lost_in_libpleno,
    parameters_of_camera,
)
from plenodepth.camera.files.native import VERSION_KEY, camera_from_content, native_text
from plenodepth.camera.files.raytrix import grid_camera_from_raytrix
from plenodepth.camera.model import GridCamera, PlenopticCamera
from plenodepth.camera.presets import PRESETS, preset
from plenodepth.errors import InputError
from plenodepth.io import (
    PropertyTree,
    atomic_path,
    parse_json,
    parse_yaml,
    read_raytrix_grid,
    read_text,
    read_tlct_grid,
    read_tree,
    read_tspc_grid,
    tree_text,
)
from plenodepth.io.budget import require_memory
from plenodepth.io.tlct import is_tlct_text
from plenodepth.io.tspc import TSPC_ROOT
from plenodepth.io.xml_nodes import read_xml

Camera = PlenopticCamera | GridCamera
FileFormat = Literal["native", "libpleno"]
JSON_SUFFIXES = (".json", ".js")
NATIVE_SUFFIXES = (".yaml", ".yml", ".json")
GRID_SUFFIX = ".xml"  # the vendor's and TSPC's; told apart by their root elements
TLCT_SUFFIXES = (".cfg", ".txt")
LIBPLENO_KEYS = {"mla", "mia"}
PIXEL_BYTES, LENS_BYTES = 4, 16  # of one map, and of the centres


def load_camera(
    source: str | Path,
    *,
    parameters: str | Path | None = None,
    image_size: tuple[int, int] | None = None,
) -> Camera:
    """The camera of a preset (`"r12-e"`) or of a file: native YAML or JSON, libpleno's .js, a grid (.xml, .cfg).

    Grids are those of the vendor (`RayCalibData`), of a TSPC camera (`TSPCCalibData`) and of TLCT (`calib.cfg`).

    `parameters` names libpleno's parameter file that goes with its camera file; it holds κ. `image_size`
    (width, height) px is needed for the grids in .xml files, which do not say how large the image is: see
    `needs_image_size`. A file that says it refuses another one.

    >>> camera = plenodepth.load_camera("camera.yaml")
    >>> camera.sensor.width, camera.sensor.height
    (560, 404)
    """
    path = Path(source)
    camera: Camera
    if image_size is not None and not _is_grid(path):
        raise InputError("goes with a vendor's grid, or another grid file, only", file=source, field="image_size")
    # Absurd numbers end as an error of some field; a warning before it would be a second line.
    with np.errstate(all="ignore"):
        if str(source) in PRESETS and not os.path.isfile(path):  # a folder does not hide the preset of its name
            camera = preset(str(source))
        elif not os.path.exists(path):  # Path.exists raises for a name that is too long
            raise InputError(f"is neither a file nor a preset ({', '.join(PRESETS)})", file=source)
        elif _is_grid(path):
            camera = _load_grid(path, image_size)
        else:
            tree = _read_tree(path)
            if VERSION_KEY not in tree.content:
                theirs = None if parameters is None else read_tree(parameters)
                camera, parameters = camera_from_libpleno(tree, theirs, _name(path)), None
            else:
                camera = camera_from_content(dict(tree.content), path)
    if parameters is not None:
        raise InputError("goes with a libpleno camera file only", file=parameters)
    _affordable(camera, path)
    return camera


def _affordable(camera: Camera, path: Path) -> None:
    """Refuse a camera whose pixels or lenses alone would take more memory than a file may."""
    image = camera if isinstance(camera, GridCamera) else camera.sensor
    lattice = camera.micro_images.lattice
    require_memory(image.width * image.height * PIXEL_BYTES, path, field="width, height")
    require_memory(lattice.columns * lattice.rows * LENS_BYTES, path, field="columns, rows")


def needs_image_size(source: str | Path) -> bool:
    """Whether `load_camera` needs to be told the size of the image: a grid file that lacks it.

    >>> plenodepth.camera.needs_image_size("camera.yaml")
    False
    """
    return Path(source).suffix.lower() == GRID_SUFFIX and os.path.isfile(source)


def _is_grid(path: Path) -> bool:
    """Whether a path is that of a foreign grid file: by its suffix, or by the words in it."""
    suffix = path.suffix.lower()
    if suffix == GRID_SUFFIX:
        return os.path.exists(path)
    return suffix in TLCT_SUFFIXES and os.path.isfile(path) and is_tlct_text(read_text(path))


def _load_grid(path: Path, image_size: tuple[int, int] | None) -> GridCamera:
    try:
        if path.suffix.lower() != GRID_SUFFIX:
            camera = grid_camera_from_tlct(read_tlct_grid(path), _name(path))
            if image_size not in (None, (camera.width, camera.height)):
                raise InputError(
                    f"differs from the {camera.width} × {camera.height} px of the file", field="image_size"
                )
            return camera
        if image_size is None:
            raise InputError(
                "is not in a vendor's grid file", field="image_size", fix="give it: --image-size 2048x2048"
            )
        if read_xml(path).element.tag == TSPC_ROOT:
            return grid_camera_from_tspc(read_tspc_grid(path), image_size, _name(path))
        return grid_camera_from_raytrix(read_raytrix_grid(path), image_size, _name(path))
    except InputError as error:
        raise error.in_file(path) from None


def _read_tree(path: Path) -> PropertyTree:
    """The content of a camera file, native or libpleno's."""
    if path.suffix.lower() in JSON_SUFFIXES:
        tree = read_tree(path)
        if VERSION_KEY in tree.content:
            parse_json(read_text(path), path)  # our own files hold no key twice, libpleno's may
    else:
        content = parse_yaml(read_text(path), path)
        if not isinstance(content, dict):
            raise InputError("does not hold a mapping of keys", file=path)
        tree = PropertyTree(str(path), content)
    if VERSION_KEY not in tree.content and not LIBPLENO_KEYS & set(tree.content):
        raise InputError(
            "is missing, and so are libpleno's mia and mla: this is no camera file", file=path, field=VERSION_KEY
        )
    return tree


def _name(path: Path) -> str:
    return unicode_text(path.stem)  # the name of a file may be any bytes


def load_plenoptic_camera(source: str | Path, *, parameters: str | Path | None = None) -> PlenopticCamera:
    """`load_camera` for those who need millimetres: a camera with optics, or an error."""
    camera = None if _is_grid(Path(source)) else load_camera(source, parameters=parameters)
    if not isinstance(camera, PlenopticCamera):
        raise InputError("holds the grid only, no optics, so nothing metric can be computed", file=source)
    return camera


def _format_of(path: str | Path, wanted: FileFormat | None) -> FileFormat | None:
    """The format to write: the wanted one, or what the suffix tells; None where it does not."""
    suffix = Path(path).suffix.lower()
    return wanted or ("libpleno" if suffix == ".js" else "native" if suffix in NATIVE_SUFFIXES else None)


def lost_in_file(camera: Camera, path: str | Path, file_format: FileFormat | None = None) -> tuple[str, ...]:
    """What the file that `save_camera` writes does not hold of a camera, in words."""
    if _format_of(path, file_format) != "libpleno" or not isinstance(camera, PlenopticCamera):
        return ()
    return lost_in_libpleno(camera)


def save_camera(
    camera: Camera,
    path: str | Path,
    *,
    file_format: FileFormat | None = None,
    parameters: str | Path | None = None,
) -> None:
    """Write a camera: native for .yaml, .yml and .json, libpleno's for .js, or as `file_format` says.

    With `parameters`, libpleno's parameter file is written there too. Nothing is written when anything is wrong.

    >>> plenodepth.save_camera(plenodepth.preset("r12-es"), "r12-es.yaml")
    >>> plenodepth.load_camera("r12-es.yaml").main_lens.f_number
    4.0
    """
    suffix, chosen = Path(path).suffix.lower(), _format_of(path, file_format)
    if chosen is None or suffix == GRID_SUFFIX:
        raise InputError(
            f"does not tell the format by its suffix '{suffix}'", file=path, fix=".yaml, .json: native; .js: libpleno"
        )
    if parameters is not None and chosen == "native":
        raise InputError("goes with a libpleno camera file only", file=parameters)
    if parameters is not None and os.path.realpath(parameters) == os.path.realpath(path):
        raise InputError("would replace the camera file", file=parameters, fix="give the parameters another name")
    texts: dict[str | Path, str] = {}
    if chosen == "native":
        texts[path] = native_text(camera, path, as_json=suffix in JSON_SUFFIXES)
    elif isinstance(camera, GridCamera):
        raise InputError("libpleno's format needs the optics, this camera is a grid only", file=path)
    else:
        try:
            with np.errstate(all="ignore"):  # a number that is not finite is an error of tree_text
                texts[path] = tree_text(libpleno_from_camera(camera), path)
                if parameters is not None:
                    texts[parameters] = tree_text(parameters_of_camera(camera), parameters)
        except InputError as error:
            raise error.in_file(path) from None
    with ExitStack() as files:  # renamed at its end, when all are written
        for file, text in texts.items():
            files.enter_context(atomic_path(file)).write_text(text, encoding="utf-8")
