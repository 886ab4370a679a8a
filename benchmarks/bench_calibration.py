"""Calibration of a full-size twin, stage by stage: seconds, and what comes out against the truth.

    pytest benchmarks/bench_calibration.py -s -o python_files="bench_*.py"

The twin (5 white images, 16 boards) is simulated once into `benchmarks/.twins` and kept. Times are printed with shares
of what the adjustment takes on the same machine in the same run; the whole should take a minute on 2 quiet cores.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from plenodepth.cache import WorkFolder
from plenodepth.calib.blur.step import kappa_step
from plenodepth.calib.bundle.problem import intrinsic_values
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.step import adjust_step
from plenodepth.calib.corners.step import features_step
from plenodepth.calib.features import Board, Features
from plenodepth.calib.image_list import ImageReader, listed_images
from plenodepth.calib.whites.start_camera import Optics
from plenodepth.calib.whites.step import GridOptions, white_step
from plenodepth.camera import Configuration, PlenopticCamera, load_plenoptic_camera, metric_from_virtual, project
from plenodepth.camera.micro_lenses import lens_center
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.sim.dataset import simulate_dataset
from plenodepth.sim.scenes.scene import Checkerboard
from plenodepth.sim.scenes.twins import twin
from plenodepth.timing import StageClock

TWINS = Path(__file__).parent / ".twins"
BOARDS = {
    "r12-a": Board(9, 5, 10.0),
    "r12-b": Board(8, 5, 20.0),
    "r12-c": Board(6, 4, 30.0),
    "upc-s": Board(9, 6, 14.0),
}
# Nominal focal length, f-number and focus distance.
OPTICS = {
    "r12-a": (50.0, 4.0, 450.0),
    "r12-b": (50.0, 4.0, 1000.0),
    "r12-c": (50.0, 4.0, np.inf),
    "upc-s": (10.0, 2.0, np.inf),
}
VIRTUAL_DEPTHS = {"upc-s": np.array([20.0, 16.0, 12.0, 10.0, 8.5])}  # those of its boards: 160 to 500 mm
R12_DEPTHS = np.array([14.0, 10.0, 8.0, 6.0, 4.0, 3.0])


@pytest.mark.parametrize("name", ["r12-a", "r12-b", "r12-c", "upc-s"])
def test_calibration_of_a_twin(name: str, tmp_path: Path) -> None:
    folder = TWINS / name
    simulate_dataset(name, folder, rays=64)
    true = replace(load_plenoptic_camera(folder / "camera.yaml"), depth_scale=None)
    whites, boards = listed_images(folder / "white"), listed_images(folder / "boards")
    lattice, sensor = true.micro_images.lattice, true.sensor
    unfocused = true.type_count == 1
    optics = Optics(
        *OPTICS[name],
        sensor.pixel_size,
        sensor.width,
        sensor.height,
        configuration=Configuration.UNFOCUSED if unfocused else Configuration.GALILEAN,
    )
    depths = VIRTUAL_DEPTHS.get(name, R12_DEPTHS)
    clock, work, white, read = StageClock(), WorkFolder(tmp_path), whites[0].path, ImageReader()
    grid = GridOptions(lattice.columns, lattice.rows, type_count=true.type_count)
    with clock.stage("white images"):
        first = white_step(whites, optics, work, grid=grid)
    with clock.stage("features"):
        second = features_step(boards, BOARDS[name], first.camera, work, white=white, threads=2, read=read)
    with clock.stage("adjustment"):
        aware = AdjustSettings(aperture=True)
        result = adjust_step(second.features, first.centers, BOARDS[name], first.camera, work, settings=aware)
    kappa = np.nan
    if not unfocused:  # κ compares lens types
        with clock.stage("kappa"):
            step = kappa_step(boards, second.features, result.camera, work, white=white, threads=2, read=read)
        kappa = step.record.kappa

    names = intrinsic_names(true)
    found, truth = (dict(zip(names, intrinsic_values(camera), strict=True)) for camera in (result.camera, true))
    truth |= _renumbered(true, result.camera)
    known = result.uncertainty
    errors = np.array([(found[n] - truth[n]) / s for n, s in zip(known.names, known.sigma, strict=True)])
    depth = metric_from_virtual(depths, result.camera) / metric_from_virtual(depths, true) - 1
    print(f"\n{name}: {clock.total.wall:.0f} s, {clock.total.cpu:.0f} CPU-seconds in all")
    for stage, taken in clock.stages.items():
        ratio = taken.cpu / clock.stages["adjustment"].cpu
        print(f"  {stage:<14} {taken.wall:6.1f} s, {taken.cpu:6.1f} CPU-seconds, {ratio:5.1f} × the adjustment")
    rmse = result.adjustment.rmse_uv
    print(f"  {len(second.features)} features, RMSE (u, v) {rmse:.3f} px, κ {kappa:.3f}")
    right, seen = _right_and_found(name, true, first.camera, second.features)
    print(f"  features that are true corners: {100 * right:.2f} %; corners found: {100 * seen:.2f} %")
    print(f"  error over σ: at most {np.abs(errors).max():.2f}, spread {errors.std():.2f}")
    print(
        "  error of depth, %:",
        ", ".join(f"{100 * e:+.3f} (v = {v:g})" for v, e in zip(depths, depth, strict=True)),
    )
    assert right >= 0.99
    assert seen >= 0.8
    assert np.abs(errors).max() < 4
    assert np.abs(depth[depths > 3]).max() < 0.002


def _renumbered(true: PlenopticCamera, found: PlenopticCamera) -> dict[str, float]:
    """The true place of the array if its lenses are counted from where `found` does: those at the rim may be dark.

    By one and the same lens in both: which rows are shifted may differ, too. The first lens is behind the last
    micro-image, since micro-lenses turn what they show about.
    """
    lattice = found.micro_images.lattice
    last = lattice.columns - 1, lattice.rows - 1
    k, l = true.micro_images.lattice.indices()
    away = np.linalg.norm(true.micro_images.center(k, l) - found.micro_images.center(*last), axis=-1)
    row, column = np.unravel_index(np.argmin(away), away.shape)
    place = found.micro_lenses.cam_from_mla.translation + lens_center(column, row, true) - lens_center(*last, found)
    return {f"micro_lenses.translation.{axis}": float(place[index]) for index, axis in enumerate("xyz")}


def _right_and_found(
    name: str, true: PlenopticCamera, found: PlenopticCamera, features: Features
) -> tuple[float, float]:
    """The share of features within 1.5 px of a true corner, and of views found (2.5 px inside, |ρ| ≤ 4 px)."""
    k, l = (index.ravel() for index in true.micro_images.lattice.indices())
    center = true.micro_images.center(k, l)
    lenses = cKDTree(center)
    right = hit = wanted = 0
    for planned in twin(name).frames:
        if not planned.folder.startswith("boards/") or planned.scene is None:
            continue
        (board,) = planned.scene().objects
        assert isinstance(board, Checkerboard)
        uv, lens, rho = [], [], []
        for point in board.cam_from_object(board.corners()):
            thin = project(point[None], k, l, true)
            near = np.flatnonzero(np.linalg.norm(thin.uv - center, axis=-1) < true.micro_images.radius + 3)
            shown = project(point[None], k[near], l[near], true, apparent=True, margin=0.0)
            uv.append(shown.uv[shown.visible])
            lens.append(near[shown.visible])
            rho.append(thin.rho[near[shown.visible]])
        places, owner, blur = np.concatenate(uv), np.concatenate(lens), np.abs(np.concatenate(rho))
        mine = features.where(features.frame == planned.frame)
        _, own = lenses.query(found.micro_images.center(mine.k, mine.l).reshape(-1, 2))
        apart, row = map(
            np.asarray, cKDTree(np.column_stack([places, 1e3 * owner])).query(np.column_stack([mine.uv, 1e3 * own]))
        )
        inside = np.linalg.norm(places - center[owner], axis=1) < true.micro_images.radius - 2.5
        sharp = inside & (blur <= 4)
        matched = np.zeros(len(places), dtype=np.bool_)
        matched[row[apart < 1.5]] = True
        right, hit, wanted = (
            right + int((apart < 1.5).sum()),
            hit + int((matched & sharp).sum()),
            wanted + int(sharp.sum()),
        )
    return right / len(features), hit / wanted
