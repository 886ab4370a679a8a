from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from shown_results import write_relief, write_result

from plenodepth.errors import InputError
from plenodepth.io import write_ply
from plenodepth.view.browser.clouds import ShownCloud, load_shown_cloud
from plenodepth.view.browser.coloring import color_bar, color_ends, color_kinds, colors_of
from plenodepth.view.browser.frames import NO_MM, open_frames
from plenodepth.view.browser.selection import Limits, select


@pytest.fixture
def cloud(tmp_path: Path) -> ShownCloud:
    return load_shown_cloud(write_result(tmp_path) / "raw.ply")


def test_without_limits_all_points_are_shown(cloud: ShownCloud) -> None:
    selection = select(cloud, Limits())
    assert selection.index.tolist() == list(range(4000))
    assert selection.sentence == "4,000 of 4,000 points are within the limits; all of them are drawn."


def test_each_limit_keeps_what_it_says(cloud: ShownCloud) -> None:
    assert cloud.confidence is not None
    assert cloud.sigma is not None
    chosen = select(cloud, Limits(least_confidence=0.75)).index
    assert len(chosen) == 1000
    assert cloud.confidence[chosen].min() >= 0.75
    assert np.all(cloud.depth[select(cloud, Limits(largest_sigma=7.0)).index] == 600)
    assert np.all(cloud.depth[select(cloud, Limits(near=700)).index] == 900)
    assert np.all(cloud.depth[select(cloud, Limits(far=700)).index] == 600)
    assert len(select(cloud, Limits(least_confidence=0.5, near=700)).index) == 1000


def test_points_without_a_sigma_keep_to_no_limit_of_it() -> None:
    points = np.ones((3, 3), np.float32)
    sigma = np.array([1, np.nan, 3], np.float32)
    cloud = ShownCloud(points, points[:, 2], None, None, sigma, metric=True)
    assert select(cloud, Limits(largest_sigma=2)).index.tolist() == [0]
    assert len(select(cloud, Limits()).index) == 3


def test_a_large_cloud_is_thinned_by_level_and_says_so(cloud: ShownCloud) -> None:
    all_of_it, some, few = (select(cloud, Limits(), most) for most in (4000, 1500, 300))
    assert (all_of_it.level, some.level, few.level) == (0, 2, 4)
    assert 700 < len(some.index) < 1300
    assert len(few.index) <= 300
    assert "one in 4 (level 2)" in some.sentence
    assert set(few.index) < set(some.index), "a thinner cloud keeps its points"
    assert abs(np.mean(cloud.depth[some.index] == 900) - 0.5) < 0.06, "thinned evenly"


def test_a_filtered_cloud_is_thinned_less(cloud: ShownCloud) -> None:
    assert select(cloud, Limits(least_confidence=0.75), 1500).level == 0


def test_colours_of_a_quantity_go_from_end_to_end(cloud: ShownCloud) -> None:
    assert color_kinds(cloud) == ["picture", "depth", "confidence", "sigma"]
    colors = colors_of(cloud, "confidence", color_ends(cloud, "confidence"))
    assert colors[0].tolist() == [68, 1, 84]  # the ends of viridis
    assert colors[-1].tolist() == [253, 231, 37]
    near, far = (colors_of(cloud, "depth", (600, 900))[index].sum(dtype=int) for index in (1, 0))
    assert near > far, "near is bright"
    assert np.array_equal(colors_of(cloud, "picture", (0, 1)), cloud.colors)


def test_errors_are_blue_where_too_near_and_red_where_too_far() -> None:
    points = np.ones((4, 3), np.float32)
    error = np.array([-5, 0, 5, np.nan], np.float32)
    cloud = ShownCloud(points, points[:, 2], None, None, None, metric=True, error=error)
    near, none, far, unknown = colors_of(cloud, "error", (-5.0, 5.0)).tolist()
    assert near[2] > near[0]
    assert far[0] > far[2]
    assert min(none) > 240
    assert unknown == [90, 90, 90]


def test_the_bar_names_the_ends_and_the_unit() -> None:
    bar = color_bar("sigma", True, (4.5, 98.25))
    assert "4.5" in bar
    assert "98.25" in bar
    assert "σ mm" in bar
    assert color_bar("picture", True, (0, 1)) == ""


def test_a_camera_known_by_its_grid_gives_a_relief_and_no_millimetres(tmp_path: Path) -> None:
    (frame,) = open_frames(write_relief(tmp_path))
    assert NO_MM in frame.notes
    (cloud,) = (load() for load in frame.clouds.values())
    assert not cloud.metric
    assert len(cloud) == 1195
    assert cloud.colors is not None
    assert cloud.confidence is not None
    assert cloud.sigma is not None
    assert cloud.points[np.argmax(cloud.depth), 2] < cloud.points[np.argmin(cloud.depth), 2], "larger v is nearer"


def test_a_cloud_without_columns_can_be_shown(tmp_path: Path) -> None:
    write_ply(np.random.default_rng(0).normal(900, 50, (50, 3)), tmp_path / "plain.ply")
    (frame,) = open_frames(tmp_path / "plain.ply")
    cloud = frame.clouds["cloud"]()
    assert (cloud.colors, cloud.confidence, cloud.sigma) == (None, None, None)
    assert color_kinds(cloud) == ["depth"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ply\nformat ascii 1.0\nelement vertex 3\n", "is not a PLY file with a whole header"),
        (b"nonsense", "is not a PLY file"),
        (b"ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
         "holds no points"),
        (b"ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty float x\nproperty float y\n"
         b"property float z\nend_header\nabc", "9 announced, the file holds 0"),
    ],
)  # fmt: skip
def test_a_malformed_cloud_is_one_clear_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.ply"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_shown_cloud(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
