"""Grids of TSPC's and TLCT's files as cameras: where the micro-images are, their types, and the sign of depth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corner_grids import corners_of, tlct_text, tspc_xml
from vendor_grid import grid_xml

from plenodepth.camera import Configuration, GridCamera, MicroImageArray, load_camera
from plenodepth.camera.files.lattices import lattice_through_corners
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement

ROWS, COLUMNS = Arrangement.HEXAGONAL_ROWS, Arrangement.HEXAGONAL_COLUMNS
ROTATION = {ROWS: 0.0, COLUMNS: np.pi / 2}


def loaded(path: Path, text: str, size: tuple[int, int] | None = None) -> GridCamera:
    path.write_text(text)
    camera = load_camera(path, image_size=size)
    assert isinstance(camera, GridCamera)
    return camera


@pytest.mark.parametrize("arrangement", [ROWS, COLUMNS])
@pytest.mark.parametrize(("columns", "rows"), [(21, 17), (20, 17), (21, 16), (20, 16)])
@pytest.mark.parametrize("pitch", [(30.0, 30.0), (30.4, 30.3)])
@pytest.mark.parametrize("angle", [0.0, 3e-3])
def test_the_lattice_through_corners_has_them_as_micro_images(
    tmp_path: Path, arrangement: Arrangement, columns: int, rows: int, pitch: tuple[float, float], angle: float
) -> None:
    corners = corners_of(arrangement, columns, rows, pitch, angle)
    size = (int(corners[:, 0].max()) + 35, int(corners[:, 1].max()) + 35)
    camera = loaded(tmp_path / "calib.xml", tspc_xml(corners, rotation=ROTATION[arrangement]), size)
    grid = camera.micro_images
    assert grid.lattice.arrangement is arrangement
    np.testing.assert_allclose(grid.lattice.pitch, pitch, rtol=1e-9)
    assert grid.image_from_lattice.angle == pytest.approx(angle, abs=1e-9)
    k, l = grid.owner(corners)
    np.testing.assert_allclose(grid.center(k, l), corners, atol=1e-6)
    assert (k[1] - k[0], l[2] - l[0]) == (columns - 1, rows - 1)


def test_a_corner_may_be_shifted_to_either_side() -> None:
    corners = corners_of(COLUMNS, 20, 16, (30.0, 30.0))
    corners[[1, 3], 1] += 30.0  # the last column begins half a pitch below the first one, not above it
    fit = lattice_through_corners(corners, 30.0, COLUMNS)
    assert fit.residual < 1e-9
    np.testing.assert_allclose(fit.pitch, 30)


def test_corners_that_lie_off_are_noted_and_fitted(tmp_path: Path) -> None:
    corners = corners_of(COLUMNS, 21, 16, (30.0, 30.0)) + [[0.5, 0], [-0.5, 0], [-0.5, 0], [0.5, 0]]
    camera = loaded(tmp_path / "calib.xml", tspc_xml(corners), (600, 520))
    assert camera.provenance.notes == (
        "the grid is the lattice nearest to the four corner centres of the file, which lie within 0.50 px of it; "
        "its pitch is 30.000, 30.000 px, the file's diameter 30 px",
    )
    assert camera.provenance.source == "imported from the TSPC grid file calib"
    assert camera.configuration is None
    assert camera.micro_images.type_count == 1
    assert camera.virtual_depth_ranges.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            tspc_xml(corners_of(COLUMNS, 21, 16, (30, 30)) + [[3, 0], [-3, 0], [-3, 0], [3, 0]]),
            "corner centres: lie up to 3.0 px off the nearest lattice, more than 1.5 px",
        ),
        (
            tspc_xml(corners_of(COLUMNS, 21, 16, (30, 30)) * [1.02, 1]),
            "corner centres: are 20.40 rows or columns of lenses apart",
        ),
        (tspc_xml(np.zeros((4, 2))), "corner centres: are 0.00 rows or columns"),
        (
            tspc_xml(corners_of(COLUMNS, 21, 16, (30, 30)), diameter=900.0),
            "diameter: is 900 px in an image of 600 × 520",
        ),
    ],
)
def test_corners_of_no_lattice_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"calib\.xml: {message}") as caught:
        loaded(tmp_path / "calib.xml", text, (600, 520))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("direction", "rotation"), [(0, 0.0), (1, np.pi / 2)])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (13.0, -20.5), (-7.0, 3.25)])
def test_tlct_and_the_vendor_mean_the_same_grid(
    tmp_path: Path, direction: int, rotation: float, offset: tuple[float, float]
) -> None:
    known = loaded(tmp_path / "grid.xml", grid_xml(rotation=rotation, offset=offset), (640, 480)).micro_images
    found = loaded(tmp_path / "calib.cfg", tlct_text(direction=direction, offset=offset)).micro_images
    assert_same_grid(found, known)


def assert_same_grid(found: MicroImageArray, known: MicroImageArray) -> None:
    """Equal centres, and lens types that differ by their numbers at most."""
    k, l = known.lattice.indices()
    np.testing.assert_allclose(found.center(k, l), known.center(k, l), atol=1e-4)
    pairs = {*zip(found.lens_type(k, l).ravel(), known.lens_type(k, l).ravel(), strict=True)}
    assert len(pairs) == 3


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("size", [(640, 480), (641, 500), (655, 470), (630, 491)])
def test_tlct_counts_lens_types_from_its_first_whole_micro_image(
    tmp_path: Path, direction: int, size: tuple[int, int]
) -> None:
    grid = loaded(tmp_path / "calib.cfg", tlct_text(direction=direction, size=size)).micro_images
    k, l = grid.lattice.indices()
    centers = grid.center(k, l) + 0.5  # TLCT takes the middle of an image to be half a pixel farther
    along, across = centers[..., direction], centers[..., 1 - direction]
    whole = (along >= 23.2 / 2) & (across >= 23.2 / 2)
    first_line = whole & (across < across[whole].min() + 1)
    first = np.argmin(np.where(first_line, along, np.inf))
    types = grid.lens_type(k, l)
    assert types.ravel()[first] == 0
    second = grid.owner(grid.center(k, l).reshape(-1, 2)[first] + np.eye(2)[direction] * 23.2)
    assert grid.lens_type(*second) == 1


@pytest.mark.parametrize(
    ("kepler", "configuration", "words"),
    [
        (1, Configuration.GALILEAN, "IsKepler is 1, so content moves against the micro-images"),
        (0, Configuration.KEPLERIAN, "IsKepler is 0, so content moves with the micro-images"),
        (None, None, ""),
    ],
)
def test_tlct_tells_the_sign_of_depth(
    tmp_path: Path, kepler: int | None, configuration: Configuration | None, words: str
) -> None:
    camera = loaded(tmp_path / "calib.cfg", tlct_text(kepler=kepler, near=None))
    assert camera.configuration is configuration
    assert "; ".join(camera.provenance.notes) == words


def test_tlct_may_give_corners(tmp_path: Path) -> None:
    corners = corners_of(COLUMNS, 21, 16, (30.3, 30.3))
    text = tlct_text(corners=corners, size=(600, 525), diameter=30.0, near=2)
    camera = loaded(tmp_path / "calib.txt", text)
    k, l = camera.micro_images.owner(corners)
    np.testing.assert_allclose(camera.micro_images.center(k, l), corners, atol=1e-6)
    assert camera.micro_images.lens_type(k[0], l[0]) == 0
    assert camera.provenance.notes[1] == "lens type 2 is focused nearest, as TLCT counts lens types"


@pytest.mark.realdata
def test_both_grids_of_the_r5_are_one(real_data: Path) -> None:
    known = load_camera(real_data / "r5" / "fujita2-calib.xml", image_size=(2048, 2048))
    found = load_camera(real_data / "r5" / "tlct-calib.cfg")
    assert_same_grid(found.micro_images, known.micro_images)
    assert found.configuration is Configuration.GALILEAN


@pytest.mark.realdata
def test_both_grids_of_the_tspc_camera_are_one(real_data: Path) -> None:
    known = load_camera(real_data / "tspc" / "calib.xml", image_size=(3976, 2956))
    found = load_camera(real_data / "tspc" / "tlct-calib.cfg")
    k, l = known.micro_images.lattice.indices()
    np.testing.assert_allclose(found.micro_images.center(k, l), known.micro_images.center(k, l), atol=1e-6)
    # 65 × 42 lenses between the corners, which were picked by hand: 70.2 px is what the images show.
    np.testing.assert_allclose(known.micro_images.lattice.pitch, 70.2, atol=0.2)
    assert found.configuration is Configuration.KEPLERIAN
