"""What a reproduction found, as typed results, and the file `results.json` that holds them.

Errors are in parts (0.01 = 1 %) unless a field says otherwise; lengths are in mm. A figure that could not be computed
is NaN here and null in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from plenodepth.errors import InputError
from plenodepth.io import atomic_path, json_text, parse_json, read_text
from plenodepth.io.yaml_json import null_for_nan

RESULTS = "results.json"
Number = Annotated[float, BeforeValidator(lambda value: float("nan") if value is None else value)]
Cell = str | int | float | None


# --- tables and checks ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultTable:
    """A table of the report; a cell is a text, a number, or None where there is nothing to show."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A figure that should be at most `asked`, or a statement that should hold."""

    what: str
    ours: Number  # 1 or 0 for a statement
    paper: float | None  # the published figure
    asked: float | None  # None for a statement
    unit: str
    met: bool | None  # None where nothing is asked, or not compared

    @property
    def is_statement(self) -> bool:
        """Whether this is a statement that holds or does not, and not a figure."""
        return self.asked is None and not self.unit

    @property
    def not_compared(self) -> Check:
        """The same figure, or statement, without a verdict: what is asked is asked of another run."""
        return replace(self, met=None)


# --- scale errors -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoardScaleError:
    """The scale error of one frame of a board, before and after the correction Γ."""

    frame: int
    distance: Number  # mm, without Γ
    before: Number
    after: Number
    weight: Number  # of the frame in the fit of Γ


@dataclass(frozen=True)
class HeldOutBoards:
    """Scale errors of frames that the fit of Γ did not see, each frame left out once."""

    median: float | None  # of their sizes
    errors: tuple[Number, ...]  # one per frame


@dataclass(frozen=True)
class ScaleErrors:
    """Γ of one method on one dataset, and the scale errors of the boards. Medians are over frames."""

    order: str
    best_order: str  # by cross-validation
    depth_scale: tuple[float, ...]  # γ0 mm, γ1, γ2 1/mm
    standard_errors: tuple[Number, ...]
    median_before: Number  # of signed errors
    median_after: Number
    median_size_before: Number  # of |error|
    median_size_after: Number
    frames: tuple[BoardScaleError, ...]
    held_out: Mapping[str, HeldOutBoards]  # by order of Γ
    aperture_model: str


@dataclass(frozen=True)
class ScaleResult:
    """Experiment `scale`: scale errors by dataset and method."""

    datasets: Mapping[str, Mapping[str, ScaleErrors]]


# --- relative depth ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FrameAgainstTruth:
    """The median depth of a frame and the true distance of its target, mm."""

    frame: int
    truth: float
    depth: Number


@dataclass(frozen=True)
class DisplacementMean:
    """ε_z of all pairs of frames that are `displacement` mm apart."""

    displacement: float
    mean: Number
    std: Number  # NaN for a single pair
    pairs: int


@dataclass(frozen=True)
class RelativeErrors:
    """ε_z over all pairs of frames of a dataset."""

    mean: Number
    std: Number
    interval: tuple[Number, Number]  # of the mean, 95 %
    frames: tuple[FrameAgainstTruth, ...]
    displacements: tuple[DisplacementMean, ...]


@dataclass(frozen=True)
class MethodRelativeErrors(RelativeErrors):
    """ε_z of one of our methods, with the camera that it was found with."""

    depth_scale: tuple[float, ...] | None  # Γ; None: unscaled
    camera: str  # hash of the camera's parameters; methods with the same camera have the same hash


@dataclass(frozen=True)
class MeanAndSpread:
    """Mean and sample standard deviation over datasets."""

    mean: Number
    spread: Number


@dataclass(frozen=True)
class OtherProgram:
    """Where the results of another program came from, and what was left out of them."""

    folder: str
    notes: tuple[str, ...]


AnyRelativeErrors = Annotated[MethodRelativeErrors | RelativeErrors, Field(union_mode="left_to_right")]


@dataclass(frozen=True)
class RelativeResult:
    """Experiment `relative`: ε_z by dataset and method, and over R12-A, B and C."""

    datasets: Mapping[str, Mapping[str, AnyRelativeErrors]]
    over_a_b_c: Mapping[str, MeanAndSpread]
    others: Mapping[str, OtherProgram] = field(default_factory=dict)


# --- absolute depth ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SceneDifferences:
    """Absolute differences of a central depth map from the scanner's over the pixels in common, mm."""

    q25: Number
    median: Number
    q75: Number
    mean: Number
    rmse: Number
    bias: Number  # median of the signed differences; positive: too far
    bad: Mapping[str, Number]  # "1 %": per cent of the pixels that are off by more than 1 % of the true depth
    completeness: Number  # per cent of the scanner's pixels that have a depth
    common: int  # pixels


@dataclass(frozen=True)
class ScannerPoseError:
    """How far the pose found for the scanner is off; None where the truth is unknown."""

    targets: str  # the scene whose targets gave the pose
    mm: float | None = None
    mrad: float | None = None


@dataclass(frozen=True)
class AbsoluteResult:
    """Experiment `absolute`: differences by scene and method."""

    scenes: Mapping[str, Mapping[str, SceneDifferences]]
    means: Mapping[str, Number]  # by method: mean over the scenes of the median, mm
    lidar_pose: ScannerPoseError
    pictures: Mapping[str, Mapping[str, str]]  # by scene and method (or "truth"): file of the map, below the folder out


# --- disparity, distortion --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DisparityResult:
    """Experiment `disparity`: ε_z on R12-A with either formula of disparity."""

    corrected: MethodRelativeErrors
    uncorrected: MethodRelativeErrors


@dataclass(frozen=True)
class DistortionFit:
    """Coefficients Q1, Q2, Q3, P1, P2 of the distortion and of its inverse, and what is left after both, mm."""

    direct: tuple[float, ...]
    inverse: tuple[float, ...]
    rmse_mm: float
    largest_mm: float
    exact_rmse_mm: float
    iterations: int


@dataclass(frozen=True)
class DistortionResult:
    """Experiment `distortion`, by dataset."""

    datasets: Mapping[str, DistortionFit]


# --- confidence -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AreasToOracle:
    """AUSE: the area between the curve of an order and the oracle's."""

    confidence: Number
    sigma: Number
    random: Number


@dataclass(frozen=True)
class Gains:
    """What an order gains: 1 for the oracle's order, 0 for a random one."""

    confidence: Number
    sigma: Number


@dataclass(frozen=True)
class RemainingErrors:
    """Mean |error| of what remains when the least sure micro-images are removed, in each order (curves (steps,))."""

    removed: tuple[float, ...]  # share that is removed
    confidence: tuple[Number, ...]
    sigma: tuple[Number, ...]
    oracle: tuple[Number, ...]
    random: Number
    ause: AreasToOracle
    gain: Gains


@dataclass(frozen=True)
class SigmaGroup:
    """Micro-images of like σ: predicted σ, and the RMS and the robust spread of their errors."""

    predicted: Number
    observed: Number
    robust: Number
    count: int


@dataclass(frozen=True)
class SigmaAgreement:
    """Errors divided by their σ: robust spread, RMS, median; share of errors within 1, 2 and 3 σ."""

    spread: Number
    rms: Number
    bias: Number
    within: tuple[Number, ...]
    expected: tuple[Number, ...]  # of a Gaussian
    bins: tuple[SigmaGroup, ...]


@dataclass(frozen=True)
class GroupErrors:
    """Errors of one group of micro-images; quartiles and mean are of |error|."""

    group: str
    count: int  # with a depth
    completeness: Number  # share of the group with a depth
    q25: Number
    median: Number
    q75: Number
    mean: Number
    bias: Number


@dataclass(frozen=True)
class MethodConfidence:
    """What confidence and σ of a method are worth on a dataset."""

    members: int  # micro-images with a true depth
    count: int  # of them, with a depth
    median: Number  # of |error|
    mean: Number
    sparsification: RemainingErrors
    sigma: SigmaAgreement
    splits: Mapping[str, tuple[GroupErrors, ...]]  # "lens type", "boundary", "contrast", "confidence"


@dataclass(frozen=True)
class DatasetConfidence:
    """Methods on one dataset."""

    frames: int
    methods: Mapping[str, MethodConfidence]


@dataclass(frozen=True)
class ConfidenceResult:
    """Experiment `confidence`, by dataset; datasets without a dense truth are skipped, with the reason."""

    datasets: Mapping[str, DatasetConfidence]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class ViewFigures:
    """A view against the true one: dB of sRGB and of linear light, SSIM, share of pixels with light, sharpness."""

    psnr: float
    psnr_linear: float
    ssim: float
    completeness: float
    mtf50: float | None  # cycles per px, median over slanted edges; None without any


@dataclass(frozen=True)
class SceneView:
    """A scene's all-in-focus view, and the one tiled of patches."""

    all_in_focus: ViewFigures
    tiled: ViewFigures


@dataclass(frozen=True)
class ViewsResult:
    """Experiment `views`, by scene."""

    scenes: Mapping[str, SceneView]


# --- the whole --------------------------------------------------------------------------------------------------------

Values = (
    ScaleResult | RelativeResult | AbsoluteResult | DisparityResult | DistortionResult | ConfidenceResult | ViewsResult
)
VALUES: Mapping[str, type[Values]] = {
    "scale": ScaleResult,
    "relative": RelativeResult,
    "absolute": AbsoluteResult,
    "disparity": DisparityResult,
    "distortion": DistortionResult,
    "confidence": ConfidenceResult,
    "views": ViewsResult,
}


@dataclass(frozen=True)
class ExperimentResult:
    """One experiment: its text for the report, tables and checks, and the values that they were made from."""

    title: str
    text: str
    seconds: float  # that it took
    tables: tuple[ResultTable, ...]
    checks: tuple[Check, ...]
    values: Values


@dataclass(frozen=True)
class CalibratedParameters:
    """The calibrated camera of a dataset: RMSE of positions, px, and each parameter with its σ (None: held)."""

    rmse_uv: float | None
    parameters: Mapping[str, tuple[float, float | None]]


@dataclass(frozen=True)
class Stage:
    """A stage of the plan and about how many seconds it takes."""

    experiment: str
    seconds: float


@dataclass(frozen=True)
class ReproductionResult:
    """All that a reproduction found, and the settings and versions that it was run with."""

    plenodepth: str
    quick: bool
    seed: int
    rays: int  # per pixel
    data: str  # "twins", or the folder of photographed datasets
    threads: int
    versions: Mapping[str, str]
    checksums: Mapping[str, str]  # by dataset: hash of the content of its files
    calibration: Mapping[str, CalibratedParameters]
    plan: tuple[Stage, ...]
    seconds: float
    experiments: Mapping[str, ExperimentResult]

    @property
    def checks(self) -> list[tuple[str, Check]]:
        """All checks, each with the name of its experiment."""
        return [(name, check) for name, found in self.experiments.items() for check in found.checks]


def as_content(result: ReproductionResult) -> dict[str, Any]:
    """The result as `results.json` has it."""
    content: dict[str, Any] = null_for_nan(asdict(result))
    return content


def save_results(result: ReproductionResult, path: Path) -> None:
    """Write a result as a JSON file."""
    with atomic_path(path) as temporary:
        temporary.write_text(json_text(as_content(result)), encoding="utf-8")


def load_results(path: Path) -> ReproductionResult:
    """Read what `save_results` wrote."""
    try:
        content = parse_json(read_text(path), path)
        experiments = content["experiments"]
        for name, found in experiments.items():
            found["values"] = TypeAdapter(VALUES[name]).validate_python(found["values"])
        return TypeAdapter(ReproductionResult).validate_python(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        said = error.errors()[0] if isinstance(error, ValidationError) else None
        where = "" if said is None else ".".join(str(part) for part in said["loc"])
        text = str(error) if said is None else said["msg"]
        raise InputError(f"is no result of a reproduction: {text}", file=path, field=where or None) from None
