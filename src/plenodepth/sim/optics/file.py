"""Files of real lenses, YAML or JSON: one key for each option, what is not there is off. An unknown key is an error."""

from __future__ import annotations

from dataclasses import asdict, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from plenodepth.camera.files.native import Number, Pair, Triple
from plenodepth.errors import InputError
from plenodepth.io import atomic_path, json_text, parse_by_suffix, read_text, yaml_text
from plenodepth.io.reading import quoted
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.optics.presets import OPTICS_PRESETS, optics_preset

OPTICS_VERSION = 1
OPTICS_VERSION_KEY = "plenodepth_optics"  # its presence marks a file as ours
MESSAGES = {"extra_forbidden": "unknown key", "missing": "is missing"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class _Stop(_Part):
    distance: Number = 0.0
    diameter: Number | None = None
    offset: Pair = (0.0, 0.0)


class _Optics(_Part):
    exit_pupil: _Stop | None = None
    rim: _Stop | None = None
    field_radius: Number | None = None
    main_lens_color: Triple = (0.0, 0.0, 0.0)
    micro_lens_color: Triple = (0.0, 0.0, 0.0)
    clear_aperture: Number = 1.0
    corner_reach: Number = 1.0
    spherical_aberration: Number = 0.0
    wavelength: Number | None = None
    mask: Annotated[bool, Field(strict=True)] = False
    crosstalk: Number = 0.0
    half_angle: Number | None = None


def load_optics(path: str | Path) -> RealOptics:
    """The options of a file, or those of a name (`r12-a-real`); errors name the file, the field and the repair."""
    if str(path) in OPTICS_PRESETS:
        return optics_preset(str(path))
    content = parse_by_suffix(read_text(path), path)
    if not isinstance(content, dict) or OPTICS_VERSION_KEY not in content:
        raise InputError(
            "is missing: this is no file of real lenses",
            file=path,
            field=OPTICS_VERSION_KEY,
            fix=f"add {OPTICS_VERSION_KEY}: {OPTICS_VERSION}",
        )
    version = content.pop(OPTICS_VERSION_KEY)
    if version != OPTICS_VERSION or isinstance(version, bool):
        raise InputError(
            f"is {quoted(version)}, this version of plenodepth reads {OPTICS_VERSION}",
            file=path,
            field=OPTICS_VERSION_KEY,
        )
    try:
        return optics_from_content(content)
    except InputError as error:
        raise error.in_file(path) from None


def optics_from_content(content: dict[str, Any]) -> RealOptics:
    """The options that the content of a file, without its version, describes."""
    try:
        parsed = _Optics.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = MESSAGES.get(first["type"], first["msg"])
        fix = _nearest(first["loc"]) if first["type"] == "extra_forbidden" else None
        raise InputError(f"{message[0].lower()}{message[1:]}", field=field, fix=fix) from None
    values = {name: getattr(parsed, name) for name in _Optics.model_fields}
    for name in ("exit_pupil", "rim"):
        if values[name] is not None:
            try:
                values[name] = Stop(**values[name].model_dump())
            except InputError as error:
                raise InputError(error.message, field=f"{name}.{error.field}", fix=error.fix) from None
    return RealOptics(**values)


def save_optics(optics: RealOptics, path: str | Path) -> None:
    """Write the options that are on: JSON where the path ends in .json, else YAML."""
    content = {OPTICS_VERSION_KEY: OPTICS_VERSION, **optics_content(optics)}
    text = json_text(content) if Path(path).suffix.lower() == ".json" else yaml_text(content)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def optics_content(optics: RealOptics) -> dict[str, Any]:
    """The options that are on: plain numbers and lists."""
    return {name: _plain(value) for name, value in asdict(optics).items() if name in optics.used}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if part is not None}
    return list(value) if isinstance(value, tuple) else value


def _nearest(location: tuple[int | str, ...]) -> str:
    """The key that was meant, or all that there are."""
    known = [part.name for part in fields(RealOptics if len(location) == 1 else Stop)]
    near = get_close_matches(str(location[-1]), known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
