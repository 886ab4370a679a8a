"""Depth of simulated planes: accuracy, uncertainty, equality of kernels, honest emptiness."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, with_focal_lengths
from matching import CAMERAS, random_image, raw
from planes import plane_image, small_camera

from plenodepth.camera import GridCamera, load_camera, metric_from_virtual, virtual_from_metric
from plenodepth.camera.presets import shrunk
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.maps import VirtualDepthMap
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.raw import load_raw

CAMERA = small_camera()
INNER = (slice(3, -3), slice(3, -3))  # lenses with all their neighbours


def relative_errors(found: VirtualDepthMap, depth: float) -> np.ndarray:
    k, l = CAMERA.micro_images.lattice.indices()
    z = metric_from_virtual(found.virtual_depth.astype(np.float64), CAMERA, k, l, invalid="nan")
    return (z / depth - 1)[INNER]


@pytest.mark.parametrize("depth", [500.0, 700.0, 1000.0, 1400.0, 1900.0])
def test_coarse_depth_of_a_plane_at_large_aperture(depth: float) -> None:
    error = relative_errors(estimate_virtual_depth(plane_image(depth), CAMERA), depth)
    assert np.isfinite(error).mean() > 0.98
    assert abs(np.nanmedian(error)) < 0.003
    assert (np.abs(error[np.isfinite(error)]) < 0.02).mean() > 0.95


def test_depth_works_down_to_a_virtual_depth_of_two() -> None:
    depth = 2150.0
    assert virtual_from_metric(depth, CAMERA) < 2.2
    error = relative_errors(estimate_virtual_depth(plane_image(depth), CAMERA), depth)
    assert abs(np.nanmedian(error)) < 0.003


@pytest.mark.parametrize("depth", [700.0, 1400.0])
def test_refined_depth_of_a_plane(depth: float) -> None:
    found = estimate_virtual_depth(plane_image(depth), CAMERA, DepthSettings(refined=True))
    rows, columns = np.nonzero(np.isfinite(found.virtual_depth))
    k, l = CAMERA.micro_images.owner(np.column_stack([columns, rows]))
    z = metric_from_virtual(found.virtual_depth[rows, columns].astype(np.float64), CAMERA, k, l)
    assert len(rows) > 0.5 * found.virtual_depth.size
    assert abs(np.median(z) / depth - 1) < 0.005
    assert (np.abs(z / depth - 1) < 0.05).mean() > 0.95


def test_blur_awareness_lowers_the_spread() -> None:
    spreads = {}
    for blur in (True, False):
        settings = DepthSettings(blur=blur)
        errors = [relative_errors(estimate_virtual_depth(plane_image(z), CAMERA, settings), z) for z in (700.0, 1400.0)]
        spreads[blur] = np.mean([np.nanmedian(np.abs(error - np.nanmedian(error))) for error in errors])
    assert spreads[True] < spreads[False]


def test_about_two_thirds_of_the_errors_are_within_one_sigma() -> None:
    inside = []
    for depth in (700.0, 1000.0, 1400.0):
        found = estimate_virtual_depth(plane_image(depth, noise=0.01), CAMERA)
        k, l = CAMERA.micro_images.lattice.indices()
        error = (found.virtual_depth - virtual_from_metric(depth, CAMERA, k, l)) / found.sigma
        inside.append((np.abs(error[INNER]) < 1).mean())
    assert 0.5 < np.mean(inside) < 0.9


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0, np.nan], ids=["black", "gray", "white", "missing"])
@pytest.mark.parametrize("refined", [False, True])
def test_where_there_is_nothing_to_match_there_is_no_depth(value: float, refined: bool) -> None:
    found = estimate_virtual_depth(raw(np.full((404, 560), value)), CAMERA, DepthSettings(refined=refined))
    assert np.isnan(found.virtual_depth).all()
    assert (found.confidence == 0).all()


def test_pure_noise_is_not_trusted() -> None:
    noise = np.random.default_rng(0).normal(0.5, 0.1, (404, 560))
    found = estimate_virtual_depth(raw(noise), CAMERA)
    textured = estimate_virtual_depth(plane_image(900.0), CAMERA)
    assert np.median(found.confidence) < 0.5 * np.median(textured.confidence)


def test_missing_pixels_are_left_out() -> None:
    image = plane_image(1000.0)
    gray = image.gray.copy()
    gray[np.random.default_rng(1).random(gray.shape) < 0.05] = np.nan
    error = relative_errors(estimate_virtual_depth(replace(image, gray=gray), CAMERA), 1000.0)
    assert np.isfinite(error).mean() > 0.9
    assert abs(np.nanmedian(error)) < 0.005


def test_a_camera_known_only_by_its_grid_gives_virtual_depth() -> None:
    grid = GridCamera("grid", 560, 404, CAMERA.micro_images, np.array([[1, 5], [2, 6], [3, 100.0]]))
    found = estimate_virtual_depth(plane_image(1000.0), grid)
    expected = float(virtual_from_metric(1000.0, CAMERA))
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
        estimate_virtual_depth(raw(np.zeros((50, 100))), CAMERA)


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


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("way", [("sweep", "off"), ("golden", "off"), ("sweep", "per_pixel")], ids=" ".join)
def test_the_number_of_threads_does_not_change_a_byte(way: tuple[str, str], refined: bool) -> None:
    camera = shrunk(CAMERAS["r12-c"], 4, 9)
    image = random_image(camera, 5)
    settings = DepthSettings(refined=refined, search=way[0], aperture_model=way[1])  # type: ignore[arg-type]
    one, two = (estimate_virtual_depth(image, camera, settings, threads=n) for n in (1, 2))
    for name in ("virtual_depth", "sigma", "confidence", "cost", "views"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_the_reference_kernel_says_that_it_only_sweeps() -> None:
    with pytest.raises(InputError, match=r"kernel.*sweep only"):
        estimate_virtual_depth(plane_image(900.0), CAMERA, DepthSettings(kernel="reference", search="golden"))


@pytest.mark.realdata
def test_the_order_of_things_in_a_real_frame(real_data: object) -> None:
    """A Raytrix R5, vendor's grid, no white image: kangaroo, cup and second animal, then the books at the back."""
    camera = load_camera(f"{real_data}/r5/fujita2-calib.xml", image_size=(2048, 2048))
    found = estimate_virtual_depth(load_raw(f"{real_data}/r5/fujita2-frame0.png", camera), camera)
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
