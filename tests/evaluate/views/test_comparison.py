"""Folders of views against true ones: names, pixels, gain, holes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from plenodepth.camera import Pinhole, ViewGeometry, load_views, preset, save_views
from plenodepth.errors import InputError
from plenodepth.evaluate import compare_view, compare_view_folders
from plenodepth.geometry import Pose
from plenodepth.io import read_image, write_image, write_light
from plenodepth.sim.scenes.scene import Material, Rectangle, Scene
from plenodepth.sim.scenes.textures import noise_image
from plenodepth.sim.views import simulate_views, view_grid


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wall = Rectangle(
        900, 900, Pose(np.eye(3), np.array([0, 0, 900.0])), Material(texture=noise_image(512, 512, cell=16))
    )
    folder = tmp_path_factory.mktemp("views") / "truth"
    simulate_views(Scene((wall,)), view_grid(preset("r12-mini"), 2, 1, scale=4), folder, samples=2)
    return folder


def rendered(truth: Path, folder: Path, gain: float = 1.0, noise: float = 0.0) -> list[ViewGeometry]:
    folder.mkdir()
    views = load_views(truth)
    for view in views:
        light = gain * read_image(truth / f"{view.name}.light.tiff")
        write_light(
            light + noise * np.random.default_rng(3).standard_normal(light.shape), folder / f"{view.name}.light.tiff"
        )
    save_views(views, folder)
    return views


def test_the_truth_itself_is_perfect(truth: Path) -> None:
    result = compare_view_folders(truth, truth)
    assert len(result.views) == 2
    assert result.mean_psnr == np.inf
    assert all(view.ssim == pytest.approx(1) and view.completeness == 1 for view in result.views)
    assert result.notes == ()


def test_no_gain_is_fitted_in_silence(truth: Path, tmp_path: Path) -> None:
    rendered(truth, tmp_path / "dark", gain=0.5)
    plain, fitted = (compare_view_folders(tmp_path / "dark", truth, gain=gain) for gain in ("none", "fit"))
    assert plain.gain == 1
    assert plain.mean_psnr < 20
    assert fitted.gain == pytest.approx(2, rel=1e-5)
    assert fitted.mean_psnr > 90


def test_noise_of_a_known_size(truth: Path, tmp_path: Path) -> None:
    rendered(truth, tmp_path / "noisy", noise=0.01)
    for view in compare_view_folders(tmp_path / "noisy", truth).views:
        assert view.psnr_linear == pytest.approx(40, abs=0.1)


def test_holes_lower_completeness_alone(truth: Path) -> None:
    light = read_image(truth / "view-00-00.light.tiff")
    holes = light.copy()
    holes[:50] = np.nan
    result = compare_view(holes, light)
    assert result.psnr == np.inf
    assert result.completeness == pytest.approx(1 - 50 / len(light))
    assert compare_view(light.mean(axis=2, keepdims=True), light).psnr_linear > 20  # gray is compared with gray


def test_pictures_of_eight_bits_are_srgb(truth: Path, tmp_path: Path) -> None:
    (tmp_path / "png").mkdir()
    for view in load_views(truth):
        write_image(read_image(truth / f"{view.name}.png"), tmp_path / "png" / f"{view.name}.png")
    result = compare_view_folders(tmp_path / "png", truth)
    assert result.mean_psnr > 55
    assert any("has no views.json" in note for note in result.notes)
    assert any("sRGB" in note for note in result.notes)


def test_views_of_other_pixels_are_refused(truth: Path, tmp_path: Path) -> None:
    views = rendered(truth, tmp_path / "moved")
    pinhole = views[0].pinhole
    for other, words in [
        (Pinhole(pinhole.fx, pinhole.fy, pinhole.cx + 0.5, pinhole.cy, pinhole.center), "0.5 px"),
        (Pinhole(pinhole.fx * 1.01, pinhole.fy, pinhole.cx, pinhole.cy, pinhole.center), "1.4 px"),
        (Pinhole(pinhole.fx, pinhole.fy, pinhole.cx, pinhole.cy, pinhole.center + [1.0, 0, 0]), "1 mm apart"),
    ]:
        save_views([replace(views[0], pinhole=other), views[1]], tmp_path / "moved")
        with pytest.raises(InputError, match="is not the true view") as error:
            compare_view_folders(tmp_path / "moved", truth)
        assert words in str(error.value)
    save_views([replace(views[0], name="else"), replace(views[1], name="other")], tmp_path / "moved")
    with pytest.raises(InputError, match="has no view of"):
        compare_view_folders(tmp_path / "moved", truth)
    with pytest.raises(InputError, match="is no folder"):
        compare_view_folders(tmp_path / "nowhere", truth)
