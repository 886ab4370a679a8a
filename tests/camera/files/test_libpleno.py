"""Cameras in libpleno's files: what is read, that every field comes back, and that a changed camera is not hidden."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cameras import rearranged
from comparing import assert_same_fields, differences, leaves
from damage import damaged, loaded_or_refused
from hypothesis import given, settings
from hypothesis import strategies as st
from parameter_file import PARAMETERS
from random_cameras import base

from plenodepth.camera import (
    Configuration,
    Distortion,
    PlenopticCamera,
    WhiteRadius,
    configuration,
    lens_distances,
    load_plenoptic_camera,
    save_camera,
)
from plenodepth.camera.files.libpleno import libpleno_from_camera, parameters_of_camera
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, PlanarPose
from plenodepth.io import tree_text

Tree = dict[str, Any]
ROUND_TRIP_PRESETS = ("r12-b", "r12-a-pinhole", "upc-s", "r12-mini")
ANGLE = ".micro_images.image_from_lattice.angle"
COMPUTED = ("D", "d", "pp", "Rxyz", "focal_planes")


def exported(camera: PlenopticCamera) -> Tree:
    """What :func:`save_camera` writes, read with nothing but a JSON parser."""
    tree: Tree = json.loads(tree_text(libpleno_from_camera(camera), "a.js"))
    return tree


def stored(folder: Path, tree: Tree, name: str = "camera.js") -> Path:
    path = folder / name
    path.write_text(json.dumps(tree))
    return path


def imported(folder: Path, tree: Tree) -> PlenopticCamera:
    return load_plenoptic_camera(stored(folder, tree))


def mini() -> Tree:
    return exported(base("r12-mini"))


# --- round trip -------------------------------------------------------------------------------------------------


def bare(tree: Tree) -> Tree:
    """As a calibration of long ago wrote it: nothing computed, no depth distortion, another code for the mode."""
    tree = {key: value for key, value in tree.items() if key not in COMPUTED} | {"mode": "1"}
    for key in ("distortions", "distortions_inverse"):
        if key in tree:
            tree[key] = {part: tree[key][part] for part in ("radial", "tangential")}
    return tree


def by_hand(tree: Tree) -> Tree:
    """As people write it: numbers as numbers, poses without rotation, keys that nobody reads, no distortion."""
    tree = {key: value for key, value in tree.items() if not key.startswith("distortions")}
    for part in (tree["mla"]["mesh"], tree["mia"]["mesh"], tree["sensor"]):
        part["pose"] = {"translation": [[float(x) for x in part["pose"]["translation"][0]]]}
    tree["mla"]["focal_lengths"] = [float(x) for x in tree["mla"]["focal_lengths"]]
    tree["main_lens"] = {"f": float(tree["main_lens"]["f"]), "aperture": 4, "xaperture": "0.63"}
    return tree | {"D": "52.1", "a.b": 1, "0": {"5": [], "1": None}, "comment": "déjà vu", "flag": True, "nan": "nan"}


STYLES: dict[str, Callable[[Tree], Tree]] = {"full": lambda tree: tree, "bare": bare, "by hand": by_hand}


@pytest.mark.parametrize("native", ["c.yaml", "c.json"])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ROUND_TRIP_PRESETS)
def test_every_field_comes_back_through_a_native_file(tmp_path: Path, name: str, style: str, native: str) -> None:
    theirs = STYLES[style](exported(base(name)))
    save_camera(imported(tmp_path, theirs), tmp_path / native)
    save_camera(load_plenoptic_camera(tmp_path / native), tmp_path / "back.js")
    assert_same_fields(json.loads((tmp_path / "back.js").read_text()), theirs)


@pytest.mark.parametrize("native", ["c.yaml", "c.json"])
def test_every_parameter_comes_back_through_a_native_file(tmp_path: Path, native: str) -> None:
    theirs = {key: value for key, value in PARAMETERS.items() if key != "kappa"} | {"made_by": "hand"}
    save_camera(base("r12-mini"), tmp_path / "camera.js")
    params = stored(tmp_path, theirs, "params.js")
    save_camera(load_plenoptic_camera(tmp_path / "camera.js", parameters=params), tmp_path / native)
    camera = load_plenoptic_camera(tmp_path / native)
    assert camera.blur_coefficient == 1.0, "the default of the format"
    save_camera(camera, tmp_path / "back.js", parameters=tmp_path / "params-back.js")
    assert_same_fields(json.loads((tmp_path / "params-back.js").read_text()), theirs)


@pytest.mark.parametrize("name", ROUND_TRIP_PRESETS)
def test_a_camera_comes_back_from_a_libpleno_file(tmp_path: Path, name: str) -> None:
    camera = base(name)
    save_camera(camera, tmp_path / "c.js")
    back = load_plenoptic_camera(tmp_path / "c.js")
    # κ has its place in the parameter file, and the angle goes through cosine and sine.
    changed = (".name", ".provenance", ".blur_coefficient", ANGLE)
    assert [d for d in differences(back, camera) if not d.startswith(changed)] == []
    assert back.micro_images.image_from_lattice.angle == pytest.approx(
        camera.micro_images.image_from_lattice.angle, rel=1e-15
    )


def test_libpleno_s_file_has_no_place_for_how_raw_images_are_read(tmp_path: Path) -> None:
    camera = base("r12-mini")
    sensor = replace(camera.sensor, bayer="GRBG", black_level=0.0625)
    assert exported(replace(camera, sensor=sensor)) == exported(camera)
    # Nor does it take away what our own file holds of an imported camera.
    imported_camera = imported(tmp_path, mini())
    save_camera(replace(imported_camera, sensor=sensor), tmp_path / "c.yaml")
    again = load_plenoptic_camera(tmp_path / "c.yaml")
    assert (again.sensor.bayer, again.sensor.black_level) == ("GRBG", 0.0625)
    assert exported(again) == exported(imported_camera)


# --- a camera that changed since its import ---------------------------------------------------------------------


def with_lenses(camera: PlenopticCamera, **fields: Any) -> PlenopticCamera:
    return replace(camera, micro_lenses=replace(camera.micro_lenses, **fields))


def with_grid(camera: PlenopticCamera, **fields: Any) -> PlenopticCamera:
    return replace(camera, micro_images=replace(camera.micro_images, **fields))


def turned_lenses(camera: PlenopticCamera) -> PlenopticCamera:
    return with_lenses(camera, cam_from_mla=camera.micro_lenses.cam_from_mla.perturbed([0, 0, 1e-4, 0, 0, 0]))


def turned_grid(camera: PlenopticCamera) -> PlenopticCamera:
    pose = camera.micro_images.image_from_lattice
    return with_grid(camera, image_from_lattice=PlanarPose(pose.angle + 1e-4, pose.translation))


# What is changed, and the fields (two keys of their paths) that may then differ in the file.
CHANGES: dict[str, tuple[Callable[[PlenopticCamera], PlenopticCamera], set[str]]] = {
    "focal length": (
        lambda c: replace(c, main_lens=replace(c.main_lens, focal_length=51.0)),
        {"main_lens.f", "main_lens.diameter"},
    ),
    "distortion": (
        lambda c: replace(c, distortion=Distortion(np.array([1e-5, 0, 0]), np.array([0.0, 2e-5]))),
        {f"distortions.{part}" for part in ("radial", "tangential", "model", "depth")},
    ),
    "inverse distortion": (
        lambda c: replace(c, inverse_distortion=Distortion(np.array([1e-5, 0, 0]))),
        {f"distortions_inverse.{part}" for part in ("radial", "tangential", "model", "depth")},
    ),
    "depth scale": (
        lambda c: replace(c, depth_scale=np.array([1.0, 0.9, 1e-5])),
        {"scaling.a", "scaling.b", "scaling.c"},
    ),
    "focus distance": (lambda c: replace(c, focus_distance=700.0), {"dist_focus"}),
    "lens array": (turned_lenses, {"mla.mesh"}),
    "micro-image rotation": (turned_grid, {"mia.mesh"}),
    "micro-lens focal length": (
        lambda c: with_lenses(c, focal_lengths=c.micro_lenses.focal_lengths * 1.01),
        {"mla.focal_lengths"},
    ),
    "nothing": (lambda c: c, set()),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_since_the_import_is_exported_and_the_rest_stays(tmp_path: Path, style: str, change: str) -> None:
    theirs = STYLES[style](mini())
    change_it, expected = CHANGES[change]
    camera = imported(tmp_path, theirs)
    changed = change_it(camera)
    back = imported(tmp_path, exported(changed))
    assert [d for d in differences(back, changed) if not d.startswith((".provenance", ANGLE))] == []
    assert back.micro_images.image_from_lattice.angle == pytest.approx(
        changed.micro_images.image_from_lattice.angle, abs=1e-15
    )

    before, after = leaves(exported(camera)), leaves(exported(changed))
    touched = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    grouped = {".".join(path[:2]) for path in touched if path[0] not in COMPUTED}
    assert grouped <= expected
    assert bool(grouped) == bool(expected)


@pytest.mark.parametrize("key", ["distortions", "distortions_inverse"])
def test_zeros_stand_for_an_inverse_that_nobody_calibrated(tmp_path: Path, key: str) -> None:
    zeros = {"radial": [["0", "0", "0"]], "tangential": [["0", "0"]]}
    camera = imported(tmp_path, mini() | {key: zeros})
    if key == "distortions_inverse":
        assert camera.inverse_distortion is None
    else:
        assert not camera.distortion.coefficients.any()
    assert exported(camera)[key] == zeros
    calibrated = replace(
        camera, **{"distortion" if key == "distortions" else "inverse_distortion": Distortion([1, 2, 3])}
    )
    assert exported(calibrated)[key]["radial"] == [["1.0", "2.0", "3.0"]]


def test_parameters_follow_white_radii_that_changed(tmp_path: Path) -> None:
    save_camera(base("r12-mini"), tmp_path / "camera.js")
    camera = load_plenoptic_camera(tmp_path / "camera.js", parameters=stored(tmp_path, PARAMETERS, "params.js"))
    assert (camera.blur_coefficient, camera.white_radius.slope) == (0.68, -0.14059554040431976)
    white = WhiteRadius(-0.2, np.array([-0.05, -0.024, -0.027]))
    now = parameters_of_camera(replace(camera, white_radius=white, blur_coefficient=0.7))
    assert (now["m"], now["kappa"], now["q"]) == (-0.2, 0.7, [-0.05, "-0.024", "-0.027"])
    assert now["q_prime"][0] == pytest.approx(-0.05 + 0.0055 * camera.micro_images.lattice.diameter / 2)
    assert now["q_prime"][1:] == ["0.040", "0.037"]


def test_a_computed_field_that_is_no_number_is_no_obstacle(tmp_path: Path) -> None:
    for nonsense in ("unknown", None, {"x": 1}, [], "1" * 400):
        camera = imported(tmp_path, mini() | {"D": nonsense, "pp": nonsense})
        save_camera(camera, tmp_path / "back.js")
        assert imported(tmp_path, exported(camera)).main_lens == camera.main_lens


# --- what is read -----------------------------------------------------------------------------------------------


def test_a_bare_file_takes_the_defaults_of_the_format(tmp_path: Path) -> None:
    tree = by_hand(mini())
    for key in ("dist_focus", "I", "mode", "scaling"):
        tree.pop(key, None)
    camera = imported(tmp_path, tree)
    assert camera.focus_distance == np.inf
    assert camera.depth_scale is None
    assert camera.inverse_distortion is None
    np.testing.assert_array_equal(camera.micro_lenses.cam_from_mla.rotation, np.eye(3))
    assert camera.micro_images.image_from_lattice.angle == 0.0


def test_a_file_without_focal_lengths_holds_pinholes(tmp_path: Path) -> None:
    for absent in ({}, {"focal_lengths": ""}, {"focal_lengths": []}):
        tree = mini()
        del tree["mla"]["focal_lengths"]
        tree["mla"] |= absent
        camera = imported(tmp_path, tree)
        assert camera.type_count == 0
        assert_same_fields(
            exported(camera)["mla"].get("focal_lengths", "none"), absent.get("focal_lengths", "none") or ""
        )


def test_pinholes_with_a_focus_that_no_lens_can_have_still_come_back(tmp_path: Path) -> None:
    tree = exported(base("upc-s")) | {"dist_focus": "9.98445"}
    tree["mla"]["focal_lengths"] = ""
    assert_same_fields(exported(imported(tmp_path, tree)), tree)


@pytest.mark.parametrize(
    ("arrangement", "code"),
    [(Arrangement.ORTHOGONAL, "0"), (Arrangement.HEXAGONAL_ROWS, "1"), (Arrangement.HEXAGONAL_COLUMNS, "2")],
)
def test_the_geometry_is_a_code(tmp_path: Path, arrangement: Arrangement, code: str) -> None:
    tree = exported(rearranged(arrangement, 10, 8))
    assert tree["mia"]["mesh"]["geometry"] == tree["mla"]["mesh"]["geometry"] == code
    assert imported(tmp_path, tree).micro_images.lattice.arrangement is arrangement


def test_a_rotation_of_six_digits_is_a_rotation(tmp_path: Path) -> None:
    tree = mini()
    tree["mia"]["mesh"]["pose"]["rotation"] = [["0.999998", "0.002"], ["-0.002", "0.999998"]]
    assert imported(tmp_path, tree).micro_images.image_from_lattice.angle == pytest.approx(0.002, abs=1e-6)


@pytest.mark.realdata
def test_the_authors_camera_is_read_as_they_mean_it(real_data: Path) -> None:
    camera = load_plenoptic_camera(real_data / "r12b" / "intrinsics.js", parameters=real_data / "r12b" / "params.js")
    assert configuration(camera) is Configuration.GALILEAN
    # D, d and the principal point are those that the file itself holds, for the array's corner lens.
    corner = lens_distances(camera, 175, 151)
    np.testing.assert_allclose(corner, (52.140048198216938, 0.32671721233574402), rtol=1e-12)
    np.testing.assert_allclose(camera.sensor.principal_point, [1855.7852454531762, 1926.1982531029757], rtol=1e-12)
    np.testing.assert_array_equal(camera.depth_scale, [10.912844125074178, 0.79609141585669219, 0.00023017216184680102])
    assert camera.blur_coefficient == 0.77632365684589211
    computed = libpleno_from_camera(replace(camera, provenance=replace(camera.provenance, foreign={})))
    np.testing.assert_allclose(
        computed["focal_planes"], [948.49686456798179, 887.9345233919538, 927.1628512041633], rtol=1e-6
    )


# --- what is refused --------------------------------------------------------------------------------------------


def put(path: str, value: Any) -> Callable[[Tree], None]:
    def change(tree: Tree) -> None:
        *parents, last = path.split(".")
        for key in parents:
            tree = tree[key]
        tree[last] = value

    return change


def doubled_columns(tree: Tree) -> None:
    for array in ("mla", "mia"):
        tree[array]["mesh"]["width"] = 48


TURNED = [["0", "1", "0"], ["-1", "0", "0"], ["0", "0", "1"]]
BAD_FIELDS: dict[str, tuple[Callable[[Tree], None], str]] = {
    "negative focal length": (put("main_lens.f", "-50"), "main_lens.f: is -50.0"),
    "zero aperture": (put("main_lens.aperture", 0), "main_lens.aperture: is 0.0"),
    "NaN": (put("main_lens.f", float("nan")), "main_lens.f: is not finite"),
    "infinity": (put("sensor.scale", "inf"), "sensor.scale: is not finite"),
    "text": (put("sensor.scale", "small"), "sensor.scale: is not a number"),
    "huge integer": (put("main_lens.f", 10**400), "is not usable JSON: an integer of 401 digits"),
    "pixel size": (put("sensor.scale", "-0.0055"), "sensor.scale: is -0.0055"),
    "sensor in front": (put("sensor.pose.translation", [[0, 0, 5]]), "sensor.pose.translation: has z = 5"),
    "sensor turned": (put("sensor.pose.rotation", TURNED), "sensor.pose.rotation: is not the identity"),
    "main lens turned": (put("main_lens.pose.rotation", TURNED), "main_lens.pose.rotation: is not the identity"),
    "lens focal length": (put("mla.focal_lengths", [0.6, -0.5, 0.5]), "mla.focal_lengths.1: is -0.5"),
    "lens pitch": (put("mla.mesh.pitch", [["0.12", "0"]]), "mla.mesh.pitch: needs two numbers > 0"),
    "lens count off the sensor": (doubled_columns, "mia.mesh.width, mia.mesh.height: 48 × 20 lenses"),
    "no rows": (put("mia.mesh.height", 0), "mia.mesh.height: is 0"),
    "arrays of different size": (put("mla.mesh.width", 23), "mla.mesh: differs from mia.mesh"),
    "geometry": (put("mia.mesh.geometry", 3), "mia.mesh.geometry: is 3"),
    "singular pose": (put("mla.mesh.pose.rotation", [["0"] * 3] * 3), "mla.mesh.pose.rotation: singular pose"),
    "singular plane": (put("mia.mesh.pose.rotation", [["1", "0"], ["0", "0"]]), "mia.mesh.pose.rotation: is singular"),
    "mirrored plane": (put("mia.mesh.pose.rotation", [["1", "0"], ["0", "-1"]]), "mia.mesh.pose.rotation: is singular"),
    "huge plane": (put("mia.mesh.pose.rotation", [["1e200", "1e200"], ["-1e200", "1e200"]]), "mia.mesh.pose.rotation"),
    "lenses behind the sensor": (
        put("mla.mesh.pose.translation", [["-1.5", "-1", "-60"]]),
        "mla.mesh.pose.translation: puts lenses",
    ),
    "grids apart": (put("mia.mesh.pose.translation", [["40", "40"]]), "mla.mesh: puts micro-image centres"),
    "depth distortion": (put("distortions.model", 1), "distortions.model: is a depth distortion"),
    "half a scale": (put("scaling", {"a": 1, "b": 1}), "scaling.c: is missing"),
    "flat vector": (put("mia.mesh.pitch", ["23", "23"]), "mia.mesh.pitch: does not hold 1 x 2 numbers"),
    "scalar for a part": (put("main_lens", "f/4"), "main_lens: is not an object"),
    "negative focus": (put("dist_focus", "-450"), "dist_focus: is -450.0"),
}


@pytest.mark.parametrize(("change", "message"), BAD_FIELDS.values(), ids=BAD_FIELDS.keys())
def test_a_bad_field_is_named_as_the_file_names_it(
    tmp_path: Path, change: Callable[[Tree], None], message: str
) -> None:
    tree = mini()
    change(tree)
    with pytest.raises(InputError) as caught:
        imported(tmp_path, tree)
    assert str(caught.value).startswith(f"{tmp_path / 'camera.js'}: {message}")


REQUIRED = [
    "main_lens.f", "main_lens.aperture", "sensor.scale", "sensor.width", "sensor.height", "sensor.pose.translation",
    "mia.mesh.geometry", "mia.mesh.width", "mia.mesh.height", "mia.mesh.pitch", "mia.mesh.pose.translation",
    "mla.mesh.geometry", "mla.mesh.width", "mla.mesh.height", "mla.mesh.pitch", "mla.mesh.pose",
]  # fmt: skip


@pytest.mark.parametrize("path", REQUIRED)
@pytest.mark.parametrize("renamed", [False, True])
def test_a_missing_field_is_named(tmp_path: Path, path: str, renamed: bool) -> None:
    tree = part = mini()
    *parents, last = path.split(".")
    for key in parents:
        part = part[key]
    old = part.pop(last)
    if renamed:
        part[f"{last}x"] = old
    with pytest.raises(InputError) as caught:
        imported(tmp_path, tree)
    assert str(caught.value).startswith(f"{tmp_path / 'camera.js'}: {path}: is missing")


@pytest.mark.realdata
def test_a_starting_camera_says_what_it_lacks(real_data: Path) -> None:
    with pytest.raises(InputError, match=r"r12a/camera\.js: mla\.mesh\.pose: is missing: this is a starting camera"):
        load_plenoptic_camera(real_data / "r12a" / "camera.js")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": ["-0.029"], "q_prime": ["0.035"]}, "q: has 1 numbers, the camera has 3 lens types"),
        ({"kappa": "-1"}, "kappa: is not positive"),
        ({"q": ["-0.029"]}, r"q_prime: has \(3,\) values and q has \(1,\)"),
    ],
)
def test_parameters_of_another_camera_are_named(tmp_path: Path, change: Tree, message: str) -> None:
    camera, params = stored(tmp_path, mini()), stored(tmp_path, PARAMETERS | change, "params.js")
    with pytest.raises(InputError, match=rf"params\.js: {message}"):
        load_plenoptic_camera(camera, parameters=params)


def test_pinholes_take_no_white_radii_from_parameters(tmp_path: Path) -> None:
    save_camera(base("r12-a-pinhole"), tmp_path / "camera.js")
    camera = load_plenoptic_camera(tmp_path / "camera.js", parameters=stored(tmp_path, PARAMETERS, "params.js"))
    assert camera.white_radius is None
    with pytest.raises(InputError, match=r"c\.js: white_radius: libpleno's parameter file needs it"):
        save_camera(camera, tmp_path / "c.js", parameters=tmp_path / "p.js")


def odd_rows() -> PlenopticCamera:
    return rearranged(Arrangement.HEXAGONAL_ROWS, 10, 9)


def other_pattern() -> PlenopticCamera:
    return with_grid(base("r12-mini"), type_pattern=np.array([[0, 2, 1], [2, 1, 0]]))


def no_f_number() -> PlenopticCamera:
    camera = base("r12-mini")
    return replace(camera, main_lens=replace(camera.main_lens, f_number=None))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (odd_rows, "micro_images.shifted_parity"),
        (other_pattern, "micro_images.type_pattern"),
        (no_f_number, "main_lens.f_number"),
    ],
)
def test_what_the_format_cannot_say_is_not_written(
    tmp_path: Path, make: Callable[[], PlenopticCamera], field: str
) -> None:
    path = tmp_path / "c.js"
    with pytest.raises(InputError) as caught:
        save_camera(make(), path)
    assert str(caught.value).startswith(f"{path}: {field}: libpleno's format")
    assert list(tmp_path.iterdir()) == []


def test_a_spoilt_copy_of_the_imported_file_is_named(tmp_path: Path) -> None:
    camera = imported(tmp_path, mini())
    spoilt = copy.deepcopy(dict(camera.provenance.foreign))
    spoilt["libpleno_camera"]["mla"]["mesh"]["pitch"] = "wide"
    camera = replace(camera, provenance=replace(camera.provenance, foreign=spoilt))
    with pytest.raises(
        InputError, match=r"c\.js: provenance\.foreign\.libpleno_camera\.mla\.mesh\.pitch: does not hold"
    ):
        save_camera(camera, tmp_path / "c.js")


WHOLE = tree_text(libpleno_from_camera(base("r12-mini")), "a.js").encode()


@pytest.fixture(scope="module")
def damaged_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "camera.js"


@given(data=damaged(WHOLE))
@settings(max_examples=120, deadline=None)
def test_a_damaged_file_is_a_camera_or_one_line(damaged_file: Path, data: bytes) -> None:
    loaded_or_refused(damaged_file, data)


@given(
    path=st.sampled_from(sorted(leaves(mini()))),
    value=st.sampled_from(["", "x", None, True, [], {}, 1e308, -1, 10**400]),
)
@settings(max_examples=120, deadline=None)
def test_a_damaged_field_is_a_camera_or_one_line(damaged_file: Path, path: tuple[str, ...], value: Any) -> None:
    tree: Any = mini()
    part = tree
    for key in path[:-1]:
        part = part[int(key) if isinstance(part, list) else key]
    part[int(path[-1]) if isinstance(part, list) else path[-1]] = value
    loaded_or_refused(damaged_file, json.dumps(tree).encode())
