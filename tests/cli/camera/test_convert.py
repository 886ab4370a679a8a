"""plenodepth camera convert: from any file to any other, whole or not at all."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Refused, Run
from comparing import assert_same_fields, differences
from parameter_file import PARAMETERS
from random_cameras import base
from vendor_grid import grid_xml

from plenodepth.camera import ExitPupil, fitted_to_lenses, load_camera, preset, save_camera
from plenodepth.io import read_tree

ROUND_TRIP_PRESETS = ("r12-b", "r12-a-pinhole", "upc-s", "r12-mini")


@pytest.fixture
def params(tmp_path: Path) -> Path:
    path = tmp_path / "params.js"
    path.write_text(json.dumps(PARAMETERS))
    return path


# --- what is written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", ["c.yaml", "c.json"])
@pytest.mark.parametrize("name", ROUND_TRIP_PRESETS)
def test_a_libpleno_camera_comes_back_field_by_field(succeeds: Run, tmp_path: Path, name: str, native: str) -> None:
    first, last = tmp_path / "first.js", tmp_path / "last.js"
    succeeds("camera", "convert", name, first)
    succeeds("camera", "convert", first, tmp_path / native)
    succeeds("camera", "convert", tmp_path / native, last)
    assert_same_fields(json.loads(last.read_text()), json.loads(first.read_text()))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["first.js", "last.js", native])


@pytest.mark.realdata
@pytest.mark.parametrize("native", ["c.yaml", "c.json"])
@pytest.mark.parametrize(
    ("camera", "parameters"),
    [("r12a/intrinsics.js", "r12a/params.js"), ("r12b/intrinsics.js", "r12b/params.js"), ("upc/camera.js", "")],
)
def test_the_authors_files_come_back_field_by_field(
    succeeds: Run, real_data: Path, tmp_path: Path, camera: str, parameters: str, native: str
) -> None:
    there = ("--params", real_data / parameters) if parameters else ()
    back = ("--params-out", tmp_path / "p.js") if parameters else ()
    succeeds("camera", "convert", real_data / camera, tmp_path / native, *there)
    succeeds("camera", "convert", tmp_path / native, tmp_path / "c.js", *back)
    assert_same_fields(json.loads((tmp_path / "c.js").read_text()), read_tree(real_data / camera).content)
    if parameters:
        assert_same_fields(json.loads((tmp_path / "p.js").read_text()), read_tree(real_data / parameters).content)


def test_native_files_convert_into_each_other_without_loss(succeeds: Run, tmp_path: Path) -> None:
    succeeds("camera", "convert", "r12-es", tmp_path / "a.yaml")
    succeeds("camera", "convert", tmp_path / "a.yaml", tmp_path / "b.json")
    succeeds("camera", "convert", tmp_path / "b.json", tmp_path / "c.yml")
    assert differences(load_camera(tmp_path / "c.yml"), base("r12-es")) == []
    assert (tmp_path / "c.yml").read_text() == (tmp_path / "a.yaml").read_text()


def test_a_vendor_grid_becomes_a_native_file(succeeds: Run, tmp_path: Path) -> None:
    (tmp_path / "grid.xml").write_text(grid_xml())
    succeeds("camera", "convert", tmp_path / "grid.xml", tmp_path / "g.yaml", "--image-size", "2048x1536")
    assert differences(
        load_camera(tmp_path / "g.yaml"), load_camera(tmp_path / "grid.xml", image_size=(2048, 1536))
    ) == []  # fmt: skip


def test_the_format_may_be_told_when_the_suffix_does_not(succeeds: Run, tmp_path: Path) -> None:
    for file_format in ("native", "libpleno"):
        succeeds("camera", "convert", "r12-mini", tmp_path / "c.camera", "--format", file_format)
        assert load_camera(tmp_path / "c.camera").main_lens == base("r12-mini").main_lens


def test_the_parameters_carry_kappa(succeeds: Run, tmp_path: Path, params: Path) -> None:
    succeeds("camera", "convert", "r12-mini", tmp_path / "c.js")
    out = succeeds("camera", "convert", tmp_path / "c.js", tmp_path / "c.yaml", "--params", params).out
    assert out == f"wrote {tmp_path / 'c.yaml'}\n", "on one line, however long the path is"
    assert load_camera(tmp_path / "c.yaml").blur_coefficient == 0.68
    back = tmp_path / "back.js"
    out = succeeds("camera", "convert", tmp_path / "c.yaml", tmp_path / "d.js", "--params-out", back).out
    assert out == f"wrote {tmp_path / 'd.js'} and {back}\n"
    assert_same_fields(json.loads(back.read_text()), PARAMETERS)


# --- what is not ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("r12-mini out/c.txt", "out/c.txt: does not tell the format by its suffix '.txt'"),
        ("r12-mini out/c.xml --format native", "out/c.xml: does not tell the format"),
        ("r12-mini nowhere/c.yaml", "nowhere/c.yaml: its folder does not exist"),
        ("r12-mini out", "out: does not tell the format"),
        ("r12-mini folder.yaml", "folder.yaml: is a folder"),
        ("missing.js out/c.yaml", "missing.js: is neither a file nor a preset"),
        ("out out/c.yaml", "out: is a folder"),
        ("r12-mini out/c.yaml --params-out out/p.js", "out/p.js: goes with a libpleno camera file only"),
        ("r12-mini out/c.js --params-out out/c.js", "out/c.js: would replace the camera file"),
        ("r12-mini out/c.js --params-out out/p.js", "out/c.js: white_radius: libpleno's parameter file needs it"),
        ("r12-mini out/c.yaml --params params.js", "params.js: goes with a libpleno camera file only"),
        ("camera.js out/c.yaml --params missing.js", "missing.js: does not exist"),
        ("camera.js out/c.yaml --params camera.js", "camera.js: m: is missing"),
        ("camera.js out/c.js --params params.js --params-out nowhere/p.js", "nowhere/p.js: its folder does not exist"),
        ("grid.xml out/c.yaml", "grid.xml: image_size: is not in a vendor's grid file"),
        ("grid.xml out/c.js --image-size 2048x2048", "out/c.js: libpleno's format needs the optics"),
        ("grid.xml out/c.yaml --image-size big", "--image-size: is 'big'"),
        ("spoilt.yaml out/c.js", "spoilt.yaml: main_lens.focal_length: is -50.0"),
        ("params.js out/c.yaml", "params.js: plenodepth_camera: is missing"),
    ],
)
def test_nothing_is_written_when_anything_is_wrong(
    refused: Refused, tmp_path: Path, params: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    for folder in (out, tmp_path / "folder.yaml"):
        folder.mkdir()
    save_camera(base("r12-mini"), "camera.js")
    save_camera(base("r12-mini"), "spoilt.yaml")
    spoilt = Path("spoilt.yaml").read_text().replace("focal_length: 50.1", "focal_length: -50.0\n#")
    Path("spoilt.yaml").write_text(spoilt.replace("main_lens: {", "main_lens:\n  ").replace(", f_number: 4.0}", ""))
    Path("grid.xml").write_text(grid_xml())
    (out / "c.yaml").write_text("old")
    (out / "c.js").write_text("old")
    before = sorted(tmp_path.rglob("*"))

    assert refused("camera", "convert", *arguments.split()).startswith(error)
    assert sorted(tmp_path.rglob("*")) == before, "no file is new, none is left over"
    assert {path.read_text() for path in out.iterdir()} == {"old"}


def test_a_folder_that_may_not_be_written_is_named(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *_: object) -> int:  # not chmod: the tests may run as root
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("plenodepth.io.atomic.os.open", refuse)
    path = tmp_path / "c.yaml"
    assert refused("camera", "convert", "r12-mini", path).startswith(f"{path}: cannot be written: Permission denied")
    assert list(tmp_path.iterdir()) == []


def test_what_libpleno_s_file_cannot_hold_is_said(succeeds: Run, tmp_path: Path) -> None:
    camera = preset("r12-mini")
    real = replace(
        camera,
        main_lens=replace(camera.main_lens, exit_pupil=ExitPupil(12.0)),
        micro_lenses=replace(camera.micro_lenses, clear_aperture=0.9),
    )
    save_camera(fitted_to_lenses(real), tmp_path / "real.yaml")
    said = " ".join(succeeds("camera", "convert", tmp_path / "real.yaml", tmp_path / "real.js").out.split())
    assert "does not hold the exit pupil" in said
    assert "does not hold the clear aperture" in said
    for thin in (ExitPupil(), ExitPupil(0.0, camera.main_lens.aperture_diameter)):
        same = replace(camera, main_lens=replace(camera.main_lens, exit_pupil=thin))
        save_camera(same, tmp_path / "thin.yaml")
        assert "does not hold" not in succeeds("camera", "convert", tmp_path / "thin.yaml", tmp_path / "a.js").out
    assert "does not hold" not in succeeds("camera", "convert", tmp_path / "real.yaml", tmp_path / "b.json").out
