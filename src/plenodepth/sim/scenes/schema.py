"""What a scene file may say: its keys and their types; an unknown key is an error. Millimetres, degrees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from plenodepth.camera.files.native import ERRORS_SHOWN, Count, Number, Text, Triple
from plenodepth.errors import InputError
from plenodepth.io.reading import quoted


def _gray(value: object) -> object:
    return (value, value, value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Color = Annotated[
    tuple[NotNegative, NotNegative, NotNegative], BeforeValidator(_gray)
]  # linear light, or one gray level
Whole = Annotated[Count, Field(ge=1)]
Seed = Annotated[Count, Field(ge=0)]
Octaves = Annotated[Count, Field(ge=1, le=16)]
Switch = Annotated[bool, Field(strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class NoisePart(_Part):
    """Noise on a surface: blots of `cell` mm, and in each octave more of half the size."""

    kind: Literal["noise"]
    cell: Positive = 20.0
    octaves: Octaves = 6
    contrast: Annotated[Number, Field(gt=0, le=1)] = 1.0
    seed: Seed = 0
    dark: Color | None = None  # without the two: all colours
    light: Color | None = None


class ImagePart(_Part):
    """A picture, stretched over the surface."""

    kind: Literal["image"]
    file: Text


class SolidPart(_Part):
    """Noise that fills space and repeats every `period` mm."""

    kind: Literal["solid"]
    period: Positive = 40.0
    octaves: Octaves = 5
    seed: Seed = 0
    dark: Color = (0.05, 0.05, 0.05)
    light: Color = (0.95, 0.95, 0.95)


TexturePart = Annotated[NoisePart | ImagePart | SolidPart, Field(discriminator="kind")]


class _Turned(_Part):
    name: Text | None = None
    rotation: Triple | None = None  # degrees about x, y, z: Rx · Ry · Rz
    rotation_matrix: tuple[Triple, Triple, Triple] | None = None  # its rows


class _Surfaced(_Turned):
    position: Triple
    color: Color = (1.0, 1.0, 1.0)
    texture: TexturePart | None = None
    emits: Switch = False


class RectanglePart(_Surfaced):
    """`size`: width and height."""

    kind: Literal["rectangle"]
    size: tuple[Positive, Positive]


class SpherePart(_Surfaced):
    """A ball."""

    kind: Literal["sphere"]
    radius: Positive


class BoxPart(_Surfaced):
    """`size` along x, y and z."""

    kind: Literal["box"]
    size: tuple[Positive, Positive, Positive]


class MeshPart(_Surfaced):
    """Triangles of a file, whose units times `scale` are mm."""

    kind: Literal["mesh"]
    file: Text
    scale: Positive = 1.0


class FigurinePart(_Surfaced):
    """A self-made figurine: its position is that of the ground under it."""

    kind: Literal["figurine"]
    shape: Text
    height: Positive = 100.0
    detail: Whole = 40_000


class CheckerboardPart(_Turned):
    """columns × rows inner corners: `position` is that of corner 0, `center` that of their middle; one of the two."""

    kind: Literal["checkerboard"]
    columns: Whole
    rows: Whole
    square: Positive
    margin: NotNegative = 0.0
    dark: NotNegative = 0.05
    light: NotNegative = 0.95
    emits: Switch = True
    position: Triple | None = None
    center: Triple | None = None


SurfacedPart = RectanglePart | SpherePart | BoxPart | MeshPart | FigurinePart
ObjectPart = SurfacedPart | CheckerboardPart


class LightPart(_Part):
    """A lamp far away in a `direction` from the scene, or at a `position`."""

    direction: Triple | None = None
    position: Triple | None = None
    intensity: Positive = 1.0


class ScenePart(_Part):
    """The whole file."""

    plenodepth_scene: Literal[1]
    ambient: NotNegative = 1.0
    background: Color = (0.0, 0.0, 0.0)
    lights: list[LightPart] = []
    objects: list[Annotated[ObjectPart, Field(discriminator="kind")]]


def parsed_scene(content: dict[str, Any], file: str | Path) -> ScenePart:
    """The content of a scene file, checked; an error names the file and the field (`objects.2.texture.cell`)."""
    try:
        return ScenePart.model_validate(content)
    except ValidationError as error:
        errors = [_field_and_message(dict(part), content) for part in error.errors(include_input=False)]
    (field, message), *others = errors
    shown = [message, *(f"{other}: {why}" for other, why in others[: ERRORS_SHOWN - 1])]
    rest = len(others) + 1 - len(shown)
    raise InputError("; ".join(shown) + (f"; and {rest} more" if rest else ""), file=file, field=field)


def _field_and_message(error: dict[str, Any], content: Any) -> tuple[str, str]:
    path = _without_kinds(error["loc"], content)
    if error["type"] == "union_tag_not_found":
        return ".".join([*path, "kind"]), "is missing"
    if error["type"] == "union_tag_invalid":
        return ".".join([*path, "kind"]), f"is {quoted(error['ctx']['tag'])}, needs {error['ctx']['expected_tags']}"
    message = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(error["type"], error["msg"])
    return ".".join(path), f"{message[0].lower()}{message[1:]}"


def _without_kinds(location: tuple[str | int, ...], content: Any) -> list[str]:
    """The path of a field without the kinds of objects and textures, which stand in it but are no fields."""
    path, at, kind_passed = [], content, False
    for part in location:
        if isinstance(at, dict) and at.get("kind") == part and not kind_passed:
            kind_passed = True
            continue
        kind_passed = False
        path.append(str(part))
        try:
            at = at[part]
        except (LookupError, TypeError):
            at = None
    return path
