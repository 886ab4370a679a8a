"""views.json: damaged ones are refused by a line that names the field."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plenodepth.camera import Pinhole, ViewGeometry, load_views, save_views
from plenodepth.errors import InputError

VIEW = ViewGeometry("a", 20, 10, Pinhole(100.0, 101.0, 9.5, 4.5, np.array([1.0, 2.0, 0.0])))


def test_there_and_back(tmp_path: Path) -> None:
    save_views([VIEW], tmp_path)
    (read,) = load_views(tmp_path)
    assert read.content() == VIEW.content()
    assert read.shape == (10, 20)
    assert np.array_equal(read.pinhole.matrix, [[100, 0, 9.5], [0, 101, 4.5], [0, 0, 1]])


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["views"][0].update(values)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content.pop("plenodepth_views"), "plenodepth_views"),
        (lambda content: content.update(views=[]), "views: is no list"),
        (lambda content: content["views"].append(content["views"][0]), "not all different"),
        (_set(name="../x"), "views.0.name"),
        (_set(width=2.5), "2.5 × 10"),
        (_set(fx=-1), "fx, fy: are not > 0"),
        (_set(cx="a"), "views.0.cx: is no number"),
        (_set(center=[0, 0]), "views.0.center"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: Callable[[dict[str, Any]], None], words: str) -> None:
    content = {"plenodepth_views": 1, "views": [VIEW.content()]}
    damage(content)
    (tmp_path / "views.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as error:
        load_views(tmp_path)
    assert words in str(error.value)
    assert "views.json" in str(error.value)
