"""load_camera and save_camera: every kind of file, and what goes wrong with files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from comparing import differences
from corner_grids import corners_of, tlct_text, tspc_xml
from parameter_file import PARAMETERS
from random_cameras import base
from vendor_grid import grid_xml

from plenodepth.camera import (
    PRESETS,
    GridCamera,
    PlenopticCamera,
    load_camera,
    load_plenoptic_camera,
    needs_image_size,
    preset,
    save_camera,
)
from plenodepth.camera.files.any_format import FileFormat
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement

MINI = base("r12-mini")


def refused(file: str | Path, message: str, call: Callable[[], object]) -> None:
    """The call raises one line that starts with the file and the message (a field, most often)."""
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(f"{file}: {message}")
    assert len(str(caught.value).splitlines()) == 1


# --- loading ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_loaded_by_its_name(name: str) -> None:
    assert differences(load_camera(name), preset(name)) == []


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("file", ["c.yml", "c.json"])
def test_a_native_file_gives_back_the_preset(tmp_path: Path, name: str, file: str) -> None:
    camera = base(name)
    save_camera(camera, tmp_path / file)
    assert differences(load_camera(tmp_path / file), camera) == []
    assert list(tmp_path.iterdir()) == [tmp_path / file]


@pytest.mark.parametrize("file_format", ["native", "libpleno"])
@pytest.mark.parametrize("file", ["c.yaml", "c.json", "c.js", "c.YAML", "c.txt", "c"])
def test_whatever_is_written_is_recognised(tmp_path: Path, file: str, file_format: FileFormat) -> None:
    save_camera(MINI, tmp_path / file, file_format=file_format)
    assert load_camera(tmp_path / file).main_lens == MINI.main_lens


def test_the_suffix_tells_the_format(tmp_path: Path) -> None:
    for name in ("c.yaml", "c.json", "c.js"):
        save_camera(MINI, tmp_path / name)
    assert (tmp_path / "c.yaml").read_text().startswith("plenodepth_camera: 1\nname: r12-mini\n")
    assert json.loads((tmp_path / "c.json").read_text())["plenodepth_camera"] == 1
    assert set(json.loads((tmp_path / "c.js").read_text())) >= {"mla", "mia", "main_lens", "sensor"}


def test_a_vendor_grid_is_a_camera_without_optics(tmp_path: Path) -> None:
    path = tmp_path / "grid.xml"
    path.write_text(grid_xml())
    camera = load_camera(path, image_size=(2048, 1536))
    assert isinstance(camera, GridCamera)
    assert (camera.name, camera.width, camera.height) == ("grid", 2048, 1536)
    for name in ("g.yaml", "g.json"):
        save_camera(camera, tmp_path / name)
        assert differences(load_camera(tmp_path / name), camera) == []


def test_a_file_hides_the_preset_of_its_name_and_a_folder_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r12-e").mkdir()
    assert load_camera("r12-e").name == "r12-e"
    save_camera(MINI, tmp_path / "r12-b", file_format="native")
    assert load_camera("r12-b").name == "r12-mini"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text on other systems")
def test_a_file_name_of_any_bytes_gives_a_name_that_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9.js"  # as Linux hands over the name of a file that is not UTF-8
    save_camera(MINI, path)
    camera = load_camera(path)
    assert camera.name == "caf?"
    save_camera(camera, tmp_path / "c.json")
    assert load_camera(tmp_path / "c.json").name == "caf?"


def test_only_a_camera_with_optics_is_metric(tmp_path: Path) -> None:
    assert isinstance(load_plenoptic_camera("r12-mini"), PlenopticCamera)
    xml, native = tmp_path / "grid.xml", tmp_path / "grid.yaml"
    xml.write_text(grid_xml())
    save_camera(load_camera(xml, image_size=(2048, 2048)), native)
    for path in (xml, native):
        refused(path, "holds the grid only", lambda path=path: load_plenoptic_camera(path))


# --- loading what is no camera ----------------------------------------------------------------------------------

NO_CAMERA = {
    "empty.yaml": (b"", "does not hold a mapping"),
    "empty.json": (b"", "line 1, column 1: is not valid JSON"),
    "list.yaml": (b"- 1\n- 2\n", "does not hold a mapping"),
    "list.json": (b"[1, 2]", "holds a list, not a JSON object"),
    "text.txt": (b"dear diary", "does not hold a mapping"),
    "other.yaml": (b"colour: red\n", "plenodepth_camera: is missing"),
    "other.js": (b'{"poses": []}', "plenodepth_camera: is missing"),
    "binary.yaml": (b"\x89PNG\r\n\x1a\n\x00\xff", "is not UTF-8 text"),
    "zeros.yaml": (b"\x00" * 64, "is not valid YAML: unacceptable character"),
    "zip.js": (b"\x1f\x8b\x08\x00", "is not UTF-8 text"),
    "html.xml": (b"<html></html>", "its root element is <html>"),
    "version.yaml": (b"plenodepth_camera: 2\n", "plenodepth_camera: is 2, this version"),
    "twice.yaml": (
        b"plenodepth_camera: 1\nkind: grid\nkind: grid\n",
        "line 3, column 1: is not valid YAML: key 'kind'",
    ),
    "twice.json": (b'{"plenodepth_camera": 1, "kind": "grid", "kind": "grid"}', "kind: is there twice"),
    "cut.js": (b'{"mia": {"mesh": ', "line 1, column 18: is not valid JSON"),
}


@pytest.mark.parametrize("name", NO_CAMERA)
def test_what_is_no_camera_is_told(tmp_path: Path, name: str) -> None:
    data, message = NO_CAMERA[name]
    path = tmp_path / name
    path.write_bytes(data)
    size = (2048, 2048) if path.suffix == ".xml" else None
    refused(path, message, lambda: load_camera(path, image_size=size))


@pytest.mark.parametrize("name", ["r12-z", "missing.yaml", "a" * 300, "no/such/folder.js", "\0"])
def test_a_missing_file_lists_the_presets(name: str) -> None:
    shown = name.replace("\0", "\\x00")  # of which a terminal shows nothing
    refused(shown, "is neither a file nor a preset (r12-a, r12-b", lambda: load_camera(name))


def test_a_folder_is_no_camera(tmp_path: Path) -> None:
    refused(tmp_path, "is a folder", lambda: load_camera(tmp_path))


def test_a_vendor_grid_needs_the_size_of_the_image(tmp_path: Path) -> None:
    path = tmp_path / "grid.xml"
    path.write_text(grid_xml())
    refused(path, "image_size: is not in a vendor's grid file", lambda: load_camera(path))


def test_options_of_another_format_are_refused(tmp_path: Path) -> None:
    native, xml = tmp_path / "c.yaml", tmp_path / "grid.xml"
    save_camera(MINI, native)
    xml.write_text(grid_xml())
    for source in ("r12-mini", native):
        refused(source, "image_size: goes with a vendor's grid", lambda s=source: load_camera(s, image_size=(9, 9)))
        refused("p.js", "goes with a libpleno camera", lambda s=source: load_camera(s, parameters="p.js"))
    refused("p.js", "goes with a libpleno", lambda: load_camera(xml, image_size=(2048, 2048), parameters="p.js"))


def test_absurd_numbers_are_an_error_and_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "c.js"
    save_camera(MINI, path)
    content = json.loads(path.read_text())
    for size in ("1e308", "1e-308"):
        content["sensor"]["scale"] = size
        path.write_text(json.dumps(content))
        refused(path, "mla.mesh: puts micro-image centres", lambda: load_camera(path))


# --- saving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["c.txt", "c", "c.xml", "c.yaml.gz"])
def test_a_suffix_that_tells_no_format_is_refused(tmp_path: Path, name: str) -> None:
    refused(tmp_path / name, "does not tell the format by its suffix", lambda: save_camera(MINI, tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_load_camera_takes_for_a_vendor_grid_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "c.xml"
    refused(path, "does not tell the format", lambda: save_camera(MINI, path, file_format="native"))


def test_a_grid_has_no_place_in_a_libpleno_file(tmp_path: Path) -> None:
    (tmp_path / "grid.xml").write_text(grid_xml())
    grid = load_camera(tmp_path / "grid.xml", image_size=(2048, 2048))
    refused(tmp_path / "c.js", "libpleno's format needs the optics", lambda: save_camera(grid, tmp_path / "c.js"))


def with_white_radius(tmp_path: Path) -> PlenopticCamera:
    """r12-mini as it comes from a libpleno camera file with its parameter file."""
    (tmp_path / "params.js").write_text(json.dumps(PARAMETERS))
    save_camera(MINI, tmp_path / "camera.js")
    return load_plenoptic_camera(tmp_path / "camera.js", parameters=tmp_path / "params.js")


def test_two_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    camera = with_white_radius(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    save_camera(camera, out / "c.js", parameters=out / "p.js")
    assert sorted(path.name for path in out.iterdir()) == ["c.js", "p.js"]

    (out / "c.js").write_text("old")
    missing = tmp_path / "no" / "p.js"
    refused(missing, "its folder does not exist", lambda: save_camera(camera, out / "c.js", parameters=missing))
    refused(out / "c.js", "white_radius:", lambda: save_camera(MINI, out / "c.js", parameters=out / "q.js"))
    assert (out / "c.js").read_text() == "old"
    assert sorted(path.name for path in out.iterdir()) == ["c.js", "p.js"]


def test_parameters_may_not_replace_the_camera(tmp_path: Path) -> None:
    camera = with_white_radius(tmp_path)
    (tmp_path / "sub").mkdir()
    other_spelling = tmp_path / "sub" / ".." / "c.js"
    refused(
        other_spelling,
        "would replace the camera file",
        lambda: save_camera(camera, tmp_path / "c.js", parameters=other_spelling),
    )
    assert not (tmp_path / "c.js").exists()


def test_parameters_go_with_a_libpleno_file_only(tmp_path: Path) -> None:
    camera = with_white_radius(tmp_path)
    refused("p.js", "goes with a libpleno", lambda: save_camera(camera, tmp_path / "c.yaml", parameters="p.js"))
    assert not (tmp_path / "c.yaml").exists()


def test_saving_over_a_file_that_was_loaded_is_safe(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    save_camera(MINI, path)
    save_camera(load_camera(path), path)
    assert differences(load_camera(path), MINI) == []


# --- grids of other programs ------------------------------------------------------------------------------------


def test_grids_of_other_programs_are_told_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "vendor.xml").write_text(grid_xml())
    (tmp_path / "tspc.xml").write_text(tspc_xml(corners_of(Arrangement.HEXAGONAL_COLUMNS, 21, 16, (30, 30))))
    for name in ("tlct.cfg", "tlct.txt"):
        (tmp_path / name).write_text(tlct_text())
    for name, source in (("vendor.xml", "the vendor's"), ("tspc.xml", "the TSPC"), ("tlct.cfg", "TLCT's")):
        size = (600, 520) if name.endswith(".xml") else None
        camera = load_camera(tmp_path / name, image_size=size)
        assert camera.provenance.source.startswith(f"imported from {source}")
        save_camera(camera, tmp_path / "g.yaml")
        assert differences(load_camera(tmp_path / "g.yaml"), camera) == []
    assert differences(load_camera(tmp_path / "tlct.txt"), load_camera(tmp_path / "tlct.cfg")) == []


def test_only_a_grid_without_image_size_needs_it(tmp_path: Path) -> None:
    (tmp_path / "grid.xml").write_text(grid_xml())
    (tmp_path / "calib.cfg").write_text(tlct_text())
    save_camera(MINI, tmp_path / "c.yaml")
    assert needs_image_size(tmp_path / "grid.xml")
    for source in (tmp_path / "calib.cfg", tmp_path / "c.yaml", "r12-mini", "missing.xml"):
        assert not needs_image_size(source)


def test_an_image_size_that_the_file_contradicts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calib.cfg"
    path.write_text(tlct_text(size=(640, 480)))
    assert load_camera(path, image_size=(640, 480)).width == 640
    refused(path, "image_size: differs from the 640 × 480 px", lambda: load_camera(path, image_size=(480, 640)))


def test_a_native_file_may_have_any_suffix(tmp_path: Path) -> None:
    save_camera(MINI, tmp_path / "c.cfg", file_format="native")
    assert differences(load_camera(tmp_path / "c.cfg"), MINI) == []
    no_grid = "image_size: goes with a vendor's grid"
    refused(tmp_path / "c.cfg", no_grid, lambda: load_camera(tmp_path / "c.cfg", image_size=(9, 9)))


def test_a_grid_of_tlct_is_not_metric(tmp_path: Path) -> None:
    (tmp_path / "calib.cfg").write_text(tlct_text())
    refused(tmp_path / "calib.cfg", "holds the grid only", lambda: load_plenoptic_camera(tmp_path / "calib.cfg"))
