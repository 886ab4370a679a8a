"""Draws what the real R12-A tells about its exit pupil: `python docs/figures_pupil.py FOLDER`. Takes four minutes.

FOLDER holds the authors' features and centres of R12-A, and their nominal camera: bap-R12-A.csv, center-R12-A.csv,
camera.js, params.js.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.parameter_uncertainty import derived_parameters, uncertainty
from plenodepth.calib.bundle.settings import FOCAL, AdjustSettings
from plenodepth.calib.feature_files import read_centers, read_features
from plenodepth.calib.features import Board, Centers, Features
from plenodepth.calib.whites.libpleno_start import initial_camera_from_libpleno
from plenodepth.camera import ExitPupil, PlenopticCamera, intrinsic_names
from plenodepth.view import write_figure

IMAGES = Path(__file__).resolve().parent / "images"
BOARD = Board(9, 5, 10.0)
DISTANCES = np.arange(-30.0, 31.0, 10.0)  # mm, e
EVERY = 4  # so-many-th frame is held out
WIDE = 5.0  # mm: F is left to the data


class Profile(NamedTuple):
    """What the adjustment finds with the exit pupil held at a distance."""

    rmse: float  # px
    held_out: float  # px, of frames that took no part
    focal: float  # mm, F
    focal_sigma: float
    sensor: float  # mm, d
    sensor_sigma: float


def profile(features: Features, centers: Centers, start: PlenopticCamera, distance: float, aware: bool) -> Profile:
    """F and d that go with an exit pupil at `distance`, and how well they explain all features, and held-out ones."""
    camera = replace(start, main_lens=replace(start.main_lens, exit_pupil=ExitPupil(distance)))
    settings = AdjustSettings(aperture=aware, priors={FOCAL: (start.main_lens.focal_length, WIDE)})
    found = adjust(features, centers, BOARD, camera, settings)
    known = uncertainty(found.problem, found.estimate, found.considered)
    derived = {item.name: item for item in derived_parameters(found.camera, known)}
    sigma = dict(zip(known.names, known.sigma, strict=True))
    out = np.isin(features.frame, features.frames[EVERY - 1 :: EVERY])
    part = adjust(features.where(~out), centers, BOARD, camera, settings)
    tested = adjust(features.where(out), None, BOARD, part.camera, poses_only(part, settings))
    return Profile(
        found.rmse_uv,
        tested.rmse_uv,
        found.camera.main_lens.focal_length,
        float(sigma[FOCAL]),
        derived["d"].value,
        derived["d"].sigma,
    )


def poses_only(found: Adjustment, settings: AdjustSettings) -> AdjustSettings:
    """Settings that leave the camera as it is."""
    return replace(settings, hold=intrinsic_names(found.camera), priors={})


def draw(profiles: dict[str, list[Profile]]) -> None:
    """RMSE, F and d over e."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for (name, rows), color in zip(profiles.items(), ("#1f77b4", "#d62728"), strict=True):
        values = {part: np.array([getattr(row, part) for row in rows]) for part in Profile._fields}
        left.plot(DISTANCES, values["rmse"], color=color, marker="o", markersize=4, label=f"{name}: all frames")
        left.plot(DISTANCES, values["held_out"], color=color, linestyle="--", label=f"{name}: held-out frames")
        for axes, value, error in ((middle, "focal", "focal_sigma"), (right, "sensor", "sensor_sigma")):
            axes.errorbar(
                DISTANCES, values[value], 2 * values[error], color=color, marker="o", markersize=4, label=name
            )
    left.set_ylabel("RMSE (u, v) [px]")
    middle.set_ylabel("F [mm], with 2 σ")
    middle.axhspan(48.5, 51.5, color="#eeeeee", label="nominal ± 3 %")
    right.set_ylabel("d, corner lens [mm], with 2 σ")
    for axes in (left, middle, right):
        axes.set_xlabel("e, exit pupil behind the thin lens [mm]")
        axes.grid(True, color="#dddddd", linewidth=0.6)
        axes.legend(fontsize=8)
    write_figure(figure, IMAGES / "pupil-profile.png", dpi=110)


def main(folder: Path) -> None:
    """Compute and draw."""
    features, centers = read_features(folder / "bap-R12-A.csv"), read_centers(folder / "center-R12-A.csv")
    start = initial_camera_from_libpleno(folder / "camera.js", folder / "params.js", centers)
    profiles = dict[str, list[Profile]]()
    for name, aware in (("aperture left out", False), ("aperture-aware", True)):
        profiles[name] = [profile(features, centers, start, float(e), aware) for e in DISTANCES]
        for e, row in zip(DISTANCES, profiles[name], strict=True):
            print(f"{name}, e = {e:g} mm: " + ", ".join(f"{part} {value:.3f}" for part, value in row._asdict().items()))
    draw(profiles)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
