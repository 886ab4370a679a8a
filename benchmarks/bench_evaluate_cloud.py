"""`evaluate cloud` on 2 million points: our search against SciPy's and trimesh's, in the same run.

Run it as a program, `python benchmarks/bench_evaluate_cloud.py [points]`, for all points, or with pytest for a tenth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from plenodepth.evaluate.clouds.comparison import compare_cloud_files
from plenodepth.evaluate.clouds.nearest import nearest_points, nearest_triangles
from plenodepth.io import write_ply

Float64 = NDArray[np.float64]

POINTS = 2_000_000
NOISE, BIAS = 5.0, 10.0  # mm along the view: depth lies beside the true surface by many times its points' spacing
LEAF_SIZES = (16, 64)  # SciPy's default, and the fastest of 8, 16, 32, 64 here


def wall(count: int, seed: int) -> Float64:
    """Points (about count, 3), mm, in the order of an image on a wavy wall some 800 mm away."""
    side = int(np.sqrt(count))
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[0 : 1 : side * 1j, 0 : 1 : side * 1j]
    x, y = (500 * (part + generator.normal(0, 0.2 / side, part.shape)) - 250 for part in (x, y))
    return np.stack([x, y, 800 + 40 * np.sin(x / 60) * np.cos(y / 45)], axis=-1).reshape(-1, 3)


def measured_wall(count: int) -> Float64:
    """The wall as depth is found on it: off by a bias and by noise along the view."""
    points = wall(count, 1)
    points[:, 2] += BIAS + np.random.default_rng(2).normal(0, NOISE, len(points))
    return points


def timed(name: str, work: Callable[[], Float64]) -> tuple[float, Float64]:
    """Seconds and result of the work."""
    start = perf_counter()
    result = work()
    seconds = perf_counter() - start
    print(f"  {name:40s} {seconds:8.2f} s", flush=True)
    return seconds, result


def compare_points(count: int) -> float:
    """How many times as long the whole comparison of two clouds would take with SciPy's tree at its best."""
    reading, reference = measured_wall(count), wall(count, 3)
    nearest_points(reading[:100], reference[:100])  # compiled before the clock runs
    print(f"{len(reading)} points and {len(reference)} points, {BIAS:g} ± {NOISE:g} mm apart")
    own, best = 0.0, 0.0
    for way, one, other in (("to the reference", reading, reference), ("back", reference, reading)):
        ours_seconds, ours = timed(f"own tree, {way}", partial(own_tree, one, other))
        theirs = []
        for leaf in LEAF_SIZES:
            seconds, found = timed(
                f"SciPy, {leaf} points in a leaf, {way}",
                lambda one=one, other=other, leaf=leaf: kd_tree(one, other, leaf),
            )
            np.testing.assert_allclose(found, ours, rtol=1e-12)
            theirs.append(seconds)
        print(f"  SciPy / own: {min(theirs) / ours_seconds:.2f}")
        own, best = own + ours_seconds, best + min(theirs)
    with TemporaryDirectory() as folder:
        for name, points in (("reading", reading), ("reference", reference)):
            write_ply(points, Path(folder) / f"{name}.ply")
        whole, _ = timed("whole comparison, own tree", lambda: whole_comparison(Path(folder)))
    ratio = (whole - own + best) / whole
    print(f"  whole comparison with SciPy / with the own tree: {ratio:.2f}")
    return ratio


def own_tree(points: Float64, others: Float64) -> Float64:
    """Distances (n,) by the tree of this package on all threads."""
    return nearest_points(points, others).distance


def kd_tree(points: Float64, others: Float64, leaf: int) -> Float64:
    """Distances (n,) by SciPy's tree on all threads."""
    return np.asarray(cKDTree(others, leafsize=leaf).query(points, workers=-1)[0])


def whole_comparison(folder: Path) -> Float64:
    """What `evaluate cloud` does without a camera."""
    result = compare_cloud_files(folder / "reading.ply", folder / "reference.ply")
    assert result.distances is not None
    return result.distances.to_reference


def compare_triangles(count: int, triangles: int) -> float | None:
    """Time of trimesh over ours for points to a mesh of the wall; None where trimesh lacks the package rtree."""
    import trimesh

    try:
        import rtree  # noqa: F401
    except ImportError:
        print("trimesh.proximity needs the package rtree, which is not installed: not compared")
        return None
    side = int(np.sqrt(triangles / 2)) + 1
    vertices = wall(side * side, 3)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.concatenate([corner[:, None] + [0, 1, side], corner[:, None] + [1, side + 1, side]])
    reading = measured_wall(count)
    nearest_triangles(reading[:100], vertices, faces[:100])
    print(f"{len(reading)} points and {len(faces)} triangles")
    own, ours = timed("own triangles", lambda: nearest_triangles(reading, vertices, faces).distance)
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    other, theirs = timed("trimesh.proximity", lambda: np.asarray(trimesh.proximity.closest_point(mesh, reading)[1]))
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
    print(f"  trimesh / own: {other / own:.2f}")
    return other / own


def test_the_own_tree_is_faster() -> None:
    print()
    assert compare_points(POINTS // 10) > 1


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else POINTS
    compare_points(number)
    compare_triangles(number // 10, number // 10)
