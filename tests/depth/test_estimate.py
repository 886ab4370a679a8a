"""Depth of simulated planes: accuracy, uncertainty, equality of kernels, honest emptiness."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, rearranged, with_focal_lengths
from planes import plane_image, small_camera

from plenodepth.camera import GridCamera, load_camera, metric_from_virtual, virtual_from_metric
from plenodepth.depth.estimate import estimate_depth
from plenodepth.depth.kernels import reference
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import cut_tiles
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, PlanarPose
from plenodepth.raw import load_raw
from plenodepth.raw.image import Devignetting, RawImage

CAMERA = small_camera()
INNER = (slice(3, -3), slice(3, -3))  # lenses with all their neighbours
VARIANTS = {
    "B": DepthSettings(),
    "D": DepthSettings(blur=False),
    "s_transform": DepthSettings(equalisation="s_transform"),
    "few": DepthSettings(hypotheses=20, reach=1.1, far_reach=2.0, margin=2.5),
}


def relative_errors(found: VirtualDepthMap, depth: float) -> np.ndarray:
    k, l = CAMERA.micro_images.lattice.indices()
    z = metric_from_virtual(CAMERA, found.virtual_depth.astype(np.float64), k, l, invalid="nan")
    return (z / depth - 1)[INNER]


@pytest.mark.parametrize("depth", [500.0, 700.0, 1000.0, 1400.0, 1900.0])
def test_coarse_depth_of_a_plane_at_large_aperture(depth: float) -> None:
    error = relative_errors(estimate_depth(plane_image(depth), CAMERA), depth)
    assert np.isfinite(error).mean() > 0.98
    assert abs(np.nanmedian(error)) < 0.003
    assert (np.abs(error[np.isfinite(error)]) < 0.02).mean() > 0.95


def test_depth_works_down_to_a_virtual_depth_of_two() -> None:
    depth = 2150.0
    assert virtual_from_metric(CAMERA, depth) < 2.2
    error = relative_errors(estimate_depth(plane_image(depth), CAMERA), depth)
    assert abs(np.nanmedian(error)) < 0.003


@pytest.mark.parametrize("depth", [700.0, 1400.0])
def test_refined_depth_of_a_plane(depth: float) -> None:
    found = estimate_depth(plane_image(depth), CAMERA, DepthSettings(refined=True))
    rows, columns = np.nonzero(np.isfinite(found.virtual_depth))
    k, l = CAMERA.micro_images.owner(np.column_stack([columns, rows]))
    z = metric_from_virtual(CAMERA, found.virtual_depth[rows, columns].astype(np.float64), k, l)
    assert len(rows) > 0.5 * found.virtual_depth.size
    assert abs(np.median(z) / depth - 1) < 0.005
    assert (np.abs(z / depth - 1) < 0.05).mean() > 0.95


def test_blur_awareness_lowers_the_spread() -> None:
    spreads = {}
    for name in ("B", "D"):
        errors = [relative_errors(estimate_depth(plane_image(z), CAMERA, VARIANTS[name]), z) for z in (700.0, 1400.0)]
        spreads[name] = np.mean([np.nanmedian(np.abs(error - np.nanmedian(error))) for error in errors])
    assert spreads["B"] < spreads["D"]


def test_about_two_thirds_of_the_errors_are_within_one_sigma() -> None:
    inside = []
    for depth in (700.0, 1000.0, 1400.0):
        found = estimate_depth(plane_image(depth, noise=0.01), CAMERA)
        k, l = CAMERA.micro_images.lattice.indices()
        error = (found.virtual_depth - virtual_from_metric(CAMERA, depth, k, l)) / found.sigma
        inside.append((np.abs(error[INNER]) < 1).mean())
    assert 0.5 < np.mean(inside) < 0.9


@pytest.mark.parametrize("name", VARIANTS)
def test_the_fast_kernel_equals_the_reference(name: str) -> None:
    settings, image = VARIANTS[name], plane_image(900.0, tilt=0.4)
    tiles, views = cut_tiles(image.gray, CAMERA, settings), plan_views(CAMERA, settings)
    found = estimate_depth(image, CAMERA, settings)
    for lens in (0, 23, 100, 245, 260, 333, 479):
        depth, sigma = reference.coarse_depth(tiles, views, settings, lens)
        assert found.virtual_depth.flat[lens] == pytest.approx(depth, abs=1e-3, nan_ok=True)
        assert found.sigma.flat[lens] == pytest.approx(sigma, rel=1e-2, nan_ok=True)


def test_the_fast_kernel_equals_the_reference_on_an_upright_column_aligned_grid() -> None:
    """Without any rotation some shifts have next to no fraction; pixels missing beside them must not creep in."""
    camera = rearranged(Arrangement.HEXAGONAL_COLUMNS, 20, 20)
    grid = replace(camera.micro_images, image_from_lattice=PlanarPose(1e-8, np.array([12.0, 24.0])))
    known = GridCamera("upright", camera.sensor.width, camera.sensor.height, grid, np.array([[1, 5], [2, 6], [3, 9.0]]))
    gray = np.random.default_rng(2).random((known.height // 4 + 1, known.width // 4 + 1))
    gray = np.kron(gray, np.ones((4, 4)))[: known.height, : known.width]
    gray[np.random.default_rng(3).random(gray.shape) < 0.05] = np.nan
    settings = DepthSettings()
    tiles, views = cut_tiles(gray.astype(np.float32), known, settings), plan_views(known, settings)
    found = estimate_depth(raw(gray), known, settings)
    for lens in range(45, 400, 31):
        depth, _ = reference.coarse_depth(tiles, views, settings, lens)
        assert found.virtual_depth.flat[lens] == pytest.approx(depth, abs=1e-3, nan_ok=True)


@pytest.mark.parametrize("blur", [True, False])
def test_the_fast_refined_kernel_equals_the_reference(blur: bool) -> None:
    settings = DepthSettings(refined=True, blur=blur, hypotheses=40)
    image = plane_image(900.0, tilt=0.4)
    tiles, views = cut_tiles(image.gray, CAMERA, settings), plan_views(CAMERA, settings)
    found = estimate_depth(image, CAMERA, settings)
    for lens in (100, 245):
        cost, _ = reference.cost_volume(tiles, views, settings, lens)
        column, row = tiles.origin[lens]
        tile = found.cost[row : row + tiles.side, column : column + tiles.side]
        inside = reference.inside_disc(tiles, lens) & np.isfinite(tile)
        assert inside.sum() > 100
        assert np.allclose(tile[inside], np.nanmin(cost[:, inside], axis=0), atol=1e-4)


@pytest.mark.parametrize("refined", [False, True])
def test_the_number_of_threads_does_not_change_a_byte(refined: bool) -> None:
    settings = DepthSettings(refined=refined)
    one, two = (estimate_depth(plane_image(900.0), CAMERA, settings, threads=n) for n in (1, 2))
    for name in ("virtual_depth", "sigma", "confidence", "cost", "views"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def raw(gray: np.ndarray) -> RawImage:
    return RawImage(gray.astype(np.float32), None, 0.0, Devignetting.NONE)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, np.nan], ids=["black", "gray", "white", "missing"])
@pytest.mark.parametrize("refined", [False, True])
def test_where_there_is_nothing_to_match_there_is_no_depth(value: float, refined: bool) -> None:
    found = estimate_depth(raw(np.full((404, 560), value)), CAMERA, DepthSettings(refined=refined))
    assert np.isnan(found.virtual_depth).all()
    assert (found.confidence == 0).all()


def test_pure_noise_is_not_trusted() -> None:
    noise = np.random.default_rng(0).normal(0.5, 0.1, (404, 560))
    found = estimate_depth(raw(noise), CAMERA)
    textured = estimate_depth(plane_image(900.0), CAMERA)
    assert np.median(found.confidence) < 0.5 * np.median(textured.confidence)


def test_missing_pixels_are_left_out() -> None:
    image = plane_image(1000.0)
    gray = image.gray.copy()
    gray[np.random.default_rng(1).random(gray.shape) < 0.05] = np.nan
    error = relative_errors(estimate_depth(replace(image, gray=gray), CAMERA), 1000.0)
    assert np.isfinite(error).mean() > 0.9
    assert abs(np.nanmedian(error)) < 0.005


def test_a_camera_known_only_by_its_grid_gives_virtual_depth() -> None:
    grid = GridCamera("grid", 560, 404, CAMERA.micro_images, np.array([[1, 5], [2, 6], [3, 100.0]]))
    found = estimate_depth(plane_image(1000.0), grid)
    expected = float(virtual_from_metric(CAMERA, 1000.0))
    assert np.nanmedian(found.virtual_depth) == pytest.approx(expected, rel=0.1)  # λ is not known


def test_a_single_lens_type_has_no_relative_blur() -> None:
    camera = with_focal_lengths(CAMERA, [0.58])
    both = [plan_views(camera, DepthSettings(blur=blur)) for blur in (True, False)]
    assert not both[0].blur_slope.any()
    assert np.array_equal(both[0].blur_intercept, both[1].blur_intercept)


def test_a_keplerian_camera_is_searched_at_negative_depths() -> None:
    assert (plan_views(keplerian(), DepthSettings()).inverse_depths < 0).all()


def test_an_image_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match=r"100 × 50 px.*560 × 404"):
        estimate_depth(raw(np.zeros((50, 100))), CAMERA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hypotheses": 2},
        {"virtual_range": (5.0, 3.0)},
        {"reach": 0.5},
        {"window": 4},
        {"equalisation": "magic"},
        {"blur_coefficient": -1.0},
    ],
    ids=str,
)
def test_impossible_settings_are_named(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        DepthSettings(**wrong)


@pytest.mark.realdata
def test_the_order_of_things_in_a_real_frame(real_data: object) -> None:
    """A Raytrix R5, vendor's grid, no white image: kangaroo, cup and second animal, then the books at the back."""
    camera = load_camera(f"{real_data}/r5/fujita2-calib.xml", image_size=(2048, 2048))
    found = estimate_depth(load_raw(f"{real_data}/r5/fujita2-frame0.png", camera), camera)
    assert found.valid_fraction > 0.6

    def median(u: slice, v: slice) -> float:
        """Virtual depth in a part of the image, given in px."""
        k, l = camera.micro_images.lattice.indices()
        x, y = np.moveaxis(camera.micro_images.center(k, l), -1, 0)
        inside = (x >= u.start) & (x < u.stop) & (y >= v.start) & (y < v.stop)
        part = found.virtual_depth[inside]
        assert np.isfinite(part).mean() > 0.6
        return float(np.nanmedian(part))

    head, cup = median(slice(940, 1120), slice(540, 700)), median(slice(1220, 1360), slice(1000, 1200))
    animal, books = median(slice(1500, 1750), slice(920, 1080)), median(slice(300, 700), slice(300, 800))
    front, back = median(slice(300, 1700), slice(1850, 1950)), median(slice(1500, 1950), slice(1250, 1350))
    assert head > cup > animal > books
    assert front > back > books  # the table recedes
