"""Any camera from anywhere: a preset's name, a native file, libpleno's files, the vendor's grid."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from plenodepth.camera.libpleno_camera import camera_from_libpleno, libpleno_from_camera, parameters_of_camera
from plenodepth.camera.model import GridCamera, PlenopticCamera
from plenodepth.camera.presets import PRESETS, preset
from plenodepth.camera.raytrix_camera import grid_camera_from_raytrix
from plenodepth.camera.schema import VERSION_KEY, camera_from_content, parse_yaml, write_native
from plenodepth.errors import InputError
from plenodepth.io import (
    PropertyTree,
    read_parameters,
    read_raytrix_grid,
    read_text,
    read_tree,
    write_parameters,
    write_tree,
)

Camera = PlenopticCamera | GridCamera
FileFormat = Literal["native", "libpleno"]
NATIVE_SUFFIXES = (".yaml", ".yml", ".json")
LIBPLENO_KEYS = {"mla", "mia", "main_lens", "sensor"}


def load_camera(
    source: str | Path,
    *,
    parameters: str | Path | None = None,
    image_size: tuple[int, int] | None = None,
) -> Camera:
    """The camera of a preset (``"r12-e"``) or of a file: native YAML or JSON, libpleno's .js, the vendor's grid .xml.

    ``parameters`` names libpleno's parameter file that goes with its camera file; it holds κ. ``image_size``
    (width, height) px is needed for the vendor's grid, which does not say how large the image is.
    """
    path = Path(source)
    camera: Camera
    if str(source) in PRESETS and not path.exists():
        camera = preset(str(source))
    elif not path.exists():
        raise InputError(f"is neither a file nor a preset ({', '.join(PRESETS)})", file=source)
    elif path.suffix.lower() == ".xml":
        if image_size is None:
            raise InputError(
                "a vendor's grid does not hold the size of its images", file=path, fix="give it, as in 2048x2048"
            )
        try:
            return grid_camera_from_raytrix(read_raytrix_grid(path), image_size, name=path.stem)
        except InputError as error:
            raise error.in_file(path) from None
    else:
        tree = _read_tree(path)
        if VERSION_KEY in tree.content:
            camera = camera_from_content(dict(tree.content), path)
        elif LIBPLENO_KEYS & set(tree.content):
            internal = None if parameters is None else read_parameters(parameters)
            return camera_from_libpleno(tree, internal, name=path.stem)
        else:
            raise InputError(
                f"is no camera file: it has neither the key {VERSION_KEY} nor libpleno's main_lens and mla", file=path
            )
    if parameters is not None:
        raise InputError("goes with a libpleno camera file only", file=parameters)
    return camera


def _read_tree(path: Path) -> PropertyTree:
    if path.suffix.lower() in (".js", ".json"):
        return read_tree(path)
    content = parse_yaml(read_text(path), path)
    if not isinstance(content, dict):
        raise InputError("does not hold a mapping of keys", file=path)
    return PropertyTree(str(path), content)


def load_plenoptic_camera(source: str | Path, *, parameters: str | Path | None = None) -> PlenopticCamera:
    """:func:`load_camera` for those who need millimetres: a camera with optics, or an error."""
    camera = load_camera(source, parameters=parameters)
    if isinstance(camera, GridCamera):
        raise InputError("holds the grid only, no optics, so nothing metric can be computed", file=source)
    return camera


def save_camera(
    camera: Camera,
    path: str | Path,
    *,
    file_format: FileFormat | None = None,
    parameters: str | Path | None = None,
) -> None:
    """Write a camera: native for .yaml, .yml and .json, libpleno's for .js, or as ``file_format`` says.

    With ``parameters``, libpleno's parameter file is written there too. Nothing is written when anything is wrong.
    """
    suffix = Path(path).suffix.lower()
    chosen = file_format or ("libpleno" if suffix == ".js" else "native" if suffix in NATIVE_SUFFIXES else None)
    if chosen is None:
        raise InputError(
            f"does not tell the format by its suffix '{suffix}'", file=path, fix=".yaml, .json: native; .js: libpleno"
        )
    if chosen == "native":
        if parameters is not None:
            raise InputError("goes with a libpleno camera file only", file=parameters)
        write_native(camera, path)
        return
    if isinstance(camera, GridCamera):
        raise InputError("libpleno's format needs the optics, this camera is a grid only", file=path)
    content = libpleno_from_camera(camera)
    internal = None if parameters is None else parameters_of_camera(camera)
    write_tree(path, content)
    if internal is not None and parameters is not None:
        write_parameters(parameters, internal)
