"""Scenes by name: those that ship with the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from plenodepth.errors import InputError
from plenodepth.sim.scenes.scene_file import load_scene
from plenodepth.sim.scenes.scene_names import scene_names, scene_path

EXAMPLES = Path(__file__).parents[3] / "examples" / "scenes"


def test_all_example_scenes_ship_and_load() -> None:
    assert scene_names() == sorted(path.stem for path in EXAMPLES.iterdir())
    assert "figurines" in scene_names()
    for name in scene_names():
        assert scene_path(name).read_bytes() == (EXAMPLES / f"{name}.yaml").read_bytes()
        assert load_scene(name).objects


def test_a_file_of_the_name_of_a_shipped_scene_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scene_path("plane").name == "plane.yaml"
    (tmp_path / "plane").write_text("")
    assert scene_path("plane") == Path("plane")


@pytest.mark.parametrize("given", ["plane.yaml", "scenes/plane", "./missing.json"])
def test_paths_stay_as_they_are(given: str) -> None:
    assert scene_path(given) == Path(given)


def test_an_unknown_name_lists_the_scenes() -> None:
    with pytest.raises(InputError, match=r"^plain: is neither .* \(give a file, or .*figurines, plane, shapes\)$"):
        scene_path("plain")
