"""Views from places in the pupil see what pinholes there see; a video's views go into YUV files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rendered import FAR, NEAR, camera, decibels, depth_of_scene, seen_by_pinhole

from plenodepth import all_in_focus, viewpoints
from plenodepth.camera import GridCamera
from plenodepth.errors import InputError
from plenodepth.io.image_formats import read_images
from plenodepth.metric.result import DepthResult
from plenodepth.render.animation import sweep_places, write_animation
from plenodepth.render.pupil_views import grid_places
from plenodepth.render.steady import steady_surfaces
from plenodepth.render.surface import central_surface, surface_from
from plenodepth.render.view_video import depth_numbers, write_view_video


def test_each_is_what_a_pinhole_sees_there() -> None:
    views = list(viewpoints(depth_of_scene(), 3, 3))
    assert [view.name for view in views][:4] == ["view-00-00", "view-00-01", "view-00-02", "view-01-00"]
    middle = all_in_focus(depth_of_scene())
    np.testing.assert_array_equal(views[4].light, middle.light)
    np.testing.assert_array_equal(views[4].depth, middle.depth)
    for view in (views[0], views[5]):
        assert view.pinhole is not None
        truth, depth = seen_by_pinhole(view.pinhole, view.depth.shape)
        assert decibels(view.light, truth, border=40) > 22.0
        elsewhere, _ = seen_by_pinhole(middle.pinhole, view.depth.shape)  # type: ignore[arg-type]
        assert decibels(view.light, elsewhere, border=40) < decibels(view.light, truth, border=40) - 3
        error = np.abs(view.depth - depth) / depth
        assert np.mean(error[40:-40, 40:-40] > 0.05) < 0.05
        assert np.isfinite(view.light).all()
        hidden = view.filled[40:-40, 40:-40] & ~middle.filled[40:-40, 40:-40]
        assert hidden.any(), "what the middle does not see is flagged"


def test_what_lies_at_the_chosen_depth_stays_where_it_is() -> None:
    middle = all_in_focus(depth_of_scene())
    (right,) = [view for view in viewpoints(depth_of_scene(), 2, 1, converge=FAR) if view.viewpoint[0] > 0]
    corner = (slice(20, 80), slice(300, 440))  # of the wall
    assert np.abs(right.light[corner] - middle.light[corner]).mean() < 0.02
    assert right.pinhole is not None
    truth, _ = seen_by_pinhole(right.pinhole, right.depth.shape)
    assert decibels(right.light, truth, border=40) > 22.0


def test_a_grid_larger_than_the_pupil_is_one_line() -> None:
    with pytest.raises(InputError, match=r"span: of 0\.8 puts the outermost views at 1\.13 radii"):
        viewpoints(depth_of_scene(), span=0.8)
    with pytest.raises(InputError, match="grid: is 0x5"):
        grid_places(0, 5)
    assert grid_places(1, 1, 2.0) == {"view-00-00": (0.0, 0.0)}
    without = replace(camera(), main_lens=replace(camera().main_lens, f_number=None, exit_pupil=None))
    with pytest.raises(InputError, match="f_number"):
        surface_from(replace(central_surface(depth_of_scene()), camera=without), (0.5, 0.0), np.inf)


def grid_result() -> DepthResult:
    """The same image for a camera that is known by its grid only: virtual depth."""
    depth, known = depth_of_scene(), camera()
    grid = GridCamera("grid", known.sensor.width, known.sensor.height, known.micro_images, np.zeros((0, 2)))
    assert depth.dense is not None
    central = central_surface(depth)
    dense = replace(depth.dense, depth=1 / central.inverse, sigma=0.01 / central.inverse, metric=False)
    return replace(depth, camera=grid, metric=None, dense=dense)


def test_a_camera_known_by_its_grid_only_works_in_virtual_units() -> None:
    result = grid_result()
    view = all_in_focus(result)
    assert view.pinhole is None
    assert not view.metric
    near, far = (np.median(view.depth[region]) for region in ((slice(150, 210), slice(200, 260)), (slice(30, 80),)))
    assert near > far + 2  # virtual depth grows towards the camera
    left, middle, right = viewpoints(result, 3, 1)
    np.testing.assert_array_equal(middle.light, view.light)
    # What is near moves against the viewpoint.
    rows = slice(150, 210)
    column = [np.nonzero(one.depth[rows].mean(axis=0) > (near + far) / 2)[0].mean() for one in (left, middle, right)]
    assert column[0] > column[1] + 3 > column[2] + 6


def test_depth_stands_still_where_the_scene_does() -> None:
    depth = depth_of_scene()
    assert depth.dense is not None
    rng = np.random.default_rng(3)
    shape = depth.dense.depth.shape
    frames = []
    for _ in range(6):
        noisy = depth.dense.depth * (1 + 0.004 * rng.standard_normal(shape)).astype(np.float32)
        frames.append(replace(depth, dense=replace(depth.dense, depth=noisy)))
    moved = np.roll(depth.dense.light, 30, axis=1), np.full(shape, np.float32(NEAR))
    frames.append(replace(depth, dense=replace(depth.dense, light=moved[0], depth=moved[1])))
    surfaces = list(steady_surfaces(frames))
    still = [np.abs(surface.inverse - central_surface(depth).inverse) for surface in surfaces]
    assert np.median(still[5]) < 0.6 * np.median(still[0])
    np.testing.assert_array_equal(surfaces[0].inverse, central_surface(frames[0]).inverse)
    expected = central_surface(frames[6]).inverse
    assert np.mean(surfaces[6].inverse == expected) > 0.5, "what moves is each frame's own"


def test_a_video_becomes_one_file_per_view(tmp_path: Path) -> None:
    depth = depth_of_scene()
    video = write_view_video([depth, depth], tmp_path, grid_places(3, 1), scale=4.0, with_depth=True)
    assert video.frames == 2
    assert video.files == ["v000-232x182.yuv", "v001-232x182.yuv", "v002-232x182.yuv"]
    frames = list(read_images(tmp_path / video.files[1]))
    assert len(frames) == 2
    view = all_in_focus(depth, scale=4.0)
    shown = frames[0].pixels.astype(np.float64) / 65535 * 255
    difference = shown - view.picture[: shown.shape[0], : shown.shape[1]]
    assert np.abs(difference.mean(axis=(0, 1))).max() < 1.0
    assert np.abs(difference).mean() < 6.0  # colour at half the resolution
    np.testing.assert_array_equal(frames[0].pixels, frames[1].pixels)
    content = json.loads((tmp_path / "video.json").read_text())
    numbers = np.fromfile(tmp_path / video.depth_files[1], "<u2")[: 182 * 232].reshape(182, 232)
    near, far = content["nearest_depth"], content["farthest_depth"]
    back = 1 / (1 / far + numbers / 65535 * (1 / near - 1 / far))
    np.testing.assert_allclose(back, view.depth[:182, :232], rtol=1e-3)
    assert depth_numbers(np.array([[far, near, np.nan]], np.float32), (near, far)).tolist() == [[0, 65535, 0]]


def test_an_animation_opens_again(tmp_path: Path) -> None:
    from PIL import Image

    places = sweep_places(4, 0.9)
    assert all(abs(np.hypot(*place) - 0.9) < 1e-12 for place in places.values())
    pictures = [np.full((20, 31, 3), 60 * number, np.uint8) for number in range(4)]
    write_animation(iter(pictures), tmp_path / "turn.gif")
    with Image.open(tmp_path / "turn.gif") as gif:
        assert gif.n_frames == 4  # type: ignore[attr-defined]
        assert gif.size == (31, 20)
    write_animation(iter(pictures), tmp_path / "turn.mp4")
    frames = list(read_images(tmp_path / "turn.mp4"))
    assert len(frames) == 4
    assert frames[0].pixels.shape[:2] == (20, 30)
    for name, message in (("turn.webm", "ends in '.webm'"),):
        with pytest.raises(InputError, match=message):
            write_animation(iter(pictures), tmp_path / name)
    with pytest.raises(InputError, match="count: is 1"):
        sweep_places(1, 0.5)
    with pytest.raises(InputError, match="not within the pupil"):
        sweep_places(8, 1.5)
