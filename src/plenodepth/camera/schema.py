"""The native camera file: YAML or JSON, versioned; an unknown key is an error. docs/camera-files.md describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from plenodepth.camera.model import (
    Distortion,
    GridCamera,
    MainLens,
    MicroImageArray,
    MicroLensArray,
    PlenopticCamera,
    Provenance,
    Sensor,
    WhiteRadius,
)
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, Lattice, PlanarPose, Pose
from plenodepth.io import atomic_path

VERSION = 1
VERSION_KEY = "plenodepth_camera"  # its presence marks a file as ours

Pair = tuple[float, float]
Triple = tuple[float, float, float]
# Infinity has no spelling in JSON; a word serves both formats.
Distance = Annotated[
    Annotated[float, Field(allow_inf_nan=True)],
    BeforeValidator(lambda value: np.inf if value == "infinity" else value),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class _Sensor(_Part):
    width: int
    height: int
    pixel_size: float
    position: Triple


class _MainLens(_Part):
    focal_length: float
    f_number: float | None = None


class _MicroImages(_Part):
    arrangement: Arrangement
    columns: int
    rows: int
    pitch: Pair
    shifted_parity: Literal[0, 1]
    angle: float
    origin: Pair
    type_pattern: list[list[int]]


class _MicroLenses(_Part):
    pitch: Pair
    rotation: tuple[Triple, Triple, Triple]
    translation: Triple
    focal_lengths: list[float]


class _Distortion(_Part):
    radial: Triple
    tangential: Pair


class _WhiteRadius(_Part):
    slope: float
    intercepts: list[float]


class _Covariance(_Part):
    parameters: list[str]
    matrix: list[list[float]]


class _Provenance(_Part):
    source: str = ""
    notes: list[str] = []
    residuals: dict[str, float] = {}
    covariance: _Covariance | None = None
    foreign: dict[str, Any] = {}


class _Header(_Part):
    plenodepth_camera: Literal[1]
    name: str


class _Plenoptic(_Header):
    kind: Literal["plenoptic"]
    sensor: _Sensor
    main_lens: _MainLens
    micro_images: _MicroImages
    micro_lenses: _MicroLenses
    distortion: _Distortion = _Distortion(radial=(0, 0, 0), tangential=(0, 0))
    inverse_distortion: _Distortion | None = None
    depth_scale: Triple | None = None
    blur_coefficient: float | None = None
    focus_distance: Distance | None = None
    white_radius: _WhiteRadius | None = None
    provenance: _Provenance = _Provenance()


class _Image(_Part):
    width: int
    height: int


class _Grid(_Header):
    kind: Literal["grid"]
    image: _Image
    micro_images: _MicroImages
    virtual_depth_ranges: list[Pair]
    provenance: _Provenance = _Provenance()


_FILE: TypeAdapter[_Plenoptic | _Grid] = TypeAdapter(Annotated[_Plenoptic | _Grid, Field(discriminator="kind")])


class _UniqueKeys(yaml.SafeLoader):
    """YAML as PyYAML reads it, but a key given twice is an error instead of a silent choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key '{key}' is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, file: str | Path) -> Any:
    """The content of a YAML text; malformed text is an error that names the line."""
    try:
        return yaml.load(text, Loader=_UniqueKeys)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
        raise InputError(f"is not valid YAML: {error.problem}", file=file, field=where) from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"is not valid YAML: {str(error).splitlines()[0]}", file=file) from None


def camera_from_content(content: dict[str, Any], file: str | Path) -> PlenopticCamera | GridCamera:
    """The camera that the content of a native file describes; errors name the file and the field."""
    if content.get(VERSION_KEY) != VERSION:
        raise InputError(
            f"is {content.get(VERSION_KEY)!r}, this version of plenodepth reads {VERSION}",
            file=file,
            field=VERSION_KEY,
        )
    try:
        parsed = _FILE.validate_python(content)
        return _plenoptic(parsed) if isinstance(parsed, _Plenoptic) else _grid(parsed)
    except ValidationError as error:
        raise _as_input_error(error, file) from None
    except InputError as error:
        raise error.in_file(file) from None


def _as_input_error(error: ValidationError, file: str | Path) -> InputError:
    first, *others = error.errors(include_url=False, include_input=False)
    # The discriminator's own value leads every path below it, and is not a field.
    path = [str(part) for part in first["loc"] if part not in ("plenoptic", "grid")]
    message = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(first["type"], first["msg"])
    more = f", and {len(others)} more errors" if others else ""
    return InputError(f"{message[0].lower()}{message[1:]}{more}", file=file, field=".".join(path) or None)


def _micro_images(part: _MicroImages) -> MicroImageArray:
    try:
        lattice = Lattice(part.arrangement, part.columns, part.rows, np.array(part.pitch), part.shifted_parity)
        return MicroImageArray(
            lattice, PlanarPose(part.angle, np.array(part.origin)), np.array(part.type_pattern, dtype=np.int64)
        )
    except ValueError:
        raise InputError("rows differ in length", field="micro_images.type_pattern") from None
    except InputError as error:
        raise _inside("micro_images", error) from None


def _inside(part: str, error: InputError) -> InputError:
    """The error of a value that does not know in which part of the file it stands."""
    field = error.field or ""
    known = field.startswith(part)
    return InputError(error.message, file=error.file, field=field if known else f"{part}.{field}", fix=error.fix)


def _provenance(part: _Provenance) -> Provenance:
    covariance = part.covariance
    try:
        matrix = None if covariance is None else np.array(covariance.matrix)
    except ValueError:
        raise InputError("rows differ in length", field="provenance.covariance.matrix") from None
    return Provenance(
        part.source,
        tuple(part.notes),
        part.residuals,
        () if covariance is None else tuple(covariance.parameters),
        matrix,
        part.foreign,
    )


def _plenoptic(part: _Plenoptic) -> PlenopticCamera:
    lenses, inverse, white = part.micro_lenses, part.inverse_distortion, part.white_radius
    try:
        cam_from_mla = Pose(np.array(lenses.rotation), np.array(lenses.translation))
    except InputError as error:
        raise InputError(error.message, field="micro_lenses.rotation", fix=error.fix) from None
    return PlenopticCamera(
        name=part.name,
        sensor=Sensor(part.sensor.width, part.sensor.height, part.sensor.pixel_size, np.array(part.sensor.position)),
        main_lens=MainLens(part.main_lens.focal_length, part.main_lens.f_number),
        micro_images=_micro_images(part.micro_images),
        micro_lenses=MicroLensArray(np.array(lenses.pitch), cam_from_mla, np.array(lenses.focal_lengths)),
        distortion=Distortion(np.array(part.distortion.radial), np.array(part.distortion.tangential)),
        inverse_distortion=(
            None if inverse is None else Distortion(np.array(inverse.radial), np.array(inverse.tangential))
        ),
        depth_scale=None if part.depth_scale is None else np.array(part.depth_scale),
        blur_coefficient=part.blur_coefficient,
        focus_distance=part.focus_distance,
        white_radius=None if white is None else WhiteRadius(white.slope, np.array(white.intercepts)),
        provenance=_provenance(part.provenance),
    )


def _grid(part: _Grid) -> GridCamera:
    return GridCamera(
        name=part.name,
        width=part.image.width,
        height=part.image.height,
        micro_images=_micro_images(part.micro_images),
        virtual_depth_ranges=np.array(part.virtual_depth_ranges),
        provenance=_provenance(part.provenance),
    )


def content_of_camera(camera: PlenopticCamera | GridCamera) -> dict[str, Any]:
    """The content of the native file of a camera: plain numbers, lists and texts."""
    grid, past = camera.micro_images, camera.provenance
    provenance: dict[str, Any] = {
        "source": past.source,
        "notes": list(past.notes),
        "residuals": dict(past.residuals),
        "foreign": dict(past.foreign),
    }
    if past.covariance is not None:
        parameters = list(past.covariance_parameters)
        provenance["covariance"] = {"parameters": parameters, "matrix": past.covariance.tolist()}
    micro_images = {
        "arrangement": str(grid.lattice.arrangement),
        "columns": grid.lattice.columns,
        "rows": grid.lattice.rows,
        "pitch": grid.lattice.pitch.tolist(),
        "shifted_parity": grid.lattice.shifted_parity,
        "angle": grid.image_from_lattice.angle,
        "origin": grid.image_from_lattice.translation.tolist(),
        "type_pattern": grid.type_pattern.tolist(),
    }
    header = {VERSION_KEY: VERSION, "name": camera.name}
    if isinstance(camera, GridCamera):
        return {
            **header,
            "kind": "grid",
            "image": {"width": camera.width, "height": camera.height},
            "micro_images": micro_images,
            "virtual_depth_ranges": camera.virtual_depth_ranges.tolist(),
            "provenance": provenance,
        }
    sensor, lens, lenses = camera.sensor, camera.main_lens, camera.micro_lenses
    content: dict[str, Any] = {
        **header,
        "kind": "plenoptic",
        "sensor": {
            "width": sensor.width,
            "height": sensor.height,
            "pixel_size": sensor.pixel_size,
            "position": sensor.position.tolist(),
        },
        "main_lens": {"focal_length": lens.focal_length, "f_number": lens.f_number},
        "micro_images": micro_images,
        "micro_lenses": {
            "pitch": lenses.pitch.tolist(),
            "rotation": lenses.cam_from_mla.rotation.tolist(),
            "translation": lenses.cam_from_mla.translation.tolist(),
            "focal_lengths": lenses.focal_lengths.tolist(),
        },
        "distortion": _distortion_content(camera.distortion),
    }
    if camera.inverse_distortion is not None:
        content["inverse_distortion"] = _distortion_content(camera.inverse_distortion)
    if camera.depth_scale is not None:
        content["depth_scale"] = camera.depth_scale.tolist()
    if camera.blur_coefficient is not None:
        content["blur_coefficient"] = camera.blur_coefficient
    if camera.focus_distance is not None:
        infinite = np.isinf(camera.focus_distance)
        content["focus_distance"] = "infinity" if infinite else camera.focus_distance
    if camera.white_radius is not None:
        white = camera.white_radius
        content["white_radius"] = {"slope": white.slope, "intercepts": white.intercepts.tolist()}
    return {**content, "provenance": provenance}


def _distortion_content(distortion: Distortion) -> dict[str, list[float]]:
    return {"radial": distortion.radial.tolist(), "tangential": distortion.tangential.tolist()}


def write_native(camera: PlenopticCamera | GridCamera, path: str | Path) -> None:
    """Write the native file of a camera: JSON for the suffix .json, YAML otherwise. Every digit is kept."""
    content = content_of_camera(camera)
    if Path(path).suffix.lower() == ".json":
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    else:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
