"""Draws the figure of calibration.md into docs/images: `python docs/figures_calibration.py`. Takes half a minute."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plenodepth.calib.advice.facts import fit_facts, radial_profiles
from plenodepth.calib.bundle.adjustment import Adjustment, adjust
from plenodepth.calib.bundle.parameter_uncertainty import derived_parameters, uncertainty
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.view import write_figure
from plenodepth.view.figures.style import type_color, type_label

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT / "tests" / "support"))  # the features that the tests of the adjustment use


def aware_and_unaware() -> None:
    """Radial residuals by lens type of one and the same features at f/4, the aperture left out and modelled."""
    from ideal_features import BOARD, ideal_centers, ideal_features, nominal, small_camera, spread_poses

    camera = small_camera()
    features, centers = ideal_features(camera, spread_poses()), ideal_centers(camera)
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    titles = {False: "the aperture left out", True: "aperture-aware"}
    for axes, (aperture, title) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
        result = adjust(features, centers, BOARD, nominal(camera), AdjustSettings(aperture=aperture))
        _draw(axes, result)
        known = uncertainty(result.problem, result.estimate, result.considered)
        found = {item.name: item for item in derived_parameters(result.camera, known)}
        true = {item.name: item.value for item in derived_parameters(camera, known)}
        axes.set_title(
            f"{title}: RMSE {result.rmse_uv:.2f} px,\nd = {found['d'].value:.3f} ± {found['d'].sigma:.3f} mm "
            f"(true: {true['d']:.3f})"
        )
    write_figure(figure, IMAGES / "calibration-aperture.png", dpi=110)


def _draw(axes: Axes, result: Adjustment) -> None:
    for profile in radial_profiles(fit_facts(result)):
        axes.errorbar(
            profile.offset,
            profile.mean,
            yerr=2 * profile.error,
            color=type_color(profile.lens_type),
            marker="o",
            markersize=4,
            label=type_label(profile.lens_type),
        )
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_xlabel("distance from the micro-image's centre [px]")
    axes.set_ylabel("mean radial residual [px]")
    axes.label_outer()
    axes.legend()


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    aware_and_unaware()
