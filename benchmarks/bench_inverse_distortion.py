"""How well the inverse distortion works: the table of docs/camera-model.md, and what exactness costs."""

from __future__ import annotations

import time

import numpy as np
import pytest

from plenodepth.camera import Distortion, calibrate_inverse_distortion, distort, preset, undistort_exactly
from plenodepth.camera.distortion import distortion_basis
from plenodepth.camera.inverse_distortion import virtual_space_samples

CAMERAS = ("r12-a", "r12-b", "r12-c", "r12-e")


def rmse(difference: np.ndarray) -> float:
    return float(np.sqrt((difference**2).sum(axis=1).mean()))


def disc(radius: float, samples: int = 20_000) -> np.ndarray:
    """Points uniform in a disc about the axis."""
    generator = np.random.default_rng(0)
    r, angle = radius * np.sqrt(generator.uniform(size=samples)), generator.uniform(0, 2 * np.pi, samples)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(samples, -55.0)])


def best_five(points: np.ndarray, distortion: Distortion) -> Distortion:
    """The five coefficients of least error over the points themselves: no choice of samples can beat them there."""
    distorted = distort(points, distortion)
    basis = distortion_basis(distorted).reshape(-1, 5)
    size = np.linalg.norm(basis, axis=0)
    return Distortion.from_coefficients(
        np.linalg.lstsq(basis / size, (points - distorted)[:, :2].ravel(), rcond=None)[0] / size
    )


def print_row(label: str, values: list[float]) -> None:
    print(f"{label:45s}" + "".join(f"{value:12.1e}" for value in values))


def test_error_of_the_inverse_distortion() -> None:
    cameras = [preset(name) for name in CAMERAS]
    print("\nRMSE in mm" + " " * 35 + "".join(f"{name:>12s}" for name in CAMERAS))
    for field in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5):
        fits = [calibrate_inverse_distortion(camera, field=field) for camera in cameras]
        print_row(f"five coefficients, middle {field:.0%} of the image", [fit.rmse for fit in fits])
    for radius in (3.0, 10.0):
        points = disc(radius)
        fitted = [best_five(points, camera.distortion) for camera in cameras]
        errors = [
            rmse(distort(distort(points, c.distortion), f) - points) for c, f in zip(cameras, fitted, strict=True)
        ]
        print_row(f"five coefficients, disc of {radius:g} mm", errors)
    published = [c.inverse_distortion for c in cameras]
    errors = [
        rmse(distort(distort(points, c.distortion), p) - points)
        for c, p in zip(cameras, published, strict=True)
        if p is not None
    ]
    print_row("the paper's coefficients, disc of 10 mm", errors)
    newton = []
    for camera in cameras:
        points = virtual_space_samples(camera)
        newton.append(rmse(undistort_exactly(distort(points, camera.distortion), camera.distortion) - points))
    print_row("Newton's inverse, the whole image", newton)
    ratios = []
    for camera in cameras:
        assert camera.inverse_distortion is not None
        leading = calibrate_inverse_distortion(camera).distortion.radial[0]
        ratios.append(leading / camera.inverse_distortion.radial[0])
    print(f"{'leading coefficient over the paper’s':45s}" + "".join(f"{ratio:12.4f}" for ratio in ratios))
    assert max(newton) < 1e-12
    assert ratios == pytest.approx([1] * 4, abs=0.02)


def test_cost_of_exactness() -> None:
    camera = preset("r12-e")
    points = np.asfortranarray(virtual_space_samples(camera, 500_000))
    distorted = distort(points, camera.distortion)
    assert camera.inverse_distortion is not None

    def seconds(work: object) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            work()  # type: ignore[operator]
            times.append(time.perf_counter() - start)
        return min(times)

    exact = seconds(lambda: undistort_exactly(distorted, camera.distortion))
    five = seconds(lambda: distort(distorted, camera.inverse_distortion))
    print(
        f"\nNewton's inverse: {1e9 * exact / len(points):.0f} ns per point, {exact / five:.0f} times five coefficients"
    )
