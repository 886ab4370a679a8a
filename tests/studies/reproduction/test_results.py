"""`results.json` holds all of a result: what is read is what was written."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from reproductions import reproduction

from plenodepth.errors import InputError
from plenodepth.studies.reproduction.results import as_content, load_results, save_results


def types_of(value: Any) -> Any:
    """The types of a result, part by part."""
    if is_dataclass(value):
        return type(value), {part.name: types_of(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, dict):
        return {name: types_of(part) for name, part in value.items()}
    return tuple(types_of(part) for part in value) if isinstance(value, tuple) else type(value)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    result = reproduction(tmp_path)
    save_results(result, tmp_path / "results.json")
    again = load_results(tmp_path / "results.json")
    assert types_of(again) == types_of(result)
    assert as_content(again) == as_content(result)


def test_what_has_no_number_is_null_in_the_file_and_nan_here(tmp_path: Path) -> None:
    save_results(reproduction(tmp_path), tmp_path / "results.json")
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert content["experiments"]["relative"]["values"]["datasets"]["r12-es"]["DISP"]["frames"][3]["depth"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "is not valid JSON"), ("[]", "is no result"), ('{"experiments": {"scale": {"values": {}}}}', "datasets")],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "results.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_results(tmp_path / "results.json")
