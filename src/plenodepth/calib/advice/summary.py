"""A calibration in plain numbers: what `--json` prints and what the report is written from."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import plenodepth
from plenodepth.cache import file_hash
from plenodepth.calib.advice.advise import advice
from plenodepth.calib.advice.fit_facts import FitFacts, fit_facts, radial_profiles
from plenodepth.calib.bundle.adjust import Adjustment
from plenodepth.calib.bundle.problem import intrinsic_values
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.bundle.uncertainty import Uncertainty, depth_uncertainty, derived_parameters
from plenodepth.calib.features import Board
from plenodepth.calib.whites.precalibration import Precalibration
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.depth import virtual_from_metric
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names
from plenodepth.errors import InputError

LIBRARIES = ("numpy", "scipy", "pyceres", "opencv-python-headless")
DEPTH_ROWS = 25
UNITS = {
    "main_lens.focal_length": "mm",
    "distortion.Q1": "mm⁻²",
    "distortion.Q2": "mm⁻⁴",
    "distortion.Q3": "mm⁻⁶",
    "distortion.P": "mm⁻¹",
    "micro_lenses.rotation": "rad",
    "micro_lenses.": "mm",
    "sensor.": "mm",
}


@dataclass(frozen=True)
class InputFile:
    """A file that a calibration was made from, so that one can tell later whether it was this one."""

    name: str
    sha256: str
    size: int  # bytes


def input_file(path: Path | str) -> InputFile:
    """Name without its folder, SHA-256 and size of a file."""
    try:
        return InputFile(Path(path).name, file_hash(path), Path(path).stat().st_size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from error


@dataclass(frozen=True, eq=False)
class CalibrationRun:
    """All that a report speaks of. Only the adjustment, its settings and the board must be there."""

    adjustment: Adjustment
    settings: AdjustSettings
    board: Board
    known: Uncertainty | None = None
    start: PlenopticCamera | None = None  # nominal optics that the calibration began with
    precalibration: Precalibration | None = None
    white_radii: WhiteRadii | None = None  # where there is no `precalibration`, as of a step that was not done anew
    inputs: Sequence[InputFile] = ()
    notes: Sequence[str] = ()  # besides those of the adjustment and of the white images

    @property
    def radii(self) -> WhiteRadii | None:
        """Of the white images, where there were any."""
        return self.white_radii if self.precalibration is None else self.precalibration.radii

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Each once, in the order of the work: white images, adjustment, the rest."""
        pre = self.precalibration
        early = () if pre is None else (*pre.notes, *pre.grid.notes, *(() if pre.radii is None else pre.radii.notes))
        return tuple(dict.fromkeys((*early, *self.adjustment.notes, *self.notes)))


def calibration_summary(run: CalibrationRun, facts: FitFacts | None = None) -> dict[str, Any]:
    """Numbers, lists and text only; a number that is not known is NaN or None. `facts`, if they are at hand already."""
    facts = facts or fit_facts(run.adjustment)
    adjustment, camera, fit = run.adjustment, run.adjustment.camera, run.adjustment.fit
    return {
        "camera": camera.name,
        "converged": adjustment.converged,
        "iterations": adjustment.iterations,
        "cpu_seconds": adjustment.cpu_seconds,
        "rmse_uv": adjustment.rmse_uv,
        "rmse_uv_without_outliers": facts.rmse_of_counting,
        "rmse_rho": adjustment.rmse_rho,
        "rmse_centers": adjustment.rmse_centers,
        "frames": len({frame.frame for frame in facts.frames}),
        "features": len(fit.features),
        "outliers": int(np.count_nonzero(~facts.counts)),
        "centers": len(fit.center_residuals),
        "center_outliers": int(np.count_nonzero(fit.center_weight == 0)),
        "distance_range": [float(facts.depth.min()), float(facts.depth.max())],
        "board": asdict(run.board),
        "settings": _settings(run.settings),
        "parameters": _parameters(run),
        "derived": _derived(run),
        "uncertainty": _uncertainty(run.known),
        "depth_uncertainty": _depth_rows(run, facts),
        "lens_types": _lens_types(facts),
        "per_frame": [asdict(frame) | {"tilt_xy": list(frame.tilt_xy)} for frame in facts.frames],
        "white_radii": _white(run.radii),
        "advice": [asdict(item) for item in advice_of(run, facts)],
        "notes": list(run.all_notes),
        "versions": versions(),
        "inputs": [asdict(item) for item in run.inputs],
    }


def advice_of(run: CalibrationRun, facts: FitFacts) -> list[Any]:
    """What to do about the run's weak spots, the most important first."""
    return list(
        advice(
            facts,
            run.adjustment,
            aperture=run.settings.aperture,
            known=run.known,
            nominal=run.start,
            radii=run.radii,
        )
    )


def versions() -> dict[str, str]:
    """Of this package, Python and what does the numerical work."""
    found = {"plenodepth": plenodepth.__version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # installed under another name, as OpenCV may be
            continue
    return found


def depth_curve(run: CalibrationRun, facts: FitFacts, count: int = DEPTH_ROWS) -> tuple[Array, Array] | None:
    """Depths (count,) over the calibrated range and their σ from the calibration alone, mm; None when unknown."""
    if run.known is None or not run.known.names:
        return None
    ends = facts.virtual_depth[np.isfinite(facts.virtual_depth)]
    if not len(ends):
        return None
    virtual = 1 / np.linspace(1 / ends.max(), 1 / ends.min(), count)
    return depth_uncertainty(virtual, run.adjustment.camera, run.known)


def _settings(settings: AdjustSettings) -> dict[str, Any]:
    return {
        "aperture": settings.aperture,
        "use_rho": settings.use_rho,
        "hold": list(settings.hold),
        "priors": {name: {"value": value, "sigma": sigma} for name, (value, sigma) in settings.priors.items()},
        "rounds": settings.rounds,
    }


def _parameters(run: CalibrationRun) -> dict[str, dict[str, Any]]:
    camera = run.adjustment.camera
    names = intrinsic_names(camera)
    free = {names[place] for place in run.adjustment.problem.free}
    sigma = {} if run.known is None else dict(zip(run.known.names, run.known.sigma.tolist(), strict=True))
    rows = zip(names, intrinsic_values(camera).tolist(), strict=True)
    return {
        name: {"value": value, "sigma": sigma.get(name), "unit": _unit(name), "held": name not in free}
        for name, value in rows
    }


def _unit(name: str) -> str:
    return next((unit for start, unit in UNITS.items() if name.startswith(start)), "")


def _derived(run: CalibrationRun) -> dict[str, dict[str, Any]]:
    camera, known = run.adjustment.camera, run.known
    if known is not None and known.names:
        rows = {item.name: {"value": item.value, "sigma": item.sigma, "unit": item.unit} for item in _items(run)}
    else:
        lattice = camera.micro_images.lattice
        main, sensor = (float(x) for x in lens_distances(camera, lattice.columns - 1, lattice.rows - 1))
        u0, v0 = camera.sensor.principal_point.tolist()
        pitch = camera.micro_lenses.lens_diameter
        values = {"D": (main, "mm"), "d": (sensor, "mm"), "u0": (u0, "px"), "v0": (v0, "px"), "pitch": (pitch, "mm")}
        rows = {name: {"value": value, "sigma": None, "unit": unit} for name, (value, unit) in values.items()}
    if camera.blur_coefficient is not None:
        rows["kappa"] = {"value": camera.blur_coefficient, "sigma": None, "unit": ""}
    return rows


def _items(run: CalibrationRun) -> list[Any]:
    assert run.known is not None
    return list(derived_parameters(run.adjustment.camera, run.known))


def _uncertainty(known: Uncertainty | None) -> dict[str, Any] | None:
    if known is None:
        return None
    return {
        "scatter_factor": known.scatter_factor,
        "condition": known.condition,
        "considered": dict(known.considered),
        "correlated": [{"first": a, "second": b, "correlation": c} for a, b, c in known.correlated()],
    }


def _depth_rows(run: CalibrationRun, facts: FitFacts) -> list[dict[str, float]]:
    curve = depth_curve(run, facts)
    if curve is None:
        return []
    virtual = virtual_from_metric(curve[0], run.adjustment.camera, invalid="nan")
    rows = zip(curve[0].tolist(), virtual.tolist(), curve[1].tolist(), strict=True)
    return [{"depth": z, "virtual_depth": v, "sigma": sigma} for z, v, sigma in rows]


def _lens_types(facts: FitFacts) -> list[dict[str, Any]]:
    return [
        {
            "type": profile.lens_type,
            "features": int(np.count_nonzero(facts.lens_type == profile.lens_type)),
            "radial_residual_slope": profile.slope,
            "radial_residual_slope_error": profile.slope_error,
        }
        for profile in radial_profiles(facts)
    ]


def _white(radii: WhiteRadii | None) -> dict[str, Any] | None:
    if radii is None:
        return None
    return {
        "f_numbers": radii.f_numbers.tolist(),
        "radii": radii.radii.tolist(),
        "slope": radii.slope,
        "slope_error": radii.slope_error,
        "intercepts": radii.intercepts.tolist(),
        "intercept_errors": radii.intercept_errors.tolist(),
    }
