"""The native camera file: what it keeps, and what it refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparing import differences
from damage import damaged, loaded_or_refused
from hypothesis import example, given, settings
from hypothesis import strategies as st
from random_cameras import base, grid_cameras, plenoptic_cameras

from plenodepth.camera import Camera, ExitPupil, Provenance, WhiteRadius, load_camera, save_camera
from plenodepth.camera.files.native import VERSION_KEY, camera_from_content, content_of_camera, native_text
from plenodepth.errors import InputError
from plenodepth.io import parse_yaml

Keys = tuple[str, ...]

FULL = replace(
    base("r12-mini"),
    sensor=replace(base("r12-mini").sensor, bayer="GRBG", black_level=0.0625),
    main_lens=replace(base("r12-mini").main_lens, exit_pupil=ExitPupil(7.2, 11.5, (0.1, -0.05))),
    micro_lenses=replace(base("r12-mini").micro_lenses, clear_aperture=0.95),
    depth_scale_model="per_pixel",
    blur_operator="depth",
    white_radius=WhiteRadius(-0.14, np.array([-0.029, -0.024, -0.027])),
    provenance=Provenance(
        source="bundle adjustment over 16 frames",
        notes=("white images at f/4 and f/8",),
        residuals={"rmse_uv": 0.31, "rmse_rho": 0.12},
        covariance_parameters=("main_lens.focal_length", "micro_lenses.translation.z"),
        covariance=np.array([[1e-4, -3e-5], [-3e-5, 2e-4]]),
        aperture_aware=True,
    ),
)
CONTENT = content_of_camera(FULL)


def read_back(camera: Camera, as_json: bool) -> Camera:
    text = native_text(camera, "a", as_json=as_json)
    return camera_from_content(json.loads(text) if as_json else parse_yaml(text, "a"), "a")


# --- what it keeps ----------------------------------------------------------------------------------------------


@given(camera=plenoptic_cameras() | grid_cameras(), as_json=st.booleans())
@example(camera=FULL, as_json=False)
@example(camera=FULL, as_json=True)
@settings(max_examples=60, deadline=None)
def test_every_bit_of_a_camera_comes_back(camera: Camera, as_json: bool) -> None:
    assert differences(read_back(camera, as_json), camera) == []


def test_numbers_of_numpy_are_written_like_numbers(tmp_path: Path) -> None:
    camera = replace(
        FULL,
        main_lens=replace(FULL.main_lens, focal_length=np.float64(50.1)),
        sensor=replace(FULL.sensor, width=np.int64(560)),
        provenance=Provenance(residuals={"rmse_uv": np.float32(0.5)}),
    )
    for name in ("a.yaml", "a.json"):
        save_camera(camera, tmp_path / name)
        back = load_camera(tmp_path / name)
        assert (back.main_lens.focal_length, back.sensor.width) == (50.1, 560)
        assert back.provenance.residuals == {"rmse_uv": 0.5}


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    camera = replace(FULL, provenance=Provenance(residuals={"rmse_uv": float("nan")}))
    with pytest.raises(InputError, match=r"a\.yaml: provenance\.residuals\.rmse_uv: input should be a finite number"):
        save_camera(camera, tmp_path / "a.yaml")
    assert list(tmp_path.iterdir()) == []


def test_what_a_sensor_does_not_have_is_not_written() -> None:
    plain = content_of_camera(base("r12-mini"))["sensor"]
    assert set(plain) == {"width", "height", "pixel_size", "position"}
    assert CONTENT["sensor"] == {**plain, "bayer": "GRBG", "black_level": 0.0625}


def test_colour_filters_may_be_written_in_small_letters_or_as_nothing() -> None:
    assert camera_from_content(changed(("sensor", "bayer"), value="bggr"), "a").sensor.bayer == "BGGR"
    assert camera_from_content(changed(("sensor", "bayer"), value=None), "a").sensor.bayer is None


def test_numbers_may_be_written_as_people_do() -> None:
    text = native_text(FULL, "a", as_json=False)
    for written in ("focal_length: 50", "focal_length: 5e1", "focal_length: 5.0e+1"):
        camera = camera_from_content(parse_yaml(text.replace("focal_length: 50.11947384004966", written), "a"), "a")
        assert camera.main_lens.focal_length == 50.0


def test_the_example_in_the_documentation_is_a_camera_with_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs" / "camera-files.md").read_text(encoding="utf-8")
    example = parse_yaml(page.split("```yaml\n")[1].split("```")[0], "camera-files.md")
    camera = camera_from_content(example, "camera-files.md")
    assert camera.name == "r12-e"
    assert set(all_keys(example)) | {("provenance", "residuals", "rmse_rho")} == set(all_keys(CONTENT))


# --- what it refuses --------------------------------------------------------------------------------------------

OPTIONAL = {
    ("sensor", "bayer"),
    ("sensor", "black_level"),
    ("main_lens", "exit_pupil"),
    ("main_lens", "exit_pupil", "distance"),
    ("main_lens", "exit_pupil", "diameter"),
    ("main_lens", "exit_pupil", "offset"),
    ("micro_lenses", "clear_aperture"),
    ("distortion",),
    ("inverse_distortion",),
    ("depth_scale",),
    ("depth_scale_model",),
    ("blur_coefficient",),
    ("blur_operator",),
    ("focus_distance",),
    ("white_radius",),
    ("provenance", "notes"),
    ("provenance", "residuals"),
    ("provenance", "covariance"),
    ("provenance", "foreign"),
    ("provenance", "aperture_aware"),
}
FREE = {
    ("provenance", "residuals", "rmse_uv"),
    ("provenance", "residuals", "rmse_rho"),
    ("main_lens", "f_number"),  # optional, but for a pupil of known diameter
}


def all_keys(content: dict[str, Any], above: Keys = ()) -> Iterator[Keys]:
    for key, value in content.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from all_keys(value, (*above, key))


def changed(keys: Keys, *, rename: str | None = None, **new: Any) -> dict[str, Any]:
    """The content with the value at ``keys`` removed, renamed or replaced by ``value``."""
    content: dict[str, Any] = copy.deepcopy(CONTENT)
    part = content
    for key in keys[:-1]:
        part = part[key]
    old = part.pop(keys[-1])
    if rename is not None:
        part[rename] = old
    if "value" in new:
        part[keys[-1]] = new["value"]
    return content


def error_of(content: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        camera_from_content(content, "cam.yaml")
    text = str(caught.value)
    assert text.startswith("cam.yaml: ")
    assert len(text.splitlines()) == 1
    return text


REQUIRED = [keys for keys in all_keys(CONTENT) if keys not in OPTIONAL | FREE]


@pytest.mark.parametrize("keys", REQUIRED, ids=".".join)
def test_a_required_key_that_is_missing_is_named(keys: Keys) -> None:
    assert error_of(changed(keys)) == f"cam.yaml: {'.'.join(keys)}: is missing"


@pytest.mark.parametrize("keys", sorted(OPTIONAL), ids=".".join)
def test_an_optional_key_may_be_left_out(keys: Keys) -> None:
    camera = camera_from_content(changed(keys), "cam.yaml")
    assert [d for d in differences(camera, FULL) if not d.startswith(f".{'.'.join(keys)}")] == []


@pytest.mark.parametrize("keys", [keys for keys in all_keys(CONTENT) if keys not in FREE], ids=".".join)
def test_a_misspelt_key_is_named(keys: Keys) -> None:
    misspelt = f"{keys[-1]}x"
    error = error_of(changed(keys, rename=misspelt))
    assert ".".join(keys) in error
    if keys not in {(VERSION_KEY,), ("kind",)}:  # without these nobody can tell which keys there should be
        assert f"{'.'.join((*keys[:-1], misspelt))}: unknown key" in error


@pytest.mark.parametrize("key", ["grid", "plenoptic", "main lens", 7, "kind "])
def test_an_unknown_key_at_the_top_is_named(key: Any) -> None:
    assert error_of({**CONTENT, key: 1}).startswith(f"cam.yaml: {key}: ")


def test_the_first_errors_are_listed_and_the_rest_counted() -> None:
    content = {key: CONTENT[key] for key in (VERSION_KEY, "kind", "name", "sensor")}
    assert error_of(content) == (
        "cam.yaml: main_lens: is missing; micro_images: is missing; micro_lenses: is missing; and 1 more"
    )


BAD_VALUES = {
    "negative focal length": (("main_lens", "focal_length"), -50.0, "main_lens.focal_length: is -50.0"),
    "zero focal length of a lens": (("micro_lenses", "focal_lengths"), [0.6, 0.0, 0.5], "focal_lengths.1: is 0.0"),
    "text": (("main_lens", "focal_length"), "fifty", "main_lens.focal_length: input should be a valid number"),
    "boolean": (("main_lens", "focal_length"), True, "main_lens.focal_length: is a boolean, needs a number"),
    "boolean count": (("sensor", "width"), True, "sensor.width: is a boolean"),
    "null": (("sensor", "pixel_size"), None, "sensor.pixel_size: input should be a valid number"),
    "NaN": (("sensor", "pixel_size"), float("nan"), "sensor.pixel_size: input should be a finite number"),
    "infinity": (("depth_scale",), [0.0, 1.0, float("inf")], "depth_scale.2: input should be a finite number"),
    "huge integer": (("main_lens", "focal_length"), 10**400, "main_lens.focal_length: "),
    "half a pixel": (("sensor", "width"), 560.5, "sensor.width: input should be a valid integer"),
    "no pixel": (("sensor", "height"), 0, "sensor.width, sensor.height: is 560 × 0 px"),
    "more rows than any array": (("micro_images", "rows"), 2**63, "micro_images.rows: input should be less than"),
    "no columns": (("micro_images", "columns"), 0, "micro_images.columns: is 0"),
    "lens count off the sensor": (("micro_images", "columns"), 48, "micro_images.columns, micro_images.rows: 48 × 20"),
    "negative pitch": (("micro_images", "pitch"), [23.3, -23.3], "micro_images.pitch: needs two numbers > 0"),
    "short vector": (("sensor", "position"), [1.0, 2.0], "sensor.position.2: is missing"),
    "sensor before the main lens": (("sensor", "position"), [-1.5, -1.1, 50.0], "sensor.position: has z = 50"),
    "unknown colour filters": (
        ("sensor", "bayer"),
        "RGBG",
        "cam.yaml: sensor.bayer: is 'RGBG' (give one of RGGB, GRBG, GBRG, BGGR)",
    ),
    "colour filters that are no text": (("sensor", "bayer"), True, "sensor.bayer: input should be a valid string"),
    "black level in numbers": (
        ("sensor", "black_level"),
        64,
        "cam.yaml: sensor.black_level: is 64, needs a number ≥ 0 and < 1 (give it as a part of full scale",
    ),
    "negative black level": (("sensor", "black_level"), -0.1, "sensor.black_level: is -0.1, needs a number ≥ 0"),
    "black level as text": (("sensor", "black_level"), "low", "sensor.black_level: input should be a valid number"),
    "unknown arrangement": (("micro_images", "arrangement"), "hexagonal", "micro_images.arrangement: input should be"),
    "parity": (("micro_images", "shifted_parity"), 2, "micro_images.shifted_parity: input should be 0 or 1"),
    "ragged pattern": (("micro_images", "type_pattern"), [[0, 1], [2]], "micro_images.type_pattern: rows differ"),
    "type left out": (("micro_images", "type_pattern"), [[0, 2]], "micro_images.type_pattern: needs a table"),
    "absurd type": (("micro_images", "type_pattern"), [[0, 10**12]], "micro_images.type_pattern.0.1: input should be"),
    "too few focal lengths": (("micro_lenses", "focal_lengths"), [0.5], "micro_lenses.focal_lengths: lists 1"),
    "singular pose": (
        ("micro_lenses", "rotation"),
        [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
        "micro_lenses.rotation: is sing",
    ),
    "lenses behind the sensor": (
        ("micro_lenses", "translation"),
        [-1.5, -1.0, -60.0],
        "micro_lenses.translation: puts",
    ),
    "lenses before the main lens": (
        ("micro_lenses", "translation"),
        [-1.5, -1.0, 9.0],
        "micro_lenses.translation: puts",
    ),
    "negative blur": (("blur_coefficient",), -1.0, "blur_coefficient: is -1.0"),
    "focus distance": (("focus_distance",), "far", "focus_distance: input should be a valid number"),
    "negative focus distance": (("focus_distance",), -5, "focus_distance: is -5.0"),
    "white radii": (("white_radius", "intercepts"), [0.1], "white_radius.intercepts: needs 3 numbers"),
    "covariance shape": (("provenance", "covariance", "matrix"), [[1.0]], "provenance.covariance: has shape (1, 1)"),
    "ragged covariance": (
        ("provenance", "covariance", "matrix"),
        [[1.0, 2.0], [3.0]],
        "covariance.matrix: rows differ",
    ),
    "skew covariance": (("provenance", "covariance", "matrix"), [[1, 0], [1, 1]], "covariance: is not symmetric"),
    "residual": (("provenance", "residuals", "rmse_uv"), "small", "provenance.residuals.rmse_uv: input should be"),
    "kind": (("kind",), "pinhole", "kind: is 'pinhole', needs 'plenoptic', 'grid'"),
    "part": (("sensor",), [1, 2], "sensor: input should be a valid dictionary"),
    "version": ((VERSION_KEY,), 2, "plenodepth_camera: is 2, this version of plenodepth reads 1"),
    "version text": ((VERSION_KEY,), "one", "plenodepth_camera: is 'one', this version"),
    "deep foreign": (
        ("provenance", "foreign"),
        {"libpleno_camera": json.loads('{"a":' * 60 + "1" + "}" * 60)},
        "is nested too deep",
    ),
}


@pytest.mark.parametrize(("keys", "value", "message"), BAD_VALUES.values(), ids=BAD_VALUES.keys())
def test_a_bad_value_is_named(keys: Keys, value: Any, message: str) -> None:
    assert message in error_of(changed(keys, value=value))


def test_a_grid_file_refuses_what_belongs_to_optics() -> None:
    content = {**CONTENT, "kind": "grid", "image": {"width": 560, "height": 404}, "virtual_depth_ranges": [[1, 2]] * 3}
    error = error_of(content)
    assert "sensor: unknown key" in error
    for key in ("sensor", "main_lens", "micro_lenses", *(keys[0] for keys in OPTIONAL if len(keys) == 1)):
        content.pop(key, None)
    assert camera_from_content(content, "cam.yaml").micro_images.type_count == 3
    assert "virtual_depth_ranges: needs 3 pairs" in error_of({**content, "virtual_depth_ranges": [[1, 2]]})


# --- damaged files ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def damaged_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "camera"


FORMATS = {".yaml": native_text(FULL, "a", as_json=False), ".json": native_text(FULL, "a", as_json=True)}


@pytest.mark.parametrize("suffix", FORMATS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_file_is_a_camera_or_one_line(damaged_file: Path, suffix: str, data: st.DataObject) -> None:
    loaded_or_refused(damaged_file.with_suffix(suffix), data.draw(damaged(FORMATS[suffix].encode())))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_truncated_file_is_refused_unless_only_its_source_is_shorter(damaged_file: Path, suffix: str) -> None:
    whole = FORMATS[suffix].rstrip().encode()  # without the last line's end the file is still whole
    for end in range(0, len(whole), 13):
        camera = loaded_or_refused(damaged_file.with_suffix(suffix), whole[:end])
        if camera is not None:
            assert suffix == ".yaml", "JSON cut short is never JSON"
            assert all(d.startswith(".provenance.source") for d in differences(camera, FULL))


# --- exit pupil -------------------------------------------------------------------------------------------------


PUPILS = [ExitPupil(), ExitPupil(7.25), ExitPupil(-3.0, 11.5), ExitPupil(20.0, None, (0.4, -0.25))]


@pytest.mark.parametrize("pupil", PUPILS, ids=str)
@pytest.mark.parametrize("as_json", [True, False])
def test_an_exit_pupil_is_written_and_read(pupil: ExitPupil, as_json: bool) -> None:
    camera = replace(FULL, main_lens=replace(FULL.main_lens, exit_pupil=pupil))
    assert differences(read_back(camera, as_json), camera) == []
    written = content_of_camera(camera)["main_lens"]["exit_pupil"]
    assert ("diameter" in written) == (pupil.diameter is not None)
    assert ("offset" in written) == any(pupil.offset)


def test_nothing_of_real_lenses_is_written_where_nothing_is_set() -> None:
    bare = content_of_camera(base("r12-mini"))
    assert "exit_pupil" not in bare["main_lens"]
    assert "clear_aperture" not in bare["micro_lenses"]
    assert "aperture_aware" not in bare["provenance"]


def test_the_f_number_may_be_left_out_where_the_pupil_has_no_diameter_of_its_own() -> None:
    content = copy.deepcopy(CONTENT)
    del content["main_lens"]["f_number"], content["main_lens"]["exit_pupil"]["diameter"]
    camera = camera_from_content(content, "cam.yaml")
    assert [
        d for d in differences(camera, FULL) if not d.startswith((".main_lens.f_number", ".main_lens.exit_pupil"))
    ] == []


@pytest.mark.parametrize(
    ("pupil", "f_number", "field"),
    [
        ({"distance": 5.0, "radius": 3.0}, 4.0, "main_lens.exit_pupil.radius"),
        ({"distance": "far"}, 4.0, "main_lens.exit_pupil.distance"),
        ({"distance": True}, 4.0, "main_lens.exit_pupil.distance"),
        ({"distance": 60.0}, 4.0, "main_lens.exit_pupil.distance"),
        ({"diameter": 0.0}, 4.0, "main_lens.exit_pupil.diameter"),
        ({"offset": [1.0]}, 4.0, "main_lens.exit_pupil.offset.1"),
        ({"offset": [1.0, "aside"]}, 4.0, "main_lens.exit_pupil.offset.1"),
        ({"diameter": 9.0}, None, "main_lens.exit_pupil.diameter"),
        (12.0, 4.0, "main_lens.exit_pupil"),
    ],
)
def test_an_impossible_exit_pupil_is_named(pupil: Any, f_number: float | None, field: str) -> None:
    content = copy.deepcopy(CONTENT)
    content["main_lens"] |= {"exit_pupil": pupil, "f_number": f_number}
    with pytest.raises(InputError) as error:
        camera_from_content(content, "a.yaml")
    assert error.value.field == field


# --- clear aperture, and how a camera was calibrated --------------------------------------------------------------


@pytest.mark.parametrize("as_json", [True, False])
def test_a_clear_aperture_is_written_and_read(as_json: bool) -> None:
    camera = replace(FULL, micro_lenses=replace(FULL.micro_lenses, clear_aperture=0.92))
    assert differences(read_back(camera, as_json), camera) == []
    assert camera.micro_lenses.lens_diameter == pytest.approx(0.92 * camera.micro_lenses.pitch.mean())


@pytest.mark.parametrize("value", [0.0, -0.5, 1.5, "wide", True])
def test_an_impossible_clear_aperture_is_named(value: Any) -> None:
    content = copy.deepcopy(CONTENT)
    content["micro_lenses"]["clear_aperture"] = value
    with pytest.raises(InputError) as error:
        camera_from_content(content, "a.yaml")
    assert error.value.field == "micro_lenses.clear_aperture"


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("aware", [True, False])
def test_a_file_says_whether_the_calibration_regarded_the_aperture(aware: bool, as_json: bool) -> None:
    camera = replace(FULL, provenance=replace(FULL.provenance, aperture_aware=aware))
    assert read_back(camera, as_json).provenance.aperture_aware is aware


def test_an_older_file_does_not_say_it_unless_it_came_from_libpleno() -> None:
    content = copy.deepcopy(CONTENT)
    content["provenance"].pop("aperture_aware", None)
    content["provenance"]["foreign"] = {}
    assert camera_from_content(content, "a.yaml").provenance.aperture_aware is None
    content["provenance"]["foreign"] = {"libpleno_camera": {"I": "3"}}
    assert camera_from_content(content, "a.yaml").provenance.aperture_aware is False


def test_a_word_is_no_answer_to_whether_the_aperture_was_regarded() -> None:
    content = copy.deepcopy(CONTENT)
    content["provenance"]["aperture_aware"] = "yes"
    with pytest.raises(InputError) as error:
        camera_from_content(content, "a.yaml")
    assert error.value.field == "provenance.aperture_aware"
