"""A calibration in plain numbers: what `--json` prints and what the report is written from."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from plenodepth.cache import file_hash
from plenodepth.calib.advice.facts import FitFacts, FrameFacts, fit_facts, radial_profiles
from plenodepth.calib.advice.rules import Advice, advise
from plenodepth.calib.bundle.adjustment import Adjustment
from plenodepth.calib.bundle.optics_choice import OpticsChoice
from plenodepth.calib.bundle.parameter_uncertainty import Uncertainty, depth_uncertainty, derived_parameters
from plenodepth.calib.bundle.settings import AdjustSettings
from plenodepth.calib.features import Board
from plenodepth.calib.records import to_json
from plenodepth.calib.whites.cats_eye import CatsEye
from plenodepth.calib.whites.radii import WhiteRadii
from plenodepth.camera.depth import virtual_from_metric
from plenodepth.camera.micro_lenses import lens_distances
from plenodepth.camera.model import Array, PlenopticCamera
from plenodepth.camera.parameters import intrinsic_names, intrinsic_values
from plenodepth.errors import InputError
from plenodepth.version import __version__

LIBRARIES = ("numpy", "scipy", "pyceres", "opencv-python-headless")
DEPTH_ROWS = 25
OPTIONAL = ("kappa", "hold_out", "optics", "cats_eye")
UNITS = {
    "main_lens.focal_length": "mm",
    "distortion.Q1": "mm⁻²",
    "distortion.Q2": "mm⁻⁴",
    "distortion.Q3": "mm⁻⁶",
    "distortion.P": "mm⁻¹",
    "main_lens.exit_pupil": "mm",
    "micro_lenses.clear_aperture": "",
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


@dataclass(frozen=True)
class Quantity:
    """A parameter of the camera."""

    value: float
    sigma: float | None  # standard deviation; None: not known, or held
    unit: str
    held: bool = False


@dataclass(frozen=True)
class Correlation:
    """Two parameters that are hardly told apart."""

    first: str
    second: str
    correlation: float


@dataclass(frozen=True)
class UncertaintySummary:
    """How well the parameters are known together (see `calib.bundle.parameter_uncertainty`)."""

    scatter_factor: float
    condition: float
    considered: dict[str, float]
    correlated: tuple[Correlation, ...]


@dataclass(frozen=True)
class DepthSigma:
    """Standard deviation of a depth that is due to the calibration alone, mm."""

    depth: float
    virtual_depth: float
    sigma: float


@dataclass(frozen=True)
class LensTypeResiduals:
    """Mean residual away from the micro-image's centre over the distance from it, px per px."""

    type: int
    features: int
    radial_residual_slope: float
    radial_residual_slope_error: float


@dataclass(frozen=True)
class WhiteRadiiSummary:
    """Radii of micro-images in n white images, by I lens types, px."""

    f_numbers: tuple[float, ...]  # (n,)
    radii: tuple[tuple[float, ...], ...]  # (n, I)
    slope: float
    slope_error: float
    intercepts: tuple[float, ...]  # (I,)
    intercept_errors: tuple[float, ...]  # (I,)


@dataclass(frozen=True)
class PriorSummary:
    """What a parameter was taken to be."""

    value: float
    sigma: float


@dataclass(frozen=True)
class SettingsSummary:
    """The settings of the adjustment."""

    aperture: bool
    use_rho: bool
    hold: tuple[str, ...]
    free: tuple[str, ...]
    priors: dict[str, PriorSummary]
    rounds: int


@dataclass(frozen=True)
class KappaSummary:
    """The blur coefficient, its standard error, pairs of views that it rests on, and the share of outliers."""

    kappa: float
    standard_error: float
    pairs: int
    outliers: float


@dataclass(frozen=True)
class HoldOut:
    """Residuals of frames that took no part in the adjustment, after finding their boards' poses alone, px."""

    frames: int
    rmse_uv: float
    rmse_rho: float


@dataclass(frozen=True)
class CalibrationSummary:
    """A calibration in numbers and words. Lengths in mm, residuals in px; a number that is not known is NaN or None."""

    camera: str
    converged: bool
    iterations: int
    cpu_seconds: float
    rmse_uv: float
    rmse_uv_without_outliers: float
    rmse_rho: float
    rmse_centers: float
    frames: int
    features: int
    outliers: int
    centers: int
    center_outliers: int
    distance_range: tuple[float, float]
    board: Board
    settings: SettingsSummary
    parameters: dict[str, Quantity]
    derived: dict[str, Quantity]
    uncertainty: UncertaintySummary | None
    depth_uncertainty: tuple[DepthSigma, ...]
    lens_types: tuple[LensTypeResiduals, ...]
    per_frame: tuple[FrameFacts, ...]
    white_radii: WhiteRadiiSummary | None
    advice: tuple[Advice, ...]
    notes: tuple[str, ...]
    versions: dict[str, str]
    inputs: tuple[InputFile, ...]
    kappa: KappaSummary | None
    hold_out: HoldOut | None
    optics: OpticsChoice | None  # models of the main lens, and why one of them was chosen
    cats_eye: CatsEye | None  # mechanical vignetting in the white images

    def to_json(self) -> dict[str, Any]:
        """As dictionaries and lists, without what there is none of."""
        content = to_json(self)
        return {name: value for name, value in content.items() if name not in OPTIONAL or value is not None}


@dataclass(frozen=True, eq=False)
class CalibrationRun:
    """All that a report speaks of. Only the adjustment, its settings and the board must be there."""

    adjustment: Adjustment
    settings: AdjustSettings
    board: Board
    uncertainty: Uncertainty | None = None
    start: PlenopticCamera | None = None  # nominal optics that the calibration began with
    radii: WhiteRadii | None = None  # of the micro-images in white images
    inputs: tuple[InputFile, ...] = ()
    notes: tuple[str, ...] = ()  # besides those of the adjustment
    kappa: KappaSummary | None = None
    hold_out: HoldOut | None = None
    optics: OpticsChoice | None = None
    cats_eye: CatsEye | None = None  # in the white images

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes of the adjustment, then the others, each once."""
        return tuple(dict.fromkeys((*self.adjustment.notes, *self.notes)))

    @cached_property
    def facts(self) -> FitFacts:
        """Coverage and residuals."""
        return fit_facts(self.adjustment)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What is weak and what to do about it, the most important first."""
        return tuple(
            advise(
                self.facts,
                self.adjustment,
                aperture=self.settings.aperture,
                known=self.uncertainty,
                nominal=self.start,
                radii=self.radii,
            )
        )

    @cached_property
    def summary(self) -> CalibrationSummary:
        """The numbers."""
        return summarise(self)


def summarise(run: CalibrationRun) -> CalibrationSummary:
    """The numbers of a calibration."""
    facts, adjustment, fit = run.facts, run.adjustment, run.adjustment.fit
    return CalibrationSummary(
        camera=adjustment.camera.name,
        converged=bool(adjustment.converged),
        iterations=adjustment.iterations,
        cpu_seconds=adjustment.cpu_seconds,
        rmse_uv=adjustment.rmse_uv,
        rmse_uv_without_outliers=facts.rmse_of_counting,
        rmse_rho=adjustment.rmse_rho,
        rmse_centers=adjustment.rmse_centers,
        frames=len({frame.frame for frame in facts.frames}),
        features=len(fit.features),
        outliers=int(np.count_nonzero(~facts.counts)),
        centers=len(fit.center_residuals),
        center_outliers=int(np.count_nonzero(fit.center_weight == 0)),
        distance_range=(float(facts.depth.min()), float(facts.depth.max())),
        board=run.board,
        settings=_settings(run.settings),
        parameters=_parameters(run),
        derived=_derived(run),
        uncertainty=_uncertainty(run.uncertainty),
        depth_uncertainty=_depth_rows(run),
        lens_types=_lens_types(facts),
        per_frame=facts.frames,
        white_radii=_white(run.radii),
        advice=run.advice,
        notes=run.all_notes,
        versions=versions(),
        inputs=run.inputs,
        kappa=run.kappa,
        hold_out=run.hold_out,
        optics=run.optics,
        cats_eye=run.cats_eye,
    )


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of the libraries that do the numerical work."""
    found = {"plenodepth": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # installed under another name, as OpenCV may be
            continue
    return found


def depth_curve(run: CalibrationRun, count: int = DEPTH_ROWS) -> tuple[Array, Array] | None:
    """Depths (count,) over the calibrated range and their σ from the calibration alone, mm; None when unknown."""
    if run.uncertainty is None or not run.uncertainty.names:
        return None
    ends = run.facts.virtual_depth[np.isfinite(run.facts.virtual_depth)]
    if not len(ends):
        return None
    virtual = 1 / np.linspace(1 / ends.max(), 1 / ends.min(), count)
    return depth_uncertainty(virtual, run.adjustment.camera, run.uncertainty)


def _settings(settings: AdjustSettings) -> SettingsSummary:
    priors = {name: PriorSummary(float(value), float(sigma)) for name, (value, sigma) in settings.priors.items()}
    return SettingsSummary(
        settings.aperture, settings.use_rho, tuple(settings.hold), tuple(settings.free), priors, settings.rounds
    )


def _parameters(run: CalibrationRun) -> dict[str, Quantity]:
    camera, known = run.adjustment.camera, run.uncertainty
    names = intrinsic_names(camera)
    free = {names[place] for place in run.adjustment.problem.free}
    sigma: Mapping[str, float] = {} if known is None else dict(zip(known.names, known.sigma.tolist(), strict=True))
    rows = zip(names, intrinsic_values(camera).tolist(), strict=True)
    return {name: Quantity(value, sigma.get(name), _unit(name), name not in free) for name, value in rows}


def _unit(name: str) -> str:
    return next((unit for start, unit in UNITS.items() if name.startswith(start)), "")


def _derived(run: CalibrationRun) -> dict[str, Quantity]:
    """D, d, the principal point, the pitch and κ: what users know a camera by."""
    camera, known = run.adjustment.camera, run.uncertainty
    if known is not None and known.names:
        rows = {item.name: Quantity(item.value, item.sigma, item.unit) for item in derived_parameters(camera, known)}
    else:
        lattice = camera.micro_images.lattice
        main, sensor = (float(x) for x in lens_distances(camera, lattice.columns - 1, lattice.rows - 1))
        u0, v0 = camera.sensor.principal_point.tolist()
        pitch = float(camera.micro_lenses.pitch.mean())
        values = {"D": (main, "mm"), "d": (sensor, "mm"), "u0": (u0, "px"), "v0": (v0, "px"), "pitch": (pitch, "mm")}
        rows = {name: Quantity(value, None, unit) for name, (value, unit) in values.items()}
    if camera.blur_coefficient is not None:
        rows["kappa"] = Quantity(camera.blur_coefficient, None, "")
    return rows


def _uncertainty(known: Uncertainty | None) -> UncertaintySummary | None:
    if known is None:
        return None
    correlated = tuple(Correlation(*pair) for pair in known.correlated())
    return UncertaintySummary(known.scatter_factor, known.condition, dict(known.considered), correlated)


def _depth_rows(run: CalibrationRun) -> tuple[DepthSigma, ...]:
    curve = depth_curve(run)
    if curve is None:
        return ()
    virtual = virtual_from_metric(curve[0], run.adjustment.camera, invalid="nan")
    return tuple(DepthSigma(*row) for row in zip(curve[0].tolist(), virtual.tolist(), curve[1].tolist(), strict=True))


def _lens_types(facts: FitFacts) -> tuple[LensTypeResiduals, ...]:
    return tuple(
        LensTypeResiduals(
            profile.lens_type,
            int(np.count_nonzero(facts.lens_type == profile.lens_type)),
            profile.slope,
            profile.slope_error,
        )
        for profile in radial_profiles(facts)
    )


def _white(radii: WhiteRadii | None) -> WhiteRadiiSummary | None:
    if radii is None:
        return None
    return WhiteRadiiSummary(
        tuple(radii.f_numbers.tolist()),
        tuple(tuple(row) for row in radii.radii.tolist()),
        radii.slope,
        radii.slope_error,
        tuple(radii.intercepts.tolist()),
        tuple(radii.intercept_errors.tolist()),
    )
