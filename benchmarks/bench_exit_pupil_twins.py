"""Twins of R12-A whose exit pupil lies elsewhere, calibrated from their images: what comes out against the truth.

    pytest benchmarks/bench_exit_pupil_twins.py -s -o python_files="bench_*.py"

Three white images and twelve boards of each twin, full size, are simulated once into `benchmarks/.twins` and kept (a
few minutes for each; then it takes a minute for each). Rows of the table: as `plenodepth calibrate` does it; with
corners found once more by the camera that came out; with the simulator's true blur radii in place of those found; with
its true corners as well, which tells how much of an error is theirs; and with these and noise as large as that of the
corners that were found, which tells what to expect of any search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from plenodepth.cache import WorkFolder
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.step import AdjustStep, adjust_step
from plenodepth.calib.corners.step import features_step
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ImageReader, ListedImage
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.calib.whites.step import white_step
from plenodepth.camera import PlenopticCamera, lens_distances, metric_from_virtual, project
from plenodepth.camera.parameters import PUPIL_DISTANCE
from plenodepth.sim.optics.camera import camera_with_optics
from plenodepth.sim.optics.options import RealOptics, Stop
from plenodepth.sim.render import RenderSettings
from plenodepth.sim.scenes.scene import Checkerboard
from plenodepth.sim.scenes.twins import twin
from plenodepth.sim.sensor import SensorSettings
from plenodepth.sim.simulate import FrameSettings, simulate_scene, simulate_white

TWINS = Path(__file__).parent / ".twins"
BOARD = Board(9, 5, 10.0)
WHITES, BOARDS, RAYS = (4.0, 5.66, 8.0), 12, 24
DEPTHS = np.array([14.0, 10.0, 8.0, 6.0, 4.0, 3.0])  # virtual
AWARE = AdjustSettings(aperture=True)
ASKED = 0.003  # of depth
OUTLYING = 1.0  # px


@pytest.mark.parametrize("distance", [-15.0, 20.0])
def test_calibration_of_a_twin_with_its_pupil_elsewhere(distance: float, tmp_path: Path) -> None:
    true, whites, boards = _images(distance)
    sensor, work, read = true.sensor, WorkFolder(tmp_path), ImageReader()
    optics = Optics(50.0, 4.0, 450.0, sensor.pixel_size, sensor.width, sensor.height)
    first = white_step(whites, optics, work, threads=2, read=read)
    white = whites[0].path
    print(f"\ne = {distance:g} mm, full size, {len(whites)} white images, {len(boards)} boards, {RAYS} rays per pixel")
    print("corners             RMSE px   e, mm           F %      D %      d %      f %                   depth %, v =")
    print(" " * 92 + "".join(f"{v:7g}" for v in DEPTHS))
    features = features_step(boards, BOARD, first.camera, work, white=white, threads=2, read=read).features
    found = adjust_step(features, first.centers, BOARD, first.camera, work, settings=AWARE)
    errors = _print_row("found", found, true)
    again = features_step(boards, BOARD, _aware_start(first.camera, found), work, white=white, threads=2, read=read)
    second = adjust_step(again.features, first.centers, BOARD, first.camera, work, settings=AWARE)
    _print_row("found twice", second, true)
    exact = _true_corners(features, boards, true, first.camera)
    seen = np.isfinite(exact.uv).all(axis=1)
    features, exact = features.where(seen), exact.where(seen)
    noise = _spread(features.uv - exact.uv)
    generator = np.random.default_rng(0)
    for label, corners in (
        ("found, true ρ", replace(features, rho=exact.rho)),
        ("true", exact),
        *((f"true + {noise:.2f} px", _noisy(exact, noise, generator)) for _ in range(3)),
    ):
        _print_row(label, adjust_step(corners, first.centers, BOARD, first.camera, work, settings=AWARE), true)
    sigma = dict(zip(found.uncertainty.names, found.uncertainty.sigma, strict=True))[PUPIL_DISTANCE]
    assert abs(found.camera.main_lens.pupil_distance - distance) < 2 * sigma
    assert np.abs(errors).max() < ASKED


def _images(distance: float) -> tuple[PlenopticCamera, list[ListedImage], list[ListedImage]]:
    """The true camera of a twin, its white images and its boards; those that are missing are simulated."""
    plan = twin("r12-a")
    optics = RealOptics(exit_pupil=Stop(distance))
    bare, root = replace(plan.camera, depth_scale=None), TWINS / f"r12-a-pupil{distance:+g}"
    whites, boards = [], []
    planned = [frame for frame in plan.frames if frame.folder.startswith("boards/")][:BOARDS]
    for index, frame in enumerate([*WHITES, *planned]):
        settings = FrameSettings(RenderSettings(rays=RAYS, seed=0, optics=optics), SensorSettings(seed=index))
        folder = root / (f"white/f{frame:05.2f}" if isinstance(frame, float) else frame.folder)
        if not folder.is_dir():
            if isinstance(frame, float):
                simulate_white(frame, bare, folder, settings)
            else:
                assert frame.scene is not None
                simulate_scene(frame.scene(), bare, folder, settings, frame=frame.frame)
        if isinstance(frame, float):
            whites.append(ListedImage(folder / "raw.png", frame, 0))
        else:
            boards.append(ListedImage(folder / "raw.png", None, frame.frame))
    return camera_with_optics(bare, optics), whites, boards


def _aware_start(start: PlenopticCamera, found: AdjustStep) -> PlenopticCamera:
    """The camera that came out, with the grid of the white images, in which corners are looked for."""
    return replace(found.adjustment.camera, micro_images=start.micro_images, name=start.name)


def _print_row(label: str, step: AdjustStep, true: PlenopticCamera) -> np.ndarray:
    """Print a row of the table; relative errors of depth."""
    camera, lens = step.camera, step.camera.main_lens
    sigma = dict(zip(step.uncertainty.names, step.uncertainty.sigma, strict=True)).get(PUPIL_DISTANCE, 0.0)
    (main, sensor), (true_main, true_sensor) = lens_distances(camera), lens_distances(true)
    focal = np.sort(camera.micro_lenses.focal_lengths) / np.sort(true.micro_lenses.focal_lengths)
    ratios = [lens.focal_length / true.main_lens.focal_length, main / true_main, sensor / true_sensor, *focal]
    depth = metric_from_virtual(DEPTHS, camera) / metric_from_virtual(DEPTHS, true) - 1
    numbers = "".join(f"{100 * (float(value) - 1):+9.2f}" for value in ratios)
    print(
        f"{label:<20}{step.adjustment.rmse_uv:7.3f}   {lens.pupil_distance:+6.1f} ± {sigma:4.1f}{numbers}",
        "".join(f"{100 * error:+7.2f}" for error in depth),
    )
    return np.asarray(depth)


def _true_corners(
    features: Features, boards: list[ListedImage], true: PlenopticCamera, found: PlenopticCamera
) -> Features:
    """The features as the simulator has them: corners through the aperture, NaN where not seen, and blur radii."""
    uv, rho = features.uv.copy(), features.rho.copy()
    k, l = (index.ravel() for index in true.micro_images.lattice.indices())
    # Lenses may be counted from elsewhere.
    _, lens = cKDTree(true.micro_images.center(k, l)).query(found.micro_images.center(features.k, features.l))
    for image, board in zip(boards, _boards(len(boards)), strict=True):
        mine = features.frame == image.frame
        corners, own = board.cam_from_object(board.corners()), (k[lens[mine]], l[lens[mine]])
        # A board that is turned by 180° looks the same.
        ways = [turned[features.corner[mine]] for turned in (corners, corners[::-1])]
        shown = [project(points, *own, true, apparent=True).uv for points in ways]
        right = int(np.argmin([np.median(np.nan_to_num(np.abs(places - uv[mine]), nan=99.0)) for places in shown]))
        # The adjustment predicts blur radii that the aperture does not clip.
        rho[mine] = np.where(np.isfinite(rho[mine]), project(ways[right], *own, true).rho, np.nan)
        uv[mine] = shown[right]
    return replace(features, uv=uv, rho=rho)


def _spread(errors: np.ndarray) -> float:
    """Standard deviation, px, of errors (n, 2) without outliers."""
    return float(errors[np.abs(errors).max(axis=1) < OUTLYING].std())


def _noisy(features: Features, noise: float, generator: np.random.Generator) -> Features:
    return replace(features, uv=features.uv + generator.normal(0, noise, features.uv.shape))


def _boards(count: int) -> Iterator[Checkerboard]:
    for planned in [frame for frame in twin("r12-a").frames if frame.folder.startswith("boards/")][:count]:
        assert planned.scene is not None
        (board,) = planned.scene().objects
        assert isinstance(board, Checkerboard)
        yield board
