"""Corners of one point in space are put together, whatever else micro-images show."""

from __future__ import annotations

import numpy as np
import pytest

from plenodepth.calib.corners.clusters import find_clusters
from plenodepth.calib.corners.fit import Corners
from plenodepth.camera import preset

MICRO_IMAGES = preset("r12-mini").micro_images


def views(center: np.ndarray, factor: float, diagonal: float, noise: float, seed: int) -> Corners:
    """What all micro-images show of a point, px; `diagonal` rad: of the bright squares."""
    k, l = (index.reshape(-1) for index in MICRO_IMAGES.lattice.indices())
    offset = -factor * (MICRO_IMAGES.center(k, l) - center)
    seen = np.linalg.norm(offset, axis=1) < 9
    uv = MICRO_IMAGES.center(k, l)[seen] + offset[seen]
    uv = uv + np.random.default_rng(seed).normal(0, noise, uv.shape)
    count = len(uv)
    return Corners(
        k=k[seen],
        l=l[seen],
        uv=uv,
        thin=uv,
        covariance=np.tile(noise**2 * np.eye(2), (count, 1, 1)),
        normals=np.tile([diagonal - np.pi / 4, diagonal + np.pi / 4], (count, 1)),
        bright=np.tile([np.cos(2 * diagonal), np.sin(2 * diagonal)], (count, 1)),
        contrast=np.full(count, 0.4),
        offset=np.full(count, 0.5),
        spread=np.ones(count),
        spread_sigma=np.full(count, 0.1),
        chi=np.ones(count),
    )


def joined(parts: list[Corners]) -> Corners:
    names = Corners.__dataclass_fields__
    return Corners(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


@pytest.mark.parametrize("factor", [0.08, 0.2, 0.4, -0.2])
def test_points_of_one_depth_are_told_apart(factor: float) -> None:
    centers = [np.array([150.0, 150.0]), np.array([260.0, 160.0]), np.array([200.0, 260.0])]
    parts = [views(center, factor, 0.3 + index * np.pi / 2, 0.2, index) for index, center in enumerate(centers)]
    clusters, label = find_clusters(joined(parts), MICRO_IMAGES)
    truth = np.repeat(np.arange(3), [len(part) for part in parts])
    assert len(clusters) == 3
    assert (label >= 0).mean() > 0.95
    for number in range(3):
        assert len(set(truth[label == number])) == 1
        error = clusters.center[number] - centers[truth[label == number][0]]
        assert np.linalg.norm(error) * abs(factor) < 0.3
        assert clusters.factor[number] == pytest.approx(factor, abs=4 * clusters.factor_sigma[number])


def test_corners_of_opposite_polarity_are_no_cluster() -> None:
    one, other = (views(np.array([250.0, 200.0]), 0.2, turn, 0.1, 0) for turn in (0.0, np.pi / 2))
    clusters, label = find_clusters(joined([one, other]), MICRO_IMAGES)
    assert len(clusters) == 2
    assert set(label[: len(one)]).isdisjoint(label[len(one) :])


def test_stray_corners_belong_to_none() -> None:
    generator = np.random.default_rng(4)
    part = views(np.array([250.0, 200.0]), 0.15, 0.2, 0.2, 1)
    stray = views(np.array([250.0, 200.0]), 0.02, 0.2, 0.2, 2)
    stray = stray.where(generator.choice(len(stray), 60, replace=False))
    stray.uv[:] = MICRO_IMAGES.center(stray.k, stray.l) + generator.uniform(-7, 7, stray.uv.shape)
    clusters, label = find_clusters(joined([part, stray]), MICRO_IMAGES)
    best = int(np.argmax(clusters.views))
    assert (label[: len(part)] == best).mean() > 0.95
    assert (label[len(part) :] == best).mean() < 0.15


def test_no_corners_make_no_clusters() -> None:
    none = views(np.array([250.0, 200.0]), 0.2, 0.0, 0.1, 0).where(np.zeros(0, dtype=np.int64))
    clusters, label = find_clusters(none, MICRO_IMAGES)
    assert len(clusters) == 0
    assert len(label) == 0
