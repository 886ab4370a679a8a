"""The native camera file: YAML or JSON, versioned; an unknown key is an error. docs/camera-files.md describes it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from plenodepth.camera.files import extra_fields as foreign
from plenodepth.camera.files.consistency import require_lenses_before_sensor
from plenodepth.camera.model import (
    ApertureModel,
    BlurOperator,
    Configuration,
    Distortion,
    ExitPupil,
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
from plenodepth.io import json_text, yaml_text
from plenodepth.io.reading import quoted

VERSION = 1
VERSION_KEY = "plenodepth_camera"  # its presence marks a file as ours
ERRORS_SHOWN = 3


def _not_boolean(value: object) -> object:
    """YAML reads `yes` and `on` as true, which would count as 1."""
    if isinstance(value, bool):
        raise PydanticCustomError("boolean", "is a boolean, needs a number")
    return value


A_NUMBER = BeforeValidator(_not_boolean)
Number = Annotated[float, A_NUMBER]
Count = Annotated[int, Field(lt=2**31), A_NUMBER]
LensType = Annotated[int, Field(ge=0, lt=256), A_NUMBER]
Pair = tuple[Number, Number]
Triple = tuple[Number, Number, Number]
# Infinity has no spelling in JSON; a word serves both formats.
Distance = Annotated[
    float,
    Field(allow_inf_nan=True),
    A_NUMBER,
    BeforeValidator(lambda value: np.inf if value == "infinity" else value),
]
Text = Annotated[str, AfterValidator(foreign.unicode_text)]
Foreign = Annotated[dict[str, Any], AfterValidator(foreign.as_text)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class _Sensor(_Part):
    width: Count
    height: Count
    pixel_size: Number
    position: Triple
    bayer: str | None = None
    black_level: Number = 0.0


class _ExitPupil(_Part):
    distance: Number = 0.0
    diameter: Number | None = None
    offset: Pair = (0.0, 0.0)


class _MainLens(_Part):
    focal_length: Number
    f_number: Number | None = None
    exit_pupil: _ExitPupil | None = None


class _MicroImages(_Part):
    arrangement: Arrangement
    columns: Count
    rows: Count
    pitch: Pair
    shifted_parity: Literal[0, 1]
    angle: Number
    origin: Pair
    type_pattern: list[list[LensType]]


class _MicroLenses(_Part):
    pitch: Pair
    rotation: tuple[Triple, Triple, Triple]
    translation: Triple
    focal_lengths: list[Number]
    clear_aperture: Number | None = None


class _Distortion(_Part):
    radial: Triple
    tangential: Pair


class _WhiteRadius(_Part):
    slope: Number
    intercepts: list[Number]


class _Covariance(_Part):
    parameters: list[Text]
    matrix: list[list[Number]]


class _Foreign(_Part):
    libpleno_camera: Foreign | None = None
    libpleno_parameters: Foreign | None = None


class _Provenance(_Part):
    notes: list[Text] = []
    residuals: dict[Text, Number] = {}
    covariance: _Covariance | None = None
    foreign: _Foreign = _Foreign()
    aperture_aware: StrictBool | None = None
    source: Text  # required, and written last: a file cut short lacks it


class _Header(_Part):
    plenodepth_camera: Literal[1]
    name: Text


class _Plenoptic(_Header):
    kind: Literal["plenoptic"]
    sensor: _Sensor
    main_lens: _MainLens
    micro_images: _MicroImages
    micro_lenses: _MicroLenses
    distortion: _Distortion = _Distortion(radial=(0, 0, 0), tangential=(0, 0))
    inverse_distortion: _Distortion | None = None
    depth_scale: Triple | None = None
    depth_scale_model: ApertureModel = "off"
    blur_coefficient: Number | None = None
    blur_operator: BlurOperator = "gaussian"
    focus_distance: Distance | None = None
    white_radius: _WhiteRadius | None = None
    provenance: _Provenance


class _Image(_Part):
    width: Count
    height: Count


class _Grid(_Header):
    kind: Literal["grid"]
    image: _Image
    micro_images: _MicroImages
    virtual_depth_ranges: list[Pair]
    configuration: Configuration | None = None
    provenance: _Provenance


_FILE: TypeAdapter[_Plenoptic | _Grid] = TypeAdapter(Annotated[_Plenoptic | _Grid, Field(discriminator="kind")])


def camera_from_content(content: dict[str, Any], file: str | Path) -> PlenopticCamera | GridCamera:
    """The camera that the content of a native file describes; errors name the file and the field."""
    if VERSION_KEY not in content:
        raise InputError("is missing", file=file, field=VERSION_KEY)
    version = content[VERSION_KEY]
    if version != VERSION:
        raise InputError(
            f"is {quoted(version)}, this version of plenodepth reads {VERSION}", file=file, field=VERSION_KEY
        )
    try:
        parsed = _FILE.validate_python(content)
        return _plenoptic(parsed) if isinstance(parsed, _Plenoptic) else _grid(parsed)
    except ValidationError as error:
        raise _as_input_error(error, file) from None
    except InputError as error:
        raise error.in_file(file) from None


def _as_input_error(error: ValidationError, file: str | Path) -> InputError:
    """The first errors on one line: a misspelt key is one that is missing and another that is unknown."""
    (field, message), *others = [_field_and_message(dict(part)) for part in error.errors(include_input=False)]
    shown = [message, *(f"{other}: {why}" for other, why in others[: ERRORS_SHOWN - 1])]
    rest = len(others) + 1 - len(shown)
    return InputError("; ".join(shown) + (f"; and {rest} more" if rest else ""), file=file, field=field)


def _field_and_message(error: dict[str, Any]) -> tuple[str, str]:
    message = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(error["type"], error["msg"])
    if error["type"] == "union_tag_not_found":
        return "kind", "is missing"
    if error["type"] == "union_tag_invalid":
        return "kind", f"is {quoted(error['ctx']['tag'])}, needs {error['ctx']['expected_tags']}"
    # The kind of camera leads every path, and is not a field.
    return ".".join(str(part) for part in error["loc"][1:]), f"{message[0].lower()}{message[1:]}"


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
    kept = part.foreign.model_dump(exclude_none=True)
    # Older files of ours do not say it; libpleno's calibration never regards the aperture.
    aware = False if part.aperture_aware is None and "libpleno_camera" in kept else part.aperture_aware
    return Provenance(
        part.source,
        tuple(part.notes),
        part.residuals,
        () if covariance is None else tuple(covariance.parameters),
        matrix,
        kept,
        aware,
    )


def _sensor(part: _Sensor) -> Sensor:
    return Sensor(
        part.width,
        part.height,
        part.pixel_size,
        np.array(part.position),
        bayer=part.bayer,
        black_level=part.black_level,
    )


def _main_lens(part: _MainLens) -> MainLens:
    pupil = part.exit_pupil
    return MainLens(
        part.focal_length,
        part.f_number,
        None if pupil is None else ExitPupil(pupil.distance, pupil.diameter, pupil.offset),
    )


def _plenoptic(part: _Plenoptic) -> PlenopticCamera:
    lenses, inverse, white = part.micro_lenses, part.inverse_distortion, part.white_radius
    try:
        cam_from_mla = Pose(np.array(lenses.rotation), np.array(lenses.translation))
    except InputError as error:
        raise InputError(error.message, field="micro_lenses.rotation", fix=error.fix) from None
    camera = PlenopticCamera(
        name=part.name,
        sensor=_sensor(part.sensor),
        main_lens=_main_lens(part.main_lens),
        micro_images=_micro_images(part.micro_images),
        micro_lenses=MicroLensArray(
            np.array(lenses.pitch), cam_from_mla, np.array(lenses.focal_lengths), lenses.clear_aperture
        ),
        distortion=Distortion(np.array(part.distortion.radial), np.array(part.distortion.tangential)),
        inverse_distortion=(
            None if inverse is None else Distortion(np.array(inverse.radial), np.array(inverse.tangential))
        ),
        depth_scale=None if part.depth_scale is None else np.array(part.depth_scale),
        depth_scale_model=part.depth_scale_model,
        blur_coefficient=part.blur_coefficient,
        blur_operator=part.blur_operator,
        focus_distance=part.focus_distance,
        white_radius=None if white is None else WhiteRadius(white.slope, np.array(white.intercepts)),
        provenance=_provenance(part.provenance),
    )
    require_lenses_before_sensor(camera)
    return camera


def _grid(part: _Grid) -> GridCamera:
    return GridCamera(
        name=part.name,
        width=part.image.width,
        height=part.image.height,
        micro_images=_micro_images(part.micro_images),
        virtual_depth_ranges=np.array(part.virtual_depth_ranges),
        provenance=_provenance(part.provenance),
        configuration=part.configuration,
    )


def content_of_camera(camera: PlenopticCamera | GridCamera) -> dict[str, Any]:
    """The content of the native file of a camera: plain numbers, lists and texts."""
    content: dict[str, Any] = _plain(_content(camera))
    return content


def _plain(value: Any) -> Any:
    """The value without NumPy's numbers, which the fields of a camera may be as well."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _content(camera: PlenopticCamera | GridCamera) -> dict[str, Any]:
    grid, past = camera.micro_images, camera.provenance
    provenance: dict[str, Any] = {"notes": list(past.notes), "residuals": dict(past.residuals)}
    if past.covariance is not None:
        parameters = list(past.covariance_parameters)
        provenance["covariance"] = {"parameters": parameters, "matrix": past.covariance.tolist()}
    provenance["foreign"] = dict(past.foreign)
    if past.aperture_aware is not None:
        provenance["aperture_aware"] = past.aperture_aware
    provenance["source"] = past.source
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
            **({} if camera.configuration is None else {"configuration": str(camera.configuration)}),
            "provenance": provenance,
        }
    lenses = camera.micro_lenses
    content: dict[str, Any] = {
        **header,
        "kind": "plenoptic",
        "sensor": _sensor_content(camera.sensor),
        "main_lens": _main_lens_content(camera.main_lens),
        "micro_images": micro_images,
        "micro_lenses": {
            "pitch": lenses.pitch.tolist(),
            "rotation": lenses.cam_from_mla.rotation.tolist(),
            "translation": lenses.cam_from_mla.translation.tolist(),
            "focal_lengths": lenses.focal_lengths.tolist(),
            **({} if lenses.clear_aperture is None else {"clear_aperture": lenses.clear_aperture}),
        },
        "distortion": _distortion_content(camera.distortion),
    }
    if camera.inverse_distortion is not None:
        content["inverse_distortion"] = _distortion_content(camera.inverse_distortion)
    if camera.depth_scale is not None:
        content["depth_scale"] = camera.depth_scale.tolist()
        if camera.depth_scale_model != "off":
            content["depth_scale_model"] = camera.depth_scale_model
    if camera.blur_coefficient is not None:
        content["blur_coefficient"] = camera.blur_coefficient
        if camera.blur_operator != "gaussian":
            content["blur_operator"] = camera.blur_operator
    if camera.focus_distance is not None:
        infinite = np.isinf(camera.focus_distance)
        content["focus_distance"] = "infinity" if infinite else camera.focus_distance
    if camera.white_radius is not None:
        white = camera.white_radius
        content["white_radius"] = {"slope": white.slope, "intercepts": white.intercepts.tolist()}
    return {**content, "provenance": provenance}


def _sensor_content(sensor: Sensor) -> dict[str, Any]:
    content: dict[str, Any] = {
        "width": sensor.width,
        "height": sensor.height,
        "pixel_size": sensor.pixel_size,
        "position": sensor.position.tolist(),
    }
    if sensor.bayer is not None:
        content["bayer"] = sensor.bayer
    if sensor.black_level:
        content["black_level"] = sensor.black_level
    return content


def _main_lens_content(lens: MainLens) -> dict[str, Any]:
    content: dict[str, Any] = {"focal_length": lens.focal_length, "f_number": lens.f_number}
    if lens.exit_pupil is not None:
        content["exit_pupil"] = {"distance": lens.exit_pupil.distance}
        if lens.exit_pupil.diameter is not None:
            content["exit_pupil"]["diameter"] = lens.exit_pupil.diameter
        if any(lens.exit_pupil.offset):
            content["exit_pupil"]["offset"] = list(lens.exit_pupil.offset)
    return content


def _distortion_content(distortion: Distortion) -> dict[str, list[float]]:
    return {"radial": distortion.radial.tolist(), "tangential": distortion.tangential.tolist()}


def native_text(camera: PlenopticCamera | GridCamera, file: str | Path, *, as_json: bool) -> str:
    """The text of a camera's native file, which errors name. Every digit is kept."""
    content = content_of_camera(camera)
    camera_from_content(content, file)  # what could not be read again is not written
    return json_text(content) if as_json else yaml_text(content)
