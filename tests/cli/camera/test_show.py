"""plenodepth camera show: parameters and what follows from them, as tables, JSON and a figure."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cameras import keplerian
from commands import Refused, Run
from comparing import differences
from random_cameras import base
from vendor_grid import grid_xml

from plenodepth.camera import (
    PRESETS,
    depth_of_field,
    focus_planes,
    infinity_virtual_depth,
    lens_distances,
    metric_from_virtual,
    save_camera,
    usable_depth_range,
)
from plenodepth.camera.files.native import camera_from_content

# --- tables -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_shown(succeeds: Run, name: str) -> None:
    words = succeeds("camera", "show", name).words
    assert words.startswith(f"Camera {name} configuration ")
    assert "Over distance" in words
    assert ("Lens types" in words) == ("pinhole" not in name)


def test_the_table_holds_the_numbers_of_the_camera(succeeds: Run) -> None:
    words = succeeds("camera", "show", "r12-b").words
    assert "configuration galilean, 3 lens types" in words
    assert "main lens F, f-number 50.0109 mm, 4" in words
    assert "sensor 4080 × 3068 px of 5.5 µm" in words
    assert "micro-images 176 × 152, hexagonal rows" in words
    planes = focus_planes(base("r12-b"))
    assert all(f"{plane:.1f}" in words for plane in planes)
    near, far = usable_depth_range(base("r12-b"))
    assert f"usable range {near:.0f} … {far:.0f} mm" in words


def test_the_words_fit_the_camera(succeeds: Run) -> None:
    single = succeeds("camera", "show", "upc-s").words
    assert "unfocused, 1 lens type main" in single
    assert "focus distance h [mm] ∞" in single
    assert "lens array rotation x, y, z 0.0, 0.0, 0.0 µrad" in single
    assert "… ∞ mm" in single
    pinholes = succeeds("camera", "show", "r12-a-pinhole").words
    assert "galilean, pinholes" in pinholes
    assert "blur coefficient κ –" in pinholes
    assert "ρ0" not in pinholes


def test_a_keplerian_camera_has_negative_virtual_depths(succeeds: Run, tmp_path: Path) -> None:
    save_camera(keplerian(), tmp_path / "k.yaml")
    shown = succeeds("camera", "show", tmp_path / "k.yaml", "--json").json["derived"]
    assert shown["configuration"] == "keplerian"
    assert all(row["virtual_depth"] < 0 for row in shown["table"])


def test_a_camera_of_unknown_aperture_is_shown_without(succeeds: Run, tmp_path: Path) -> None:
    camera = base("r12-mini")
    camera = replace(camera, main_lens=replace(camera.main_lens, f_number=None), focus_distance=None)
    save_camera(camera, tmp_path / "c.yaml")
    words = succeeds("camera", "show", tmp_path / "c.yaml").words
    assert "main lens F, f-number 50.1195 mm, –" in words
    assert "focus distance h [mm] –" in words


def test_names_are_printed_as_they_are(succeeds: Run, tmp_path: Path) -> None:
    save_camera(replace(base("r12-mini"), name="[red]a:car:b[/red]"), tmp_path / "c.yaml")
    assert succeeds("camera", "show", tmp_path / "c.yaml").out.startswith("Camera [red]a:car:b[/red]")


# --- JSON -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_json_holds_the_camera_itself(succeeds: Run, name: str) -> None:
    shown = succeeds("camera", "show", name, "--json").json
    assert set(shown) == {"camera", "derived"}
    assert differences(camera_from_content(shown["camera"], "stdout"), base(name)) == []


def test_json_holds_what_follows_from_the_camera(succeeds: Run) -> None:
    camera = base("r12-e")
    shown = succeeds(
        "camera", "show", "r12-e", "--json", "--virtual-range", 3, 10, "--blur-limit", 1, "--disparity-precision", 0.2
    ).json["derived"]
    assert shown["lens_types"] == 3
    assert shown["virtual_depth_of_infinity"] == infinity_virtual_depth(camera)
    assert shown["virtual_depth_range"] == [3, 10]
    assert shown["depth_range"] == list(usable_depth_range(camera, (3, 10)))
    assert shown["focus_planes"] == focus_planes(camera).tolist()
    assert shown["depth_of_field"] == np.stack(depth_of_field(camera, 1.0), axis=1).tolist()
    assert shown["distances"]["array_center"]["D"] == lens_distances(camera).to_main_lens
    table = shown["table"]
    np.testing.assert_allclose(
        [row["depth"] for row in table],
        metric_from_virtual([row["virtual_depth"] for row in table], camera),
        rtol=1e-12,
    )
    half = succeeds("camera", "show", "r12-e", "--json", "--virtual-range", 3, 10).json["derived"]["table"]
    np.testing.assert_allclose([r["precision"] for r in table], [2 * r["precision"] for r in half], rtol=1e-12)


def test_an_infinite_depth_is_null_in_json(succeeds: Run) -> None:
    shown = succeeds("camera", "show", "upc-s", "--json").json
    assert shown["derived"]["depth_range"][1] is None
    assert shown["camera"]["focus_distance"] == "infinity"


def test_a_long_lens_is_shown_over_its_own_range(succeeds: Run, tmp_path: Path) -> None:
    # Its nearest depth lies beyond a hundred focal lengths.
    camera = base("r12-mini")
    save_camera(
        replace(camera, main_lens=replace(camera.main_lens, focal_length=57.4), depth_scale=None), tmp_path / "c.yaml"
    )
    shown = succeeds("camera", "show", tmp_path / "c.yaml", "--json", "--virtual-range", 2, 20).json["derived"]
    depths = [row["depth"] for row in shown["table"]]
    assert depths == sorted(depths)
    assert depths[0] == pytest.approx(shown["depth_range"][0])
    assert depths[0] > 100 * 57.4


# --- a vendor's grid --------------------------------------------------------------------------------------------


def test_a_vendor_grid_is_shown_without_optics(succeeds: Run, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "grid.xml"
    path.write_text(grid_xml())
    words = succeeds("camera", "show", path, "--image-size", "2048x2048").words
    assert words.startswith("Camera grid (grid only, no optics) image 2048 × 2048 px micro-images ")
    assert "lens type 1 is sharp at v 2 … 4" in words
    shown = succeeds("camera", "show", path, "--image-size", "2048x2048", "--json").json
    assert shown["camera"]["kind"] == "grid"
    assert shown["derived"]["virtual_depth_ranges"] == [[1, 3], [2, 4], [3, 5]]
    figure = tmp_path / "f.png"
    error = refused("camera", "show", path, "--image-size", "2048x2048", "--figure", figure)
    assert error == f"{figure}: a grid without optics has no blur or precision to draw"
    assert not figure.exists()


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("r12-z", "r12-z: is neither a file nor a preset (r12-a, "),
        ("r12-e --image-size 20x20", "r12-e: image_size: goes with a vendor's grid"),
        ("r12-e --image-size 20", "--image-size: is '20' (give width and height"),
        ("r12-e --image-size 0x20", "--image-size: is '0x20'"),
        ("r12-e --params p.js", "p.js: goes with a libpleno camera file only"),
        ("r12-e --virtual-range 20 2", "--virtual-range: is 20 2 (give 0 < low < high)"),
        ("r12-e --virtual-range nan 2", "--virtual-range: is nan 2"),
        ("r12-e --virtual-range 2 inf", "--virtual-range: is 2 inf"),
        ("r12-e --disparity-precision 0", "--disparity-precision: is 0 px, needs a number > 0"),
        ("r12-e --disparity-precision inf", "--disparity-precision: is inf px"),
        ("r12-e --blur-limit -1", "--blur-limit: is -1 px"),
        ("r12-e --blur-limit nan", "--blur-limit: is nan px"),
        # No real object lies at or below the virtual depth of infinity.
        ("upc-s --virtual-range 1 3", "upc-s: virtual_range: [1, 3] holds no real object: infinity is at v = 3.40"),
        # Blur is asked of lenses that have no focal length.
        ("r12-a-pinhole --blur-limit 0.5", "r12-a-pinhole: micro_lenses.focal_lengths: camera 'r12-a-pinhole' has pin"),
    ],
)
def test_bad_options_are_named(refused: Refused, arguments: str, error: str) -> None:
    assert refused("camera", "show", *arguments.split()).startswith(error)


@pytest.mark.parametrize("name", ["f.xyz", "f", "f.pgf", "no/f.png", "."])
def test_a_figure_that_cannot_be_written_is_named(refused: Refused, tmp_path: Path, name: str) -> None:
    figure = tmp_path / name
    assert refused("camera", "show", "r12-mini", "--figure", figure).startswith(f"{figure}: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".js"])
def test_a_camera_file_cut_in_half_is_refused(refused: Refused, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c{suffix}"
    save_camera(base("r12-mini"), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert refused("camera", "show", path).startswith(f"{path}: ")


def test_a_bad_field_of_a_file_is_named(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    save_camera(base("r12-mini"), path)
    content = json.loads(path.read_text())
    for value, message in (
        (-50, "is -50.0, needs a number > 0 (give it in mm)"),
        ("NaN", "input should be a finite number"),
    ):
        content["main_lens"]["focal_length"] = value
        path.write_text(json.dumps(content))
        assert refused("camera", "show", path) == f"{path}: main_lens.focal_length: {message}"


@pytest.mark.realdata
def test_a_starting_camera_is_refused(refused: Refused, real_data: Path) -> None:
    path = real_data / "r12a" / "camera.js"
    assert refused("camera", "show", path).startswith(f"{path}: mla.mesh.pose: is missing: this is a starting camera")
