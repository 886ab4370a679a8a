"""Settings files: strict, complete, and the same again after writing."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from plenodepth.depth.dense_settings import DenseSettings
from plenodepth.depth.filters import FilterSettings
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.settings_file import SettingsFile, load_settings, save_settings, settings_content
from plenodepth.errors import InputError
from plenodepth.io import json_text

DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
OTHER = SettingsFile(
    DepthSettings(refined=True, hypotheses=48, virtual_range=(2.5, 12.0), window=7, blur_coefficient=0.4),
    FilterSettings(near=0.0, far=math.inf, consistency=True, sigma_v=1e-05),
)


def written(folder: Path, text: str, name: str = "settings.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_settings(path)
    assert caught.value.file == str(path)
    return str(caught.value).removeprefix(f"{path}: ")


def test_what_is_not_said_keeps_its_default(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "depth: {window: 7, virtual_range: [2, 12.5]}")) == SettingsFile(
        DepthSettings(window=7, virtual_range=(2.0, 12.5))
    )
    assert load_settings(written(tmp_path, "filters:\n  far: 2000\n")) == SettingsFile(
        filters=FilterSettings(far=2000.0)
    )
    assert load_settings(written(tmp_path, "depth:\n  # window: 7\nfilters:\n")) == SettingsFile()
    assert load_settings(written(tmp_path, "# nothing\n")) == SettingsFile()


@pytest.mark.parametrize("settings", [SettingsFile(), OTHER])
@pytest.mark.parametrize("name", ["settings.yaml", "settings.json"])
def test_files_come_back_as_they_were_saved(tmp_path: Path, settings: SettingsFile, name: str) -> None:
    save_settings(settings, tmp_path / name)
    assert load_settings(tmp_path / name) == settings


def test_the_record_of_a_frame_is_a_settings_file(tmp_path: Path) -> None:
    record = {"plenodepth": "0.1.0", "image": "raw", "settings": settings_content(OTHER)}
    assert load_settings(written(tmp_path, json_text(record), "raw.json")) == OTHER
    record["settings"]["depth"]["windw"] = 3  # type: ignore[index]
    assert refusal(written(tmp_path, json_text(record), "raw.json")).startswith("settings.depth.windw: unknown key")


@pytest.mark.parametrize("number", ["1e-2", "0.01", "1.0e-2", "+1E-2"])
def test_numbers_may_have_an_exponent(tmp_path: Path, number: str) -> None:
    settings = load_settings(written(tmp_path, f"depth: {{least_contrast: {number}}}"))
    assert settings.depth.least_contrast == 0.01


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth: {windw: 5}", "depth.windw: unknown key (did you mean window?)"),
        ("filter: {near: 5}", "filter: unknown key (did you mean filters?)"),
        ("window: 5", "window: unknown key (put it below depth:)"),
        ("sigma_v: 5", "sigma_v: unknown key (put it below filters:)"),
        ("plenodepth_scene: 1", "plenodepth_scene: unknown key (known are depth, filters, dense)"),
        ("depth: {window: five}", "depth.window: is 'five', needs a valid integer"),
        ("depth: {window: 5.5}", "depth.window: is 5.5, needs a valid integer"),
        ('depth: {window: "5"}', "depth.window: is '5', needs a valid integer"),
        ("depth: {window: true}", "depth.window: is true, needs a valid integer"),
        ("depth: {window: null}", "depth.window: is null, needs a valid integer"),
        ("depth: {margin: yes}", "depth.margin: is true, needs a valid number"),
        ("depth: {refined: 1}", "depth.refined: is 1, needs a valid boolean"),
        ("depth: {equalisation: blur}", "depth.equalisation: is 'blur', needs 'mixture' or 's_transform'"),
        ("depth: {virtual_range: [2, wide]}", "depth.virtual_range.1: is 'wide', needs a valid number"),
        ("depth: {virtual_range: [2]}", "depth.virtual_range.1: is missing"),
        ("depth: {virtual_range: 2}", "depth.virtual_range: is 2, needs a valid tuple"),
        ("depth: {window: 4}", "depth.window: cannot be 4 (the default is 5)"),
        ("depth: {margin: .nan}", "depth.margin: cannot be nan (the default is null)"),
        ("filters: {far: -800}", "filters.far: cannot be -800.0 (the default is null)"),
        (
            "filters: {near: 900, far: 800}",
            "filters.far: the far limit, 800 mm, is not beyond the near one, 900 mm (raise filters.far, --max-z, or "
            "lower filters.near, --min-z)",
        ),
        ("depth: 5", "depth: is 5, not keys with values (give the sections depth, filters, dense)"),
        ("[1, 2]", "is a list, not keys with values (give the sections depth, filters, dense)"),
        ("depth: {window: 5, window: 7}", "line 1, column 20: is not valid YAML: key 'window' is there twice"),
    ],
)
def test_mistakes_name_the_field_and_the_repair(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(written(tmp_path, text)) == message


def test_a_key_like_no_other_gets_the_list_of_all(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, "depth: {zzz: 5}"))
    assert all(part.name in message for part in fields(DepthSettings))


def test_json_is_as_strict(tmp_path: Path) -> None:
    assert "valid JSON" in refusal(written(tmp_path, "{", "a.json"))
    assert refusal(written(tmp_path, '{"depth": {}, "depth": {}}', "a.json")).startswith("depth: is there twice")
    assert refusal(written(tmp_path, '{"depth": {"window": 4.0}}', "a.json")).startswith("depth.window: is 4.0")
    assert "does not exist" in refusal(tmp_path / "gone.yaml")


def test_all_settings_can_be_written_as_strict_json() -> None:
    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not JSON")

    content: dict[str, Any] = json.loads(json_text(settings_content(OTHER)), parse_constant=refuse)
    assert content["filters"]["far"] == "infinity"
    assert set(content["depth"]) == {part.name for part in fields(DepthSettings)}
    assert set(content["filters"]) == {part.name for part in fields(FilterSettings)}


def test_the_documented_file_says_every_setting_and_its_default(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(depth:.*?)```", DOCUMENTATION.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    assert load_settings(written(tmp_path, example[1])) == SettingsFile()
    documented = set(re.findall(r"^  (\w+):", example[1], re.MULTILINE))
    assert documented == {part.name for kind in (DepthSettings, FilterSettings, DenseSettings) for part in fields(kind)}
