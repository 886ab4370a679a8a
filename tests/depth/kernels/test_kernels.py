"""The fast kernels give what the plain NumPy ones do, on all kinds of cameras, images and settings."""

from dataclasses import replace

import numpy as np
import pytest
from cameras import keplerian, rearranged, unfocused, with_focal_lengths
from planes import plane_image, small_camera

from plenodepth.camera import GridCamera, PlenopticCamera, preset
from plenodepth.camera.micro_images import owner_map
from plenodepth.camera.model import image_size
from plenodepth.camera.presets import shrunk
from plenodepth.depth.aperture.resampling import straight_layers
from plenodepth.depth.estimate import estimate_virtual_depth
from plenodepth.depth.kernels import reference
from plenodepth.depth.kernels.cpu import golden
from plenodepth.depth.kernels.cpu.cut import cut
from plenodepth.depth.settings import DepthSettings
from plenodepth.depth.tiles import UNUSABLE, cut_tiles, empty_tiles, tile_recipe
from plenodepth.depth.views import plan_views
from plenodepth.errors import InputError
from plenodepth.geometry import Arrangement, PlanarPose
from plenodepth.raw.image import Devignetting, RawImage


def grid_only(camera: PlenopticCamera) -> GridCamera:
    return GridCamera("grid", *image_size(camera), camera.micro_images, np.array([[1, 5], [2, 6], [3, 9.0]]))


CAMERA = replace(small_camera(), main_lens=preset("r12-mini").main_lens)  # at f/4 there is something to undo
CAMERAS = {
    "r12-a": shrunk(preset("r12-a"), 9, 8),
    "r12-c": shrunk(preset("r12-c"), 8, 9),
    "pinhole": shrunk(preset("r12-a-pinhole"), 9, 8),
    "keplerian": shrunk(keplerian(), 9, 8),
    "unfocused": shrunk(unfocused(), 8, 8),
    "columns": rearranged(Arrangement.HEXAGONAL_COLUMNS, 8, 9),
    "orthogonal": rearranged(Arrangement.ORTHOGONAL, 8, 8),
    "two types": with_focal_lengths(shrunk(CAMERA, 9, 8), [0.55, 0.58]),
    "grid": grid_only(shrunk(CAMERA, 9, 8)),
}
OFF = DepthSettings(aperture_model="off")
VARIANTS = {
    "B": OFF,
    "D": replace(OFF, blur=False),
    "per_pixel": DepthSettings(aperture_model="per_pixel"),
    "slope": DepthSettings(aperture_model="slope"),
    "s_transform": replace(OFF, equalisation="s_transform"),
    "few": replace(OFF, hypotheses=15, reach=1.1, far_reach=2.0, margin=2.5, smoothing=0.0),
    "published": replace(OFF, first_hypothesis="same_type", weights="disparity", margin=1.5),
}


def raw(gray: np.ndarray) -> RawImage:
    return RawImage(gray.astype(np.float32), None, 0.0, Devignetting.NONE)


def random_image(camera: object, seed: int, missing: float = 0.02) -> RawImage:
    """Waves in all directions at one virtual depth, with noise; some pixels missing."""
    rng = np.random.default_rng(seed)
    width, height = image_size(camera)  # type: ignore[arg-type]
    grid = camera.micro_images  # type: ignore[attr-defined]
    v, u = np.indices((height, width), dtype=np.float64)
    owner = owner_map(grid, height, width)
    centers = grid.center(*grid.lattice.indices()).reshape(-1, 2)[np.maximum(owner, 0)]
    depth = rng.uniform(2.5, 9) * (-1 if "keplerian" in camera.name else 1)  # type: ignore[attr-defined]
    # What a lens shows at p, its neighbours show nearer to their centres by 1/depth of the baseline.
    x, y = (centers[..., axis] + depth * (pixel - centers[..., axis]) for axis, pixel in enumerate((u, v)))
    gray = rng.normal(0.5, 0.01, (height, width))
    for _ in range(30):
        angle, length = rng.uniform(0, np.pi), rng.uniform(4, 20) * abs(depth)
        gray += 0.05 * np.sin(2 * np.pi / length * (np.cos(angle) * x + np.sin(angle) * y) + rng.uniform(0, 6))
    gray[rng.random(gray.shape) < missing] = np.nan
    return raw(gray)


def assert_kernels_agree(image: RawImage, camera: object, settings: DepthSettings, *, confident: float = 0.995) -> None:
    slow, fast = (
        estimate_virtual_depth(image, camera, replace(settings, kernel=name)) for name in ("reference", "cpu")
    )
    assert np.array_equal(np.isnan(slow.virtual_depth), np.isnan(fast.virtual_depth))
    assert np.isfinite(slow.virtual_depth).mean() > (0.2 if settings.refined else 0.5)
    found = np.isfinite(slow.virtual_depth)
    assert np.abs(slow.virtual_depth - fast.virtual_depth)[found].max() < 1e-3
    assert np.allclose(slow.sigma[found], fast.sigma[found], rtol=0.01)
    # Whether a kink of the curve is a rival minimum may depend on the last bit; then the confidence jumps.
    assert np.isclose(slow.confidence, fast.confidence, atol=1e-4).mean() > confident
    assert np.allclose(slow.cost[found], fast.cost[found], atol=1e-5)
    assert np.array_equal(slow.views, fast.views)


@pytest.mark.parametrize("name", VARIANTS)
def test_of_a_plane_the_same_coarse_depth(name: str) -> None:
    camera = shrunk(CAMERA, 12, 10)
    gray = plane_image(900.0, tilt=0.4).gray[: camera.sensor.height, : camera.sensor.width]
    assert_kernels_agree(raw(gray), camera, VARIANTS[name])


@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", CAMERAS)
def test_of_any_image_the_same_coarse_depth(name: str, blur: bool) -> None:
    camera = CAMERAS[name]
    assert_kernels_agree(random_image(camera, seed=len(name)), camera, replace(OFF, blur=blur, hypotheses=14))


@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", ["r12-c", "keplerian", "columns"])
def test_of_any_image_the_same_refined_depth(name: str, blur: bool) -> None:
    camera = shrunk(CAMERAS[name], 5, 5)
    settings = replace(OFF, refined=True, blur=blur, hypotheses=14, far_reach=2.0)
    assert_kernels_agree(random_image(camera, seed=7), camera, settings)


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("name", ["r12-a", "columns", "keplerian"])
def test_with_the_aperture_undone_per_pixel_too(name: str, refined: bool) -> None:
    camera = shrunk(CAMERAS[name], 6, 6)
    settings = DepthSettings(refined=refined, hypotheses=14, far_reach=2.0, aperture_model="per_pixel")
    # No pixel missing: whether one that is 0.0001 px beside counts may depend on the last bit.
    assert_kernels_agree(random_image(camera, seed=7, missing=0), camera, settings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("blur", [True, False], ids=["B", "D"])
@pytest.mark.parametrize("name", ["r12-a", "r12-c", "pinhole", "keplerian", "unfocused", "columns", "orthogonal"])
def test_with_all_hypotheses_and_views_too(name: str, blur: bool, refined: bool, seed: int) -> None:
    camera = shrunk(CAMERAS[name], 6, 6)
    image = random_image(camera, seed=100 + seed, missing=0.01 * seed)
    assert_kernels_agree(image, camera, replace(OFF, refined=refined, blur=blur))


def test_on_an_upright_grid_pixels_missing_beside_a_whole_shift_do_not_creep_in() -> None:
    """Without any rotation some shifts have next to no fraction."""
    camera = rearranged(Arrangement.HEXAGONAL_COLUMNS, 10, 10)
    grid = replace(camera.micro_images, image_from_lattice=PlanarPose(1e-8, np.array([12.0, 24.0])))
    known = GridCamera("upright", camera.sensor.width, camera.sensor.height, grid, np.array([[1, 5], [2, 6], [3, 9.0]]))
    # Here rows of the image are shifted by next to nothing, and curves have many kinks that are minima or not.
    assert_kernels_agree(random_image(known, seed=3, missing=0.05), known, DepthSettings(), confident=0.9)


@pytest.mark.parametrize("equalisation", ["mixture", "s_transform"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_tiles_are_cut_alike(equalisation: str, smoothing: float) -> None:
    camera = CAMERAS["r12-a"]
    settings = DepthSettings(equalisation=equalisation, smoothing=smoothing)  # type: ignore[arg-type]
    gray = random_image(camera, seed=1).gray
    slow, fast = cut_tiles(gray, camera, settings), empty_tiles(camera, settings)
    cut(0, len(fast.origin), gray, fast, tile_recipe(fast.reach, settings))
    used = len(fast.origin) * fast.side**2
    assert np.array_equal(slow.gray[:used] > UNUSABLE, fast.gray[:used] > UNUSABLE)
    for name in ("gray", "detail"):
        assert np.allclose(getattr(slow, name)[:used], getattr(fast, name)[:used], atol=1e-6)


@pytest.mark.parametrize("refined", [False, True], ids=["coarse", "refined"])
@pytest.mark.parametrize("way", [("sweep", "off"), ("golden", "off"), ("sweep", "per_pixel")], ids=" ".join)
def test_the_number_of_threads_does_not_change_a_byte(way: tuple[str, str], refined: bool) -> None:
    camera = CAMERAS["r12-c"]
    settings = DepthSettings(refined=refined, search=way[0], aperture_model=way[1])  # type: ignore[arg-type]
    one, two = (estimate_virtual_depth(random_image(camera, 5), camera, settings, threads=n) for n in (1, 2))
    for name in ("virtual_depth", "sigma", "confidence", "cost", "views"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def golden_section(cost: object, low: float, high: float, tolerance: float) -> float:
    """The textbook's, here for comparison."""
    ratio = (5**0.5 - 1) / 2
    while high - low > tolerance:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if cost(left) < cost(right):  # type: ignore[operator]
            high = right
        else:
            low = left
    return (low + high) / 2


def test_the_golden_section_is_the_textbooks_over_the_same_costs() -> None:
    settings = replace(OFF, search="golden", first_hypothesis="same_type")
    image = plane_image(900.0, tilt=0.4)
    tiles, views = cut_tiles(image.gray, CAMERA, settings), plan_views(CAMERA, settings, image.noise)
    layers = straight_layers(tiles, views)
    found = estimate_virtual_depth(image, CAMERA, settings)
    for lens in (100, 245, 260, 333):

        def cost(v: float, count: int, same_type: bool, lens: int = lens) -> float:
            place = np.array([1 / v], np.float32)
            return float(reference.view_costs(tiles, views, layers, lens, place, None, None, count, same_type)[0][0])

        first = golden_section(lambda v: cost(v, views.swept, True), 2, 20, golden.FIRST_TOLERANCE)
        reach = first / 2 * 1.01 * float(views.pitch)
        count = int((np.linalg.norm(views.baseline[0], axis=1) <= reach).sum())
        low, high = max(2, first - golden.AROUND), min(20, first + golden.AROUND)
        expected = golden_section(lambda v, n=count: cost(v, n, False), low, high, golden.TOLERANCE)
        assert found.virtual_depth.flat[lens] == pytest.approx(expected, abs=2 * golden.TOLERANCE)


def test_the_refined_golden_section_finds_the_plane() -> None:
    camera = shrunk(CAMERA, 12, 10)
    gray = plane_image(900.0, tilt=0.4).gray[: camera.sensor.height, : camera.sensor.width]
    sweep = replace(OFF, refined=True)
    settings = replace(sweep, search="golden", first_hypothesis="same_type")
    published, swept = (estimate_virtual_depth(raw(gray), camera, s) for s in (settings, sweep))
    both = np.isfinite(published.virtual_depth) & np.isfinite(swept.virtual_depth)
    assert both.mean() > 0.4
    assert np.median(np.abs(published.virtual_depth / swept.virtual_depth - 1)[both]) < 0.02


def test_the_reference_kernel_says_that_it_only_sweeps() -> None:
    with pytest.raises(InputError, match=r"kernel.*sweep only"):
        estimate_virtual_depth(plane_image(900.0), CAMERA, DepthSettings(kernel="reference", search="golden"))
