"""Two sets of points are matched by their distances, with points missing in either."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.lidar.point_matching import Match, match_constellations
from plenodepth.errors import InputError
from plenodepth.geometry import Pose

CAM_FROM_LIDAR = Pose.from_rotation_vector([0.4, -2.1, 1.3], [250.0, 80.0, -900.0])
SEEN = np.array([[-80, -60, 650], [150, -110, 900], [30, -30, 1100], [-90, 50, 800], [95, 35, 560.0]])


def matched(seen: np.ndarray, cam: np.ndarray, noise: float = 0.0, depth_sigma: float = 5.0) -> Match:
    """`cam` are the lidar's points, in the camera frame."""
    generator = np.random.default_rng(1)
    blurred = seen * (1 + noise * generator.standard_normal(len(seen))[:, None])
    others = CAM_FROM_LIDAR.inverse()(cam) + 0.1 * generator.standard_normal(cam.shape)
    return match_constellations(blurred, np.full(len(seen), depth_sigma), others, np.full(len(cam), 0.1))


def test_points_in_another_order_are_matched_and_the_motion_is_found() -> None:
    order = np.array([3, 0, 4, 1, 2])
    found = matched(SEEN, SEEN[order], noise=0.005)
    assert order[found.other].tolist() == found.seen.tolist() == [0, 1, 2, 3, 4]
    assert np.abs(found.seen_from_other(CAM_FROM_LIDAR.inverse()(SEEN)) - SEEN).max() < 10


@pytest.mark.parametrize("seed", range(5))
def test_missing_and_additional_points_do_no_harm(seed: int) -> None:
    generator = np.random.default_rng(seed)
    low, high = [-200, -150, 500], [200, 150, 1400]
    more, others = (generator.uniform(low, high, (6, 3)) for _ in range(2))
    found = matched(np.concatenate([SEEN, more]), np.concatenate([others, SEEN[:4]]), noise=0.003)
    assert found.seen.tolist() == [0, 1, 2, 3]
    assert found.other.tolist() == [6, 7, 8, 9]


def test_an_even_constellation_is_refused() -> None:
    square = np.array([[-100, -100, 800], [100, -100, 800], [100, 100, 800], [-100, 100, 800.0]])
    with pytest.raises(InputError, match="4 found in the image, 4 in the cloud; 4 of them match in more than one way"):
        matched(square, square)


def test_other_points_are_refused_and_counted() -> None:
    with pytest.raises(InputError, match="5 found in the image, 4 in the cloud; fewer than 3"):
        matched(SEEN, SEEN[:4] * [1.0, 1.7, 0.6])
    with pytest.raises(InputError, match="2 found in the image"):
        matched(SEEN[:2], SEEN)


def test_a_mirrored_constellation_is_no_match() -> None:
    with pytest.raises(InputError, match="targets"):
        matched(SEEN, SEEN * [-1, 1, 1], depth_sigma=1.0)
